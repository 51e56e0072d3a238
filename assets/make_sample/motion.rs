//! The two clips. A pose is a function of the phase (0 to 1), periodic by construction, so that a clip ends as it begins.

use super::rig::{HEAD, HIPS, JOINTS, Part, SPINE, Side, TAIL, joint, joints};
use glam::{DQuat, DVec3};
use std::f64::consts::TAU;

/// Keys a second.
const RATE: f64 = 30.0;

/// A named, looping run of poses.
pub struct Clip {
    /// Its name.
    pub name: &'static str,
    /// Key times in seconds.
    pub times: Vec<f64>,
    /// One pose a key; the last equals the first.
    pub poses: Vec<Pose>,
}

/// Everything that moves.
#[derive(Clone)]
pub struct Pose {
    /// Where the hips are.
    pub hips: DVec3,
    /// Every joint's own rotation.
    pub rotations: [DQuat; JOINTS],
    /// How far the eyes are closed, 0 to 1.
    pub blink: f64,
}

/// Both clips.
pub fn clips() -> [Clip; 2] {
    [sample("Walk", 24, walk), sample("Wave", 72, wave)]
}

fn sample(name: &'static str, intervals: usize, pose: impl Fn(f64) -> Pose) -> Clip {
    let mut poses: Vec<Pose> = (0..intervals).map(|k| pose(k as f64 / intervals as f64)).collect();
    for k in 1..poses.len() {
        let before = poses[k - 1].rotations;
        poses[k].rotations.iter_mut().zip(before).filter(|(q, b)| q.dot(*b) < 0.0).for_each(|(q, _)| *q = -*q);
    }
    poses.push(poses[0].clone());
    Clip { name, times: (0..=intervals).map(|k| k as f64 / RATE).collect(), poses }
}

/// `sin` and `cos` of a phase, `times` a cycle, `late` cycles behind.
fn wave_of(phase: f64, times: f64, late: f64) -> (f64, f64) {
    (TAU * times * (phase - late)).sin_cos()
}

/// Rotation in degrees about Z, then X, then Y, given for the left side.
fn turn(side: Side, x: f64, y: f64, z: f64) -> DQuat {
    let s = side.sign();
    DQuat::from_rotation_y((s * y).to_radians()) * DQuat::from_rotation_x(x.to_radians()) * DQuat::from_rotation_z((s * z).to_radians())
}

/// The same for a joint in the middle.
fn middle(x: f64, y: f64, z: f64) -> DQuat {
    turn(Side::Left, x, y, z)
}

/// A closed smooth curve (Catmull-Rom) through evenly spaced `values`.
fn cycle(values: &[f64], phase: f64) -> f64 {
    let n = values.len();
    let x = phase.rem_euclid(1.0) * n as f64;
    let (i, t) = (x.floor() as usize, x - x.floor());
    let [a, b, c, d] = [n - 1, 0, 1, 2].map(|k| values[(i + k) % n]);
    b + 0.5 * t * (c - a + t * (2.0 * a - 5.0 * b + 4.0 * c - d + t * (3.0 * (b - c) + d - a)))
}

/// 1 at `at`, falling to 0 within `width` of it.
fn bump(phase: f64, at: f64, width: f64) -> f64 {
    let t = (1.0 - (phase - at).abs() / width).max(0.0);
    t * t * (3.0 - 2.0 * t)
}

