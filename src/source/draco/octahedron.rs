//! Unit vectors as points of an unfolded octahedron (chapters "Prediction Normal Transform" and "Sequential Normal Attribute Decoder").

use super::Result;

/// A square of points that unfolds the octahedron.
#[derive(Debug, Clone, Copy)]
pub(super) struct Octahedron {
    /// Largest number that the bits hold; odd.
    modulus: i32,
    /// Largest coordinate.
    max: i32,
    center: i32,
}

impl Octahedron {
    pub(super) fn new(bits: u32) -> Result<Self> {
        if !(2..=30).contains(&bits) {
            return Err(format!("normals have {bits} bits, wanted 2 to 30"));
        }
        let modulus = (1 << bits) - 1;
        Ok(Self { modulus, max: modulus - 1, center: (modulus - 1) / 2 })
    }

    /// From the largest number that the bits hold.
    pub(super) fn from_modulus(modulus: i32) -> Result<Self> {
        match modulus {
            1.. if modulus % 2 == 1 => Self::new(32 - modulus.leading_zeros()),
            _ => Err(format!("the largest value of normals is {modulus}, wanted an odd one above 0")),
        }
    }

    /// The point where a vector goes through the octahedron; its components' absolute values are brought to sum to the center.
    pub(super) fn project(&self, vector: [i32; 3], flip: bool) -> [i32; 2] {
        let [x, y, z] = vector.map(i64::from);
        let sum = x.abs() + y.abs() + z.abs();
        let center = i64::from(self.center);
        let (mut x, mut y, mut z) = match sum {
            0 => (center, 0, 0),
            _ => {
                let (x, y) = (x * center / sum, y * center / sum);
                let rest = center - x.abs() - y.abs();
                (x, y, if z >= 0 { rest } else { -rest })
            }
        };
        if flip {
            (x, y, z) = (-x, -y, -z);
        }
        let max = i64::from(self.max);
        let (s, t) = if x >= 0 {
            (y + center, z + center)
        } else {
            (if y < 0 { z.abs() } else { max - z.abs() }, if z < 0 { y.abs() } else { max - y.abs() })
        };
        // Points of the square's border stand for one vector in pairs; one of each is used.
        let (s, t) = match (s, t) {
            (0, 0) => (max, max),
            (0, t) if t == max => (max, max),
            (s, 0) if s == max => (max, max),
            (0, t) if t > center => (0, max - t),
            (s, t) if s == max && t < center => (s, max - t),
            (s, t) if t == max && s < center => (max - s, t),
            (s, 0) if s > center => (max - s, 0),
            both => both,
        };
        // Within 0 and `max`.
        [s as i32, t as i32]
    }

    /// The point that a prediction and its correction make.
    pub(super) fn correct(&self, predicted: [i32; 2], correction: [i32; 2]) -> [i32; 2] {
        let mut point = predicted.map(|c| c.wrapping_sub(self.center));
        let inside = point[0].unsigned_abs().wrapping_add(point[1].unsigned_abs()) <= self.center as u32;
        if !inside {
            point = self.invert(point);
        }
        // Corrections are those of a prediction that was turned to the lower left.
        let turns = match (point[0].signum(), point[1].signum()) {
            (0, 0) | (-1, -1 | 0) => 0,
            (0, -1) | (1, -1) => 1,
            (1, _) => 2,
            _ => 3,
        };
        point = turn(point, turns);
        point = [0, 1].map(|c| self.wrap(point[c].wrapping_add(correction[c])));
        point = turn(point, (4 - turns) % 4);
        if !inside {
            point = self.invert(point);
        }
        point.map(|c| c.wrapping_add(self.center))
    }

    fn wrap(&self, x: i32) -> i32 {
        if x > self.center {
            x.wrapping_sub(self.modulus)
        } else if x < -self.center {
            x.wrapping_add(self.modulus)
        } else {
            x
        }
    }

    /// Folds the corners of the square over the diamond, or back.
    fn invert(&self, [s, t]: [i32; 2]) -> [i32; 2] {
        let (sign_s, sign_t) = if s >= 0 && t >= 0 {
            (1, 1)
        } else if s <= 0 && t <= 0 {
            (-1, -1)
        } else {
            (if s > 0 { 1 } else { -1 }, if t > 0 { 1 } else { -1 })
        };
        let corner = [sign_s * self.center, sign_t * self.center];
        let [s, t] = [s.wrapping_mul(2).wrapping_sub(corner[0]), t.wrapping_mul(2).wrapping_sub(corner[1])];
        let [s, t] = if sign_s == sign_t { [t.wrapping_neg(), s.wrapping_neg()] } else { [t, s] };
        [s.wrapping_add(corner[0]) / 2, t.wrapping_add(corner[1]) / 2]
    }

    /// The unit vector of a point.
    pub(super) fn unproject(&self, point: [i32; 2]) -> [f32; 3] {
        let scale = 2.0 / self.max as f32;
        let [mut y, mut z] = point.map(|c| c as f32 * scale - 1.0);
        let x = 1.0 - y.abs() - z.abs();
        if x < 0.0 {
            y += if y < 0.0 { -x } else { x };
            z += if z < 0.0 { -x } else { x };
        }
        let square = x * x + y * y + z * z;
        if square < 1e-6 {
            return [0.0; 3];
        }
        let scale = 1.0 / square.sqrt();
        [x * scale, y * scale, z * scale]
    }
}

/// Turns a point by quarters about the origin.
fn turn([s, t]: [i32; 2], quarters: i32) -> [i32; 2] {
    match quarters {
        1 => [t, s.wrapping_neg()],
        2 => [s.wrapping_neg(), t.wrapping_neg()],
        3 => [t.wrapping_neg(), s],
        _ => [s, t],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_come_back() {
        let octahedron = Octahedron::new(10).unwrap();
        for axis in [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]] {
            assert_eq!(octahedron.unproject(octahedron.project(axis, false)), axis.map(|c| c as f32));
            assert_eq!(octahedron.unproject(octahedron.project(axis, true)), axis.map(|c| -c as f32));
        }
    }

    #[test]
    fn no_correction_leaves_the_prediction() {
        let octahedron = Octahedron::from_modulus(255).unwrap();
        for point in [[127, 127], [3, 120], [250, 7], [254, 254], [100, 140]] {
            assert_eq!(octahedron.correct(point, [0, 0]), point);
        }
        assert!(Octahedron::from_modulus(256).is_err() && Octahedron::from_modulus(1).is_err() && Octahedron::from_modulus(-1).is_err());
    }
}
