//! Root motion: how far a clip has carried its root over the ground and turned it about the vertical, which a bake in place takes
//! out of the whole pose.

use std::f64::consts::{PI, TAU};

use glam::{DMat4, DVec3};

use crate::scene::Trs;

/// A move over the ground: a turn about +Y through the origin, then a shift along x and z. Moving the pose in place so gives the
/// pose that the clip has.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct GroundMove {
    /// Radians about +Y.
    pub yaw: f64,
    /// Metres; y is always 0.
    pub shift: DVec3,
}

impl GroundMove {
    /// What brings the root's place and heading of the first frame to those of `now`: its world matrices. The turn is the twist
    /// about +Y of the rotation between them, so that a root that leans or rolls keeps doing so in place.
    pub fn between(first: &DMat4, now: &DMat4) -> Self {
        let turn = Trs::from_matrix(*now).rotation * Trs::from_matrix(*first).rotation.conjugate();
        let yaw = wrap(2.0 * turn.y.atan2(turn.w));
        let on_ground = |m: &DMat4| DVec3::new(m.w_axis.x, 0.0, m.w_axis.z);
        let shift = on_ground(now) - DMat4::from_rotation_y(yaw).transform_vector3(on_ground(first));
        Self { yaw, shift }
    }

    /// The matrix that takes the move out.
    pub fn inverse(&self) -> DMat4 {
        DMat4::from_rotation_y(-self.yaw) * DMat4::from_translation(-self.shift)
    }

    /// This move after a further one seen from where it arrives: `self` times `next`.
    fn then(&self, next: &Self) -> Self {
        let turned = DMat4::from_rotation_y(self.yaw).transform_vector3(next.shift);
        Self { yaw: self.yaw + next.yaw, shift: self.shift + turned }
    }

    /// What is left of `end` seen from where this move arrives: `self.then(step) == end`.
    fn step_to(&self, end: &Self) -> Self {
        let shift = DMat4::from_rotation_y(-self.yaw).transform_vector3(end.shift - self.shift);
        Self { yaw: end.yaw - self.yaw, shift }
    }
}

/// The moves of a clip's frames as a track that a player may blend: yaw goes on past half a turn instead of jumping. Where the
/// first pose was appended to close a cycle, its move is the last step once more: the next cycle begins there.
pub fn make_track(mut moves: Vec<GroundMove>, is_closing_appended: bool) -> Vec<GroundMove> {
    for k in 1..moves.len() {
        moves[k].yaw = moves[k - 1].yaw + wrap(moves[k].yaw - moves[k - 1].yaw);
    }
    if let (true, [.., before, last, appended]) = (is_closing_appended, &mut moves[..]) {
        *appended = last.then(&before.step_to(last));
    }
    moves
}

/// An angle between -π and π.
fn wrap(angle: f64) -> f64 {
    let turns = angle.rem_euclid(TAU);
    if turns > PI { turns - TAU } else { turns }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{DQuat, EulerRot};

    fn matrix(yaw: f64, pitch: f64, at: [f64; 3]) -> DMat4 {
        let rotation = DQuat::from_euler(EulerRot::YXZ, yaw, pitch, 0.2);
        DMat4::from_scale_rotation_translation(DVec3::new(0.01, 0.02, -0.01), rotation, at.into())
    }

    #[test]
    fn the_root_stays_where_it_began() {
        let first = matrix(0.4, 0.0, [3.0, 1.0, -2.0]);
        for (yaw, at) in [(0.4, [3.0, 1.0, -2.0]), (2.0, [7.0, 1.5, 4.0]), (-2.9, [-1.0, 0.0, 0.0])] {
            let now = matrix(yaw, 0.0, at);
            let ground = GroundMove::between(&first, &now);
            let still = ground.inverse() * now;
            assert!((ground.yaw - wrap(yaw - 0.4)).abs() < 1e-12, "{ground:?}");
            let wanted = first.with_translation(DVec3::new(3.0, at[1], -2.0));
            assert!(still.abs_diff_eq(wanted, 1e-12), "{still} is not {wanted}");
        }
    }

    trait WithTranslation {
        fn with_translation(self, to: DVec3) -> Self;
    }
    impl WithTranslation for DMat4 {
        fn with_translation(mut self, to: DVec3) -> Self {
            self.w_axis = to.extend(1.0);
            self
        }
    }

    #[test]
    fn what_leans_goes_on_leaning() {
        let ground = GroundMove::between(&matrix(0.0, 0.0, [0.0; 3]), &matrix(0.0, 0.0, [0.0, 5.0, 0.0]));
        assert!(ground.yaw.abs() < 1e-12 && ground.shift.length() < 1e-12, "{ground:?}");
        let lean = DMat4::from_rotation_z(1.2);
        assert!(GroundMove::between(&DMat4::IDENTITY, &lean).yaw.abs() < 1e-12);
    }

    #[test]
    fn a_track_turns_on_and_a_cycle_goes_on() {
        let at = |yaw: f64, x: f64| GroundMove { yaw, shift: DVec3::new(x, 0.0, 0.0) };
        let track = make_track(vec![at(0.0, 0.0), at(2.0, 1.0), at(4.0 - TAU, 2.0), at(6.0 - TAU, 3.0), at(8.0 - TAU, 4.0)], false);
        track.iter().zip([0.0, 2.0, 4.0, 6.0, 8.0]).for_each(|(m, yaw)| assert!((m.yaw - yaw).abs() < 1e-12, "{track:?}"));
        // On a circle: each step is a quarter turn and a metre ahead.
        let step = at(PI / 2.0, 1.0);
        let moves = vec![GroundMove::default(), step, step.then(&step), GroundMove::default()];
        let last = make_track(moves, true)[3];
        let wanted = step.then(&step).then(&step);
        assert!((last.yaw - wanted.yaw).abs() < 1e-12 && last.shift.distance(wanted.shift) < 1e-12, "{last:?}");
    }
}
