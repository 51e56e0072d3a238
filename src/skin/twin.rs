//! The deformation of one vertex in one frame on the CPU: function by function what `shaders/deform.wgsl` does.

use glam::{Vec3, Vec4, Vec4Swizzles};

use super::layout::NO_DIRECTION;
use crate::plan::mesh::{BakeMesh, Influence, Vertex};
use crate::pose::{FrameRef, MATRIX_ROWS};

/// A mesh and the palettes of some frames.
#[derive(Debug, Clone, Copy)]
pub struct Twin<'a> {
    mesh: &'a BakeMesh,
    frames: FrameRef<'a>,
    palette_rows: usize,
    with_tangents: bool,
}

/// Rows of a blended matrix.
#[derive(Debug, Clone, Copy)]
pub struct Matrix {
    /// First row.
    pub x: Vec4,
    /// Second row.
    pub y: Vec4,
    /// Third row.
    pub z: Vec4,
}

/// Position, normal and tangent before the skin.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// Metres in the mesh's space.
    pub position: Vec3,
    /// Not of unit length.
    pub normal: Vec3,
    /// Not of unit length.
    pub tangent: Vec3,
}

/// A vertex in a frame.
#[derive(Debug, Clone, Copy)]
pub struct Deformed {
    /// Metres in the scene's space.
    pub position: Vec3,
    /// Unit length.
    pub normal: Vec3,
    /// Unit length, or zero where none is known.
    pub tangent: Vec3,
    /// There was no direction; the undeformed normal stands in.
    pub degenerate: bool,
}

impl<'a> Twin<'a> {
    /// Frames are numbered from the first of `frames`. Tangents are left out.
    pub fn new(mesh: &'a BakeMesh, frames: FrameRef<'a>) -> Self {
        Self { mesh, frames, palette_rows: mesh.palette.len() * MATRIX_ROWS, with_tangents: false }
    }

    /// With or without tangents.
    #[must_use]
    pub fn with_tangents(self, with_tangents: bool) -> Self {
        Self { with_tangents, ..self }
    }

    /// Weighted sum of the palette's matrices.
    pub fn blend_matrix(&self, v: &Vertex, frame: usize) -> Matrix {
        let palette = &self.frames.palettes[frame * self.palette_rows..][..self.palette_rows];
        let mut m = Matrix { x: Vec4::ZERO, y: Vec4::ZERO, z: Vec4::ZERO };
        for four in &self.mesh.influences[v.first_set as usize..][..v.sets as usize] {
            add_influences(&mut m, four, palette);
        }
        m
    }

    /// Position, normal and tangent before the skin.
    pub fn morph_shape(&self, v: &Vertex, frame: usize) -> Shape {
        let mut position = Vec3::from(v.position);
        let mut normal = Vec3::from(v.normal);
        let mut tangent = Vec3::from(v.tangent);
        let base = frame * self.mesh.weight_count;
        for morph in &self.mesh.morphs[v.first_morph as usize..][..v.morph_count as usize] {
            let weight = self.frames.weights[base + morph.weight as usize];
            position += Vec3::from(morph.position) * weight;
            normal += Vec3::from(morph.normal) * weight;
            tangent += Vec3::from(morph.tangent) * weight;
        }
        Shape { position, normal, tangent }
    }

    /// Where a vertex is.
    pub fn deform_position(&self, vertex: usize, frame: usize) -> Vec3 {
        let v = &self.mesh.vertices[vertex];
        transform_point(&self.blend_matrix(v, frame), self.morph_shape(v, frame).position)
    }

    /// Unit normal of the vertex's deformed faces, weighted by area; zero where they have none.
    fn face_normal(&self, v: &Vertex, frame: usize) -> Vec3 {
        let (mut sum, mut size) = (Vec3::ZERO, 0.0);
        for face in &self.mesh.faces[v.first_face as usize..][..v.face_count as usize] {
            let a = self.deform_position(face[0] as usize, frame);
            let b = self.deform_position(face[1] as usize, frame) - a;
            let c = self.deform_position(face[2] as usize, frame) - a;
            sum += b.cross(c);
            size += b.dot(b) * c.dot(c);
        }
        let square = sum.dot(sum);
        if square <= NO_DIRECTION * size { Vec3::ZERO } else { sum * (1.0 / square.sqrt()) }
    }

    /// Where a vertex is and where it faces.
    pub fn deform(&self, vertex: usize, frame: usize) -> Deformed {
        let v = &self.mesh.vertices[vertex];
        let m = self.blend_matrix(v, frame);
        let shape = self.morph_shape(v, frame);
        let normal = if v.face_count > 0 { self.face_normal(v, frame) } else { transform_normal(&m, shape.normal) };
        let degenerate = normal == Vec3::ZERO;
        let normal = if degenerate { Vec3::from(v.normal) } else { normal };
        Deformed { position: transform_point(&m, shape.position), normal, tangent: self.tangent(v, &m, shape.tangent), degenerate }
    }

