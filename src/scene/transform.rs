//! Transforms of nodes: as the file has them, as a matrix, taken apart.

use glam::{DMat4, DQuat, DVec3};

/// A node's local transform. A matrix is kept as it is: a shear does not survive decomposition.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Local {
    /// Translation, rotation, scale: the only kind that an animation moves.
    Trs(Trs),
    /// A fixed matrix.
    Matrix(DMat4),
}

/// Translation (metres), unit quaternion, scale.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trs {
    /// Metres.
    pub translation: DVec3,
    /// Unit length.
    pub rotation: DQuat,
    /// Per axis.
    pub scale: DVec3,
}

impl Default for Trs {
    fn default() -> Self {
        Self { translation: DVec3::ZERO, rotation: DQuat::IDENTITY, scale: DVec3::ONE }
    }
}

impl Trs {
    /// Scale, then rotation, then translation.
    pub fn matrix(&self) -> DMat4 {
        DMat4::from_scale_rotation_translation(self.scale, self.rotation, self.translation)
    }

    /// The translation, rotation and scale of a matrix; a shear is lost, axes without length get a rotation all the same.
    pub fn from_matrix(matrix: DMat4) -> Self {
        let columns = [matrix.x_axis, matrix.y_axis, matrix.z_axis].map(|c| c.truncate());
        let mut scale = DVec3::from_array(columns.map(|c| c.length()));
        let mirrored = columns[0].cross(columns[1]).dot(columns[2]) < 0.0;
        if mirrored {
            scale.x = -scale.x;
        }
        let x = (columns[0] / scale.x).try_normalize();
        let y = (columns[1] / scale.y).try_normalize();
        let z = (columns[2] / scale.z).try_normalize();
        let (x, y) = match (x, y, z) {
            (Some(x), Some(y), _) => (x, y),
            (Some(x), None, Some(z)) => (x, z.cross(x)),
            (None, Some(y), Some(z)) => (y.cross(z), y),
            (Some(x), None, None) => (x, x.any_orthonormal_vector()),
            (None, Some(y), None) => (y.any_orthonormal_vector(), y),
            (None, None, Some(z)) => (z.any_orthonormal_vector(), z.cross(z.any_orthonormal_vector())),
            (None, None, None) => (DVec3::X, DVec3::Y),
        };
        // Gram-Schmidt: a shear would otherwise leave a rotation that is none.
        let y = (y - x * x.dot(y)).try_normalize().unwrap_or_else(|| x.any_orthonormal_vector());
        let rotation = DQuat::from_mat3(&glam::DMat3::from_cols(x, y, x.cross(y))).normalize();
        Self { translation: matrix.w_axis.truncate(), rotation, scale }
    }
}

impl Local {
    /// As a matrix.
    pub fn matrix(&self) -> DMat4 {
        match self {
            Self::Trs(trs) => trs.matrix(),
            Self::Matrix(matrix) => *matrix,
        }
    }

    /// As translation, rotation and scale; a matrix is taken apart.
    pub fn trs(&self) -> Trs {
        match self {
            Self::Trs(trs) => *trs,
            Self::Matrix(matrix) => Trs::from_matrix(*matrix),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_is_taken_apart_and_put_together() {
        let rotation = DQuat::from_euler(glam::EulerRot::XYZ, 0.3, -1.1, 2.0);
        for scale in [DVec3::new(1.0, 2.0, 3.0), DVec3::new(-1.0, 2.0, 0.5), DVec3::new(-1.0, -2.0, -0.5), DVec3::new(0.0, 2.0, 1.0)] {
            let matrix = DMat4::from_scale_rotation_translation(scale, rotation, DVec3::new(4.0, 5.0, 6.0));
            let trs = Trs::from_matrix(matrix);
            let again = trs.matrix();
            assert!(matrix.abs_diff_eq(again, 1e-12), "{scale}");
        }
    }
}