/// Two steps: a waddle with weight. The left heel lands at phase 0, the right one at 0.5.
fn walk(phase: f64) -> Pose {
    let mut pose = standing();
    let (sway, stride) = wave_of(phase, 1.0, 0.0);
    let (_, bob) = wave_of(phase, 2.0, 0.06);
    pose.hips += DVec3::new(0.020 * sway, -0.013 - 0.012 * bob, 0.004 * wave_of(phase, 2.0, 0.2).0);
    pose.rotations[HIPS] = middle(4.0, -9.0 * stride, 5.0 * sway);
    pose.rotations[SPINE] = middle(3.0 - 2.0 * wave_of(phase, 2.0, 0.12).1, 16.0 * stride, -8.0 * wave_of(phase, 1.0, 0.03).0);
    pose.rotations[HEAD] = middle(-5.0 + 3.5 * wave_of(phase, 2.0, 0.18).1, -6.0 * stride, 6.0 * wave_of(phase, 1.0, 0.08).0);
    pose.rotations[TAIL] = middle(10.0 * wave_of(phase, 2.0, 0.15).1, 16.0 * wave_of(phase, 1.0, 0.1).0, 0.0);

    for side in Side::BOTH {
        let own = phase - if side == Side::Left { 0.0 } else { 0.5 };
        // From heel strike over the stance (to 0.6) and toe-off through the swing, in tenths of a cycle.
        let forward = cycle(&[0.066, 0.042, 0.016, -0.012, -0.040, -0.066, -0.072, -0.030, 0.028, 0.066], own);
        let up = cycle(&[0.007, 0.001, 0.0, 0.0, 0.004, 0.022, 0.050, 0.058, 0.044, 0.021], own);
        let pitch = cycle(&[-20.0, -3.0, 0.0, 0.0, 4.0, 22.0, 44.0, 32.0, 0.0, -20.0], own);
        let ankle = ankle_at_rest(side) + DVec3::new(-0.014 * side.sign(), up, forward);
        plant(&mut pose, side, ankle, turn(side, pitch, 6.0, 0.0));

        // Arms swing against the legs, the forearm a little later and only forwards.
        let swing = wave_of(own, 1.0, 0.02).1;
        let lag = wave_of(own, 1.0, 0.09).1;
        pose.rotations[joint(side, Part::Arm)] = turn(side, 26.0 * swing, 0.0, -20.0 + 4.0 * wave_of(phase, 2.0, 0.1).1);
        pose.rotations[joint(side, Part::Forearm)] = turn(side, -30.0 + 16.0 * lag, 0.0, -6.0);
        pose.rotations[joint(side, Part::Hand)] = turn(side, -6.0 + 14.0 * wave_of(own, 1.0, 0.16).1, 0.0, 0.0);
        ears(&mut pose, side, phase, 1.0);
    }
    // The right arm carries the rolling pin: bent and steadier.
    let (_, right) = wave_of(phase, 1.0, 0.52);
    pose.rotations[joint(Side::Right, Part::Arm)] = turn(Side::Right, -4.0 + 12.0 * right, 0.0, -22.0);
    pose.rotations[joint(Side::Right, Part::Forearm)] = turn(Side::Right, -72.0 + 8.0 * right, 0.0, 0.0);
    pose.rotations[joint(Side::Right, Part::Hand)] = turn(Side::Right, 6.0 * wave_of(phase, 2.0, 0.2).1, 0.0, 0.0);
    pose.blink = bump(phase, 0.72, 0.11);
    pose
}

