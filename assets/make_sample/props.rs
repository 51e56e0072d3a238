//! Clothes and tools that are turned, not grown: the scarf on the skin, the hat and the rolling pin as rigid parts.

use super::body::smooth;
use super::colours::{LINEN, SCARF, WOOD};
use super::lathe::{ball, lathe};
use super::rig::{HEAD, SPINE, Side};
use super::surface::{Surface, merge, surface};
use super::weights::between;
use glam::{DQuat, DVec3};
use std::f64::consts::{PI, TAU};

/// The scarf: a ring about the neck with a knot and two ends in front.
pub fn scarf() -> Surface {
    let v = DVec3::new;
    let tube: Vec<(f64, f64)> = (0..=10)
        .map(|k| {
            let (sin, cos) = (TAU * f64::from(k) / 10.0 - PI).sin_cos();
            (0.092 + 0.037 * cos, 0.031 * sin)
        })
        .collect();
    let mut mesh = lathe(&[&tube], 28, |p, angle| p + v(0.0, 0.494 - 0.010 * angle.cos(), 0.005));
    for side in Side::BOTH {
        let hang = DQuat::from_rotation_z(0.62 * side.sign()) * DQuat::from_rotation_x(0.12);
        // A ball drawn out into a drop, flat, its wide end down.
        let drop = ball(DVec3::ZERO, DVec3::ONE, 10, 8).map(|p| {
            let wide = 0.022 - 0.011 * p.y;
            v(0.0, 0.474, 0.131) + hang * v(p.x * wide, (p.y - 0.9) * 0.040, p.z * 0.013)
        });
        mesh.append(&drop);
    }
    mesh.append(&ball(v(0.0, 0.476, 0.134), v(0.025, 0.022, 0.018), 10, 6));
    let influences = mesh.positions.iter().map(|p| between(SPINE, HEAD, 0.55 * smooth(0.455, 0.53, p.y))).collect();
    surface(SCARF, mesh, influences, 0.40, 0.50)
}

/// A baker's hat: a band with hard edges and a pleated crown. Its origin is the middle of the band's lower edge.
pub fn hat() -> Vec<Surface> {
    let pleat = |depth: f64| {
        move |p: DVec3, angle: f64| {
            let amount = depth * ((p.y - 0.075) / 0.05).clamp(0.0, 1.0) * (8.0 * angle).cos();
            DVec3::new(p.x * (1.0 + amount), p.y, p.z * (1.0 + amount))
        }
    };
    let crown = lathe(
        &[&[
            (0.080, 0.066),
            (0.098, 0.082),
            (0.118, 0.105),
            (0.127, 0.130),
            (0.123, 0.154),
            (0.106, 0.173),
            (0.078, 0.184),
            (0.040, 0.188),
            (0.0, 0.189),
        ]],
        48,
        pleat(0.045),
    );
    let band = lathe(&[&[(0.078, 0.0), (0.083, 0.0)], &[(0.083, 0.0), (0.084, 0.066)], &[(0.084, 0.066), (0.078, 0.068)]], 32, |p, _| p);
    let ribbon = lathe(
        &[&[(0.0835, 0.016), (0.0862, 0.016)], &[(0.0862, 0.016), (0.0866, 0.036)], &[(0.0866, 0.036), (0.0838, 0.036)]],
        32,
        |p, _| p,
    );
    let mut surfaces = vec![surface(LINEN, crown, Vec::new(), 0.02, 0.15)];
    merge(&mut surfaces, surface(LINEN, band, Vec::new(), -0.02, 0.06));
    merge(&mut surfaces, surface(SCARF, ribbon, Vec::new(), -0.02, 0.02));
    surfaces
}

/// A rolling pin along Y, held by its lower handle: the origin is in the hand.
pub fn rolling_pin() -> Vec<Surface> {
    let handle = |from: f64, to: f64| {
        let at = |t: f64| from + (to - from) * t;
        [(0.0, at(0.0)), (0.008, at(0.02)), (0.0125, at(0.14)), (0.0125, at(0.35)), (0.0095, at(0.75)), (0.0105, at(1.0))]
    };
    let lower = handle(-0.050, 0.052);
    let mut upper = handle(0.272, 0.202);
    upper.reverse();
    let barrel: [&[(f64, f64)]; 5] = [
        &[(0.0105, 0.052), (0.026, 0.052)],
        &[(0.026, 0.052), (0.030, 0.056)],
        &[(0.030, 0.056), (0.030, 0.198)],
        &[(0.030, 0.198), (0.026, 0.202)],
        &[(0.026, 0.202), (0.0105, 0.202)],
    ];
    let handles = lathe(&[&lower, &upper], 12, |p, _| p);
    let barrel = lathe(&barrel, 20, |p, _| p);
    let mut surfaces = vec![surface(WOOD, barrel, Vec::new(), -0.2, 0.2)];
    merge(&mut surfaces, surface(WOOD, handles, Vec::new(), 0.3, 0.5));
    surfaces
}