    /// Unit tangent; the undeformed one where there is no direction.
    fn tangent(&self, v: &Vertex, m: &Matrix, t: Vec3) -> Vec3 {
        if !self.with_tangents {
            return Vec3::ZERO;
        }
        let turned = transform_tangent(m, t);
        if turned == Vec3::ZERO { Vec3::from(v.tangent) } else { turned }
    }
}

fn add_influence(m: &mut Matrix, palette: &[Vec4], matrix: u32, weight: f32) {
    let rows = &palette[matrix as usize * MATRIX_ROWS..][..MATRIX_ROWS];
    m.x += rows[0] * weight;
    m.y += rows[1] * weight;
    m.z += rows[2] * weight;
}

/// Adds the four influences of a set, unrolled by hand. They are sorted by weight: where the second is 0, so are the rest.
fn add_influences(m: &mut Matrix, four: &Influence, palette: &[Vec4]) {
    let [x, y, z, w] = four.weights;
    add_influence(m, palette, four.joints[0], x);
    if y > 0.0 {
        add_influence(m, palette, four.joints[1], y);
        if z > 0.0 {
            add_influence(m, palette, four.joints[2], z);
            add_influence(m, palette, four.joints[3], w);
        }
    }
}

/// Applies a matrix to a point.
pub fn transform_point(m: &Matrix, p: Vec3) -> Vec3 {
    let q = p.extend(1.0);
    Vec3::new(m.x.dot(q), m.y.dot(q), m.z.dot(q))
}

/// Unit normal by the cofactor matrix, which is the inverse transpose but for a factor and exists for singular matrices too; zero
/// where there is no direction.
pub fn transform_normal(m: &Matrix, n: Vec3) -> Vec3 {
    let x = m.y.xyz().cross(m.z.xyz());
    let y = m.z.xyz().cross(m.x.xyz());
    let z = m.x.xyz().cross(m.y.xyz());
    let side = if m.x.xyz().dot(x) < 0.0 { -1.0 } else { 1.0 };
    let turned = Vec3::new(x.dot(n), y.dot(n), z.dot(n)) * side;
    let size = (x.dot(x) + y.dot(y) + z.dot(z)) * n.dot(n);
    let square = turned.dot(turned);
    if square <= NO_DIRECTION * size { Vec3::ZERO } else { turned * (1.0 / square.sqrt()) }
}

/// Unit tangent: a direction in the surface, so the matrix itself moves it; zero where there is no direction.
pub fn transform_tangent(m: &Matrix, t: Vec3) -> Vec3 {
    let (x, y, z) = (m.x.xyz(), m.y.xyz(), m.z.xyz());
    let turned = Vec3::new(x.dot(t), y.dot(t), z.dot(t));
    let size = (x.dot(x) + y.dot(y) + z.dot(z)) * t.dot(t);
    let square = turned.dot(turned);
    if square <= NO_DIRECTION * size { Vec3::ZERO } else { turned * (1.0 / square.sqrt()) }
}

/// Determinant of a matrix's 3x3: negative where it mirrors.
pub fn determinant(m: &Matrix) -> f32 {
    m.x.xyz().dot(m.y.xyz().cross(m.z.xyz()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(rows: [[f32; 4]; 3]) -> Matrix {
        Matrix { x: rows[0].into(), y: rows[1].into(), z: rows[2].into() }
    }

    #[test]
    fn normals_follow_the_inverse_transpose() {
        let stretched = matrix([[1., 0., 0., 0.], [0., 4., 0., 0.], [0., 0., 1., 0.]]);
        let n = transform_normal(&stretched, Vec3::new(1.0, 1.0, 0.0).normalize());
        assert!(n.abs_diff_eq(Vec3::new(0.970_142_5, 0.242_535_6, 0.0), 1e-6), "{n}");
        let flat = matrix([[1., 0., 0., 0.], [0., 0., 0., 0.], [0., 0., 1., 0.]]);
        assert_eq!(transform_normal(&flat, Vec3::Y), Vec3::Y);
        assert_eq!(transform_normal(&flat, Vec3::X), Vec3::ZERO, "no direction is left");
        let mirrored = matrix([[-1., 0., 0., 0.], [0., 1., 0., 0.], [0., 0., 1., 0.]]);
        assert_eq!(transform_normal(&mirrored, Vec3::X), Vec3::NEG_X, "outside stays outside");
        assert!(determinant(&mirrored) < 0.0);
        let tiny = matrix([[1e-6, 0., 0., 0.], [0., 1e-6, 0., 0.], [0., 0., 1e-6, 0.]]);
        assert!(transform_normal(&tiny, Vec3::X).abs_diff_eq(Vec3::X, 1e-6));
    }
}