/// Standing and waving with the left hand.
fn wave(phase: f64) -> Pose {
    let mut pose = standing();
    let (sway, _) = wave_of(phase, 1.0, 0.0);
    let (breath, _) = wave_of(phase, 2.0, 0.0);
    let (shake, _) = wave_of(phase, 4.0, 0.0);
    pose.hips += DVec3::new(-0.014 + 0.012 * sway, -0.008 + 0.004 * breath, 0.0);
    pose.rotations[HIPS] = middle(0.0, 4.0 * sway, -3.0 + 2.5 * sway);
    pose.rotations[SPINE] = middle(-3.0 - 2.0 * breath, 3.0 * wave_of(phase, 1.0, 0.05).0, -2.0 - 3.0 * wave_of(phase, 1.0, 0.04).0);
    pose.rotations[HEAD] =
        middle(-4.0 + 2.0 * wave_of(phase, 2.0, 0.1).0, 5.0 * wave_of(phase, 1.0, 0.12).0, 9.0 - 6.0 * wave_of(phase, 1.0, 0.1).0);
    pose.rotations[TAIL] = middle(0.0, 22.0 * wave_of(phase, 4.0, 0.05).0, 0.0);
    for side in Side::BOTH {
        plant(&mut pose, side, ankle_at_rest(side), turn(side, 0.0, 10.0, 0.0));
        ears(&mut pose, side, phase, 0.35);
        let late = wave_of(phase, 4.0, 0.04).0;
        let tip = &mut pose.rotations[joint(side, Part::EarTip)];
        *tip = turn(side, 0.0, 0.0, 4.0 * late * side.sign()) * *tip;
    }
    pose.rotations[joint(Side::Left, Part::Arm)] = turn(Side::Left, -8.0, -10.0, 46.0 + 6.0 * shake);
    pose.rotations[joint(Side::Left, Part::Forearm)] = turn(Side::Left, 0.0, -8.0, 54.0 + 24.0 * wave_of(phase, 4.0, 0.02).0);
    pose.rotations[joint(Side::Left, Part::Hand)] = turn(Side::Left, 0.0, 0.0, 4.0 + 18.0 * wave_of(phase, 4.0, 0.05).0);
    pose.rotations[joint(Side::Right, Part::Arm)] = turn(Side::Right, 6.0 + 2.0 * breath, 0.0, -24.0 + 2.0 * breath);
    pose.rotations[joint(Side::Right, Part::Forearm)] = turn(Side::Right, -78.0 - 3.0 * breath, 0.0, 0.0);
    pose.blink = bump(phase, 0.30, 0.05).max(bump(phase, 0.78, 0.05)).max(bump(phase, 0.87, 0.045));
    pose
}

/// The pose that both clips start from: the rest pose, eyes open.
fn standing() -> Pose {
    Pose { hips: joints()[HIPS].position, rotations: [DQuat::IDENTITY; JOINTS], blink: 0.0 }
}

/// Ears that trail behind the head's bob and sway, each segment later and farther than the one before.
fn ears(pose: &mut Pose, side: Side, phase: f64, strength: f64) {
    for (k, part) in [Part::Ear, Part::EarMiddle, Part::EarTip].into_iter().enumerate() {
        let (late, reach) = (0.06 + 0.07 * k as f64, strength * (6.0 + 5.0 * k as f64));
        let (_, bob) = wave_of(phase, 2.0, late);
        let (sway, _) = wave_of(phase, 1.0, late);
        pose.rotations[joint(side, part)] = turn(side, -0.8 * reach * bob, 0.0, -0.7 * reach * sway * side.sign() - 0.5 * reach * bob);
    }
}

/// Where the ankle is when nothing moves.
fn ankle_at_rest(side: Side) -> DVec3 {
    joints()[joint(side, Part::Foot)].position
}

/// Bends a leg so that its ankle is at `ankle` and the foot is turned by `foot`, as seen from the ground.
fn plant(pose: &mut Pose, side: Side, ankle: DVec3, foot: DQuat) {
    let rest = joints();
    let [thigh, shin, end] = [Part::Thigh, Part::Shin, Part::Foot].map(|part| joint(side, part));
    let upper = rest[shin].position - rest[thigh].position;
    let lower = rest[end].position - rest[shin].position;
    let hips = pose.rotations[HIPS];
    let hip = pose.hips + hips * (rest[thigh].position - rest[HIPS].position);
    let to_ankle = hips.inverse() * (ankle - hip);
    let (a, b) = (upper.length(), lower.length());
    let reach = to_ankle.length().min(0.998 * (a + b));
    let along = to_ankle.normalize();
    let knee_way = (DVec3::new(0.15 * side.sign(), 0.0, 1.0) - along * along.z).normalize();
    let x = (reach * reach + a * a - b * b) / (2.0 * reach);
    let knee = along * x + knee_way * (a * a - x * x).max(0.0).sqrt();
    let first = DQuat::from_rotation_arc(upper.normalize(), knee.normalize());
    let second = first.inverse() * DQuat::from_rotation_arc(first.mul_vec3(lower).normalize(), (along * reach - knee).normalize()) * first;
    pose.rotations[thigh] = first;
    pose.rotations[shin] = second;
    pose.rotations[end] = (hips * first * second).inverse() * foot;
}
