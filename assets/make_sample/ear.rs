//! The ears: a dished leaf drawn along a curve through the ear's joints.

use super::body::smooth;
use super::colours::{FUR, PINK, PLAIN_FUR};
use super::lathe::lathe;
use super::rig::{HEAD, Part, Side, joint, joints};
use super::surface::{Surface, pick};
use super::weights::{Influences, between};
use glam::DVec3;

/// Where the left ear ends.
const END: DVec3 = DVec3::new(0.315, 1.030, -0.012);
/// Half of the thickness at most, in metres.
const THICK: f64 = 0.022;
/// Where the rings are, 0 at the first joint, 1 at the tip; the first ones are inside the head.
const RINGS: [f64; 18] = [-0.14, -0.05, 0.04, 0.12, 0.2, 0.28, 0.36, 0.44, 0.52, 0.6, 0.68, 0.76, 0.83, 0.89, 0.94, 0.975, 0.994, 1.0];

/// The fur and the pink inside of one ear.
pub fn ear(side: Side) -> [Surface; 2] {
    let rest = joints();
    let [a, b, c] = [Part::Ear, Part::EarMiddle, Part::EarTip].map(|part| rest[joint(side, part)].position);
    let line = [a, b, c, side.mirror(END)];
    let front = side.mirror(DVec3::new(0.22, -0.10, 1.0)).normalize();

    // First as a straight tube, radius = half width and height = ring, on which colours and weights are told apart.
    let profile = RINGS.map(|s| (half_width(s), s));
    let tube = lathe(&[&profile], 16, |p, _| p);
    let tags: Vec<usize> = tube
        .triangles
        .iter()
        .map(|t| {
            let middle = t.iter().map(|&i| tube.positions[i]).sum::<DVec3>() / 3.0;
            if middle.z > middle.x.abs() && (0.04..0.94).contains(&middle.y) { PINK } else { FUR }
        })
        .collect();
    let influences: Vec<Influences> = tube.positions.iter().map(|p| weights(side, p.y)).collect();
    let along: Vec<f64> = tube.positions.iter().map(|p| p.y).collect();
    let mesh = tube.map(|p| {
        let tangent = (curve(&line, p.y + 1e-3) - curve(&line, p.y - 1e-3)).normalize();
        let normal = (front - tangent * front.dot(tangent)).normalize();
        let wide = half_width(p.y);
        let facing = if wide > 0.0 { p.z / wide } else { 0.0 };
        let dish = if facing > 0.0 { 1.35 * smooth(0.5, 1.0, facing) } else { 0.0 };
        curve(&line, p.y) + tangent.cross(normal) * p.x + normal * ((facing - dish) * THICK.min(0.6 * wide))
    });
    [FUR, PINK].map(|tag| {
        let place = |i: usize| match tag {
            FUR => PLAIN_FUR + (1.0 - PLAIN_FUR) * 0.85 * smooth(0.74, 0.97, along[i]),
            _ => 0.35 + 0.65 * smooth(0.02, 0.5, along[i]),
        };
        pick(&mesh, &tags, tag, &influences, &place)
    })
}

/// Half the ear's width: broadest past the middle, round at the tip.
fn half_width(s: f64) -> f64 {
    let tip = ((s - 0.5) / 0.5).max(0.0);
    (0.043 + 0.024 * smooth(0.0, 0.5, s)) * (1.0 - tip.powi(2)).max(0.0).powf(0.6)
}

/// The curve through the four points of `line` (Catmull-Rom), straight on beyond its ends.
fn curve(line: &[DVec3; 4], s: f64) -> DVec3 {
    let at = |i: i32| match i {
        -1 => line[0] * 2.0 - line[1],
        0..=3 => line[i as usize],
        _ => line[3] * 2.0 - line[2],
    };
    let x = s * 3.0;
    if x < 0.0 {
        return line[0] + (line[1] - line[0]) * x;
    }
    let i = x.floor().min(2.0);
    let (t, i) = (x - i, i as i32);
    let (a, b, c, d) = (at(i - 1), at(i), at(i + 1), at(i + 2));
    b + (c - a + (a * 2.0 - b * 5.0 + c * 4.0 - d + ((b - c) * 3.0 + d - a) * t) * t) * (0.5 * t)
}

/// The head holds the root; each joint hands over to the next one about the middle between them.
fn weights(side: Side, s: f64) -> Influences {
    let [a, b, c] = [Part::Ear, Part::EarMiddle, Part::EarTip].map(|part| joint(side, part));
    if s < 0.12 {
        between(HEAD, a, smooth(-0.12, 0.12, s))
    } else if s < 0.52 {
        between(a, b, smooth(0.16, 0.50, s))
    } else {
        between(b, c, smooth(0.52, 0.82, s))
    }
}
