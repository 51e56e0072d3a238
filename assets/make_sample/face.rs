//! The face: eyes that blink, nose, mouth and teeth, set on the head where a ray from the front meets it.

use super::colours::{INK, PINK, WHITE};
use super::lathe::{ball, tube};
use super::mesh::Mesh;
use super::rig::Side;
use super::surface::{Surface, head_surface};
use glam::{DMat3, DVec3};
use std::f64::consts::PI;

/// Where a ray from the front at (x, y) meets the body.
pub fn surface_in_front(field: &dyn Fn(DVec3) -> f64, x: f64, y: f64) -> DVec3 {
    let (mut near, mut far) = (0.30, 0.0);
    for _ in 0..40 {
        let z = 0.5 * (near + far);
        if field(DVec3::new(x, y, z)) < 0.0 { far = z } else { near = z }
    }
    DVec3::new(x, y, near)
}

/// One eye with its two highlights, open and closed.
fn eye(front: &dyn Fn(f64, f64) -> DVec3, side: Side) -> [(Mesh, Mesh); 2] {
    let at = |dx: f64, dy: f64| front(side.sign() * 0.079 + dx, 0.667 + dy);
    let centre = at(0.0, 0.0);
    let normal = (at(0.01, 0.0) - at(-0.01, 0.0)).cross(at(0.0, 0.01) - at(0.0, -0.01)).normalize();
    let across = DVec3::Y.cross(normal).normalize();
    let frame = DMat3::from_cols(across, normal.cross(across), normal);
    let place = |p: DVec3| centre + frame * p;
    let (open, radii) = (ball(DVec3::ZERO, DVec3::new(0.0265, 0.0385, 0.015), 16, 10), DVec3::new(0.0265, 0.0385, 0.015));
    // Closed: a thin, smiling arc.
    let close = |p: DVec3| DVec3::new(p.x * 1.12, p.y * 0.13 + 0.013 * (0.4 - (p.x / radii.x).powi(2)), p.z * 0.62 + 0.003);
    let mut shine = ball(DVec3::new(-0.007, 0.0150, 0.0110), DVec3::new(0.0085, 0.0095, 0.0055), 10, 6);
    shine.append(&ball(DVec3::new(0.009, -0.0150, 0.0105), DVec3::new(0.0045, 0.0045, 0.0045), 8, 5));
    let hide = |p: DVec3| DVec3::new(p.x, p.y * 0.2, p.z * 0.5 - 0.012);
    [(open.clone().map(place), open.map(|p| place(close(p)))), (shine.clone().map(place), shine.map(|p| place(hide(p))))]
}

/// Both eyes; their morph target is the blink.
pub fn eyes(front: &dyn Fn(f64, f64) -> DVec3) -> Vec<Surface> {
    let [[left, left_shine], [right, right_shine]] = Side::BOTH.map(|side| eye(front, side));
    [(INK, left, right), (WHITE, left_shine, right_shine)]
        .into_iter()
        .map(|(material, (mut open, mut closed), other)| {
            open.append(&other.0);
            closed.append(&other.1);
            Surface { morphed: Some(closed), ..head_surface(material, open, 0.60, 0.70) }
        })
        .collect()
}

/// Nose, mouth and two teeth.
pub fn muzzle(front: &dyn Fn(f64, f64) -> DVec3) -> [Surface; 3] {
    let nose = ball(front(0.0, 0.622) + DVec3::new(0.0, 0.0, 0.002), DVec3::new(0.023, 0.015, 0.014), 14, 8);
    let lip = |k: i32| front(0.0038 * f64::from(k), 0.591 - 0.015 * (f64::from(k.abs()) / 10.0 * PI * 0.92).sin());
    let mut mouth = tube(&(-10..=10).map(lip).collect::<Vec<_>>(), 0.0032, 6);
    mouth.append(&tube(&[front(0.0, 0.612), front(0.0, 0.603), front(0.0, 0.592)], 0.0032, 6));
    let mut teeth = Mesh::default();
    for side in Side::BOTH {
        let root = front(side.sign() * 0.0078, 0.576) - DVec3::new(0.0, 0.0, 0.002);
        teeth.append(&block(root, DVec3::new(0.0072, 0.0115, 0.005)));
    }
    [head_surface(PINK, nose, 0.60, 0.63), head_surface(INK, mouth, 0.0, 0.5), head_surface(WHITE, teeth, 0.0, 0.5)]
}

/// A box about `centre` with hard edges.
fn block(centre: DVec3, half: DVec3) -> Mesh {
    let mut mesh = Mesh::default();
    for axis in 0..3 {
        for sign in [-1.0, 1.0] {
            let (mut n, mut u, mut v) = (DVec3::ZERO, DVec3::ZERO, DVec3::ZERO);
            (n[axis], u[(axis + 1) % 3], v[(axis + 2) % 3]) = (sign, sign, 1.0);
            let positions = [-u - v, u - v, u + v, v - u].map(|d| centre + (n + d) * half).to_vec();
            mesh.append(&Mesh { positions, normals: vec![n; 4], triangles: vec![[0, 1, 2], [0, 2, 3]] });
        }
    }
    mesh
}
