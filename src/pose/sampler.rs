//! One channel at one time (glTF 2.0, 3.11 and appendix C), in f64.

use glam::DQuat;

use crate::scene::{Channel, Interpolation, Property};

/// Writes the channel's value at `time` (seconds) to `out`, which has `channel.width` places. Before the first key and after the
/// last the nearest key holds; on a key its value is used as it is. A rotation comes out as a unit quaternion, xyzw.
pub fn sample_channel(channel: &Channel, time: f64, out: &mut [f64]) {
    // Keys are f32: a time whose f32 is the key's lies on the key.
    let next = channel.times.partition_point(|&key| key <= time as f32);
    let last = channel.times.len() - 1;
    if next == 0 || next > last || channel.interpolation == Interpolation::Step {
        copy_key(channel, next.saturating_sub(1), out);
    } else {
        let (from, to) = (next - 1, next);
        let start = f64::from(channel.times[from]);
        let span = f64::from(channel.times[to]) - start;
        let at = ((time - start) / span).clamp(0.0, 1.0);
        match channel.interpolation {
            Interpolation::CubicSpline => sample_spline(channel, from, at, span, out),
            _ if at == 0.0 => copy_key(channel, from, out),
            _ if channel.property == Property::Rotation => {
                slerp(key_quaternion(channel, from), key_quaternion(channel, to), at).write_to_slice(out);
            }
            _ => {
                let (a, b) = (key(channel, from), key(channel, to));
                for (value, (&a, &b)) in out.iter_mut().zip(a.iter().zip(b)) {
                    *value = f64::from(a) + (f64::from(b) - f64::from(a)) * at;
                }
            }
        }
    }
    if channel.property == Property::Rotation {
        unit(DQuat::from_slice(out)).write_to_slice(out);
    }
}

/// The value of key `k`, without tangents.
pub fn key(channel: &Channel, k: usize) -> &[f32] {
    match channel.interpolation {
        Interpolation::CubicSpline => group(channel, 3 * k + 1),
        _ => group(channel, k),
    }
}

fn group(channel: &Channel, index: usize) -> &[f32] {
    &channel.values[index * channel.width..(index + 1) * channel.width]
}

fn copy_key(channel: &Channel, k: usize, out: &mut [f64]) {
    for (out, &value) in out.iter_mut().zip(key(channel, k)) {
        *out = f64::from(value);
    }
}

fn key_quaternion(channel: &Channel, k: usize) -> DQuat {
    let q = key(channel, k);
    unit(DQuat::from_xyzw(q[0].into(), q[1].into(), q[2].into(), q[3].into()))
}

/// Cubic spline of appendix C: both tangents are scaled by the key distance.
fn sample_spline(channel: &Channel, from: usize, t: f64, span: f64, out: &mut [f64]) {
    let (t2, t3) = (t * t, t * t * t);
    let (v0, b0) = (group(channel, 3 * from + 1), group(channel, 3 * from + 2));
    let (a1, v1) = (group(channel, 3 * from + 3), group(channel, 3 * from + 4));
    for (i, out) in out.iter_mut().enumerate() {
        *out = (2.0 * t3 - 3.0 * t2 + 1.0) * f64::from(v0[i])
            + span * (t3 - 2.0 * t2 + t) * f64::from(b0[i])
            + (3.0 * t2 - 2.0 * t3) * f64::from(v1[i])
            + span * (t3 - t2) * f64::from(a1[i]);
    }
}

/// Spherical linear interpolation of appendix C: the short way, straight where the arc is all but zero.
fn slerp(a: DQuat, b: DQuat, t: f64) -> DQuat {
    let dot = a.dot(b);
    let sign = if dot < 0.0 { -1.0 } else { 1.0 };
    let angle = dot.abs().min(1.0).acos();
    let sine = angle.sin();
    if sine < 1e-9 {
        return a * (1.0 - t) + b * (sign * t);
    }
    a * ((angle * (1.0 - t)).sin() / sine) + b * (sign * (angle * t).sin() / sine)
}

/// Unit length; the identity where there is no direction.
fn unit(q: DQuat) -> DQuat {
    let length = q.length();
    if length > 0.0 && length.is_finite() { q / length } else { DQuat::IDENTITY }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn channel(property: Property, interpolation: Interpolation, times: &[f32], values: &[f32], width: usize) -> Channel {
        Channel { node: 0, property, interpolation, times: times.into(), values: values.to_vec(), width }
    }

    fn at<const N: usize>(channel: &Channel, time: f64) -> [f64; N] {
        let mut out = [0.0; N];
        sample_channel(channel, time, &mut out);
        out
    }

    #[test]
    fn spline_tangents_are_scaled_by_the_key_distance() {
        let values = [0., 0., 4., 0., 0., 0.];
        let c = channel(Property::Weights, Interpolation::CubicSpline, &[0., 2.], &values, 1);
        assert!((at::<1>(&c, 0.5)[0] - 1.125).abs() < 1e-12);
        assert!((at::<1>(&c, 1.0)[0] - 1.0).abs() < 1e-12);
    }

    #[test]
    fn rotation_takes_the_short_way() {
        let h = std::f32::consts::FRAC_1_SQRT_2;
        let c = channel(Property::Rotation, Interpolation::Linear, &[0.75, 1.0], &[0., 0., h, -h, 0., 0., 0., 1.], 4);
        let q = at::<4>(&c, 0.875);
        let sign = q[2].signum();
        assert!((q[2] * sign - 0.382_683_4).abs() < 1e-6 && (q[3] * sign + 0.923_879_5).abs() < 1e-6, "{q:?}");
    }

    #[test]
    fn opposite_quaternions_are_one_pose() {
        let c = channel(Property::Rotation, Interpolation::Linear, &[0., 1.], &[0., 0.6, 0., 0.8, 0., -0.6, 0., -0.8], 4);
        for k in 0..=10 {
            let q = at::<4>(&c, f64::from(k) / 10.0);
            assert!((q[1].abs() - 0.6).abs() < 1e-7 && (q[3].abs() - 0.8).abs() < 1e-7, "{q:?}");
        }
    }

    #[test]
    fn a_jump_takes_the_later_key_at_its_time() {
        let c = channel(Property::Weights, Interpolation::Linear, &[0., 1., 1., 2.], &[0., 1., 5., 6.], 1);
        assert!((at::<1>(&c, 0.999)[0] - 0.999).abs() < 1e-12);
        assert_eq!(at::<1>(&c, 1.0), [5.0]);
        assert_eq!(at::<1>(&c, 1.5), [5.5]);
    }

    #[test]
    fn steps_hold_until_the_next_key_and_keys_are_hit_exactly() {
        let c = channel(Property::Weights, Interpolation::Step, &[0., 0.1, 0.5], &[0., 3., 10.], 1);
        assert_eq!(at::<1>(&c, 0.1), [3.0], "0.1 in f64 is below 0.1 in f32, yet on the key");
        assert_eq!(at::<1>(&c, 14.0 / 30.0), [3.0]);
        assert_eq!(at::<1>(&c, 15.0 / 30.0), [10.0]);
        assert_eq!(at::<1>(&c, -1.0), [0.0]);
        assert_eq!(at::<1>(&c, 9.0), [10.0]);
    }
}
