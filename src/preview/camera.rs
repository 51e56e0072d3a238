//! Where the picture is taken from: a direction that the user chooses, a distance at which nothing is cut off.

use std::str::FromStr;

use glam::{DMat4, DVec3, DVec4, Mat4, Vec2};

/// Half the opening of the camera, as a tangent: 24 degrees from top to bottom, about a 85 mm lens. Of the shorter side.
const HALF_OPENING: f64 = 0.2126;
/// Share of the picture that what is shown may fill.
const FILL: f64 = 0.9;

/// A direction to look from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct View {
    /// Degrees about the vertical: 0 looks at the front, 90 at the model's left.
    pub yaw: f64,
    /// Degrees above the horizon.
    pub pitch: f64,
    /// Factor on the distance at which everything fits.
    pub distance: f64,
}

impl View {
    /// From the front and a little from above.
    pub const THREE_QUARTER: Self = Self { yaw: 32.0, pitch: 14.0, distance: 1.0 };
    /// Names that stand for directions.
    pub const NAMES: [(&'static str, Self); 4] = [
        ("front", Self { yaw: 0.0, pitch: 0.0, distance: 1.0 }),
        ("side", Self { yaw: 90.0, pitch: 0.0, distance: 1.0 }),
        ("three-quarter", Self::THREE_QUARTER),
        ("top", Self { yaw: 0.0, pitch: 90.0, distance: 1.0 }),
    ];
}

impl FromStr for View {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some((_, view)) = Self::NAMES.iter().find(|(name, _)| name.eq_ignore_ascii_case(text.trim())) {
            return Ok(*view);
        }
        let numbers: Option<Vec<f64>> = text.split(',').map(|part| part.trim().parse().ok()).collect();
        match numbers.as_deref() {
            Some(&[yaw, pitch]) => Self { yaw, pitch, distance: 1.0 }.checked(),
            Some(&[yaw, pitch, distance]) => Self { yaw, pitch, distance }.checked(),
            _ => Err(Self::HELP.into()),
        }
    }
}

impl View {
    const HELP: &'static str = "give front, side, three-quarter or top, or degrees as in 35,15 (yaw from -360 to 360, pitch from -90 to 90), \
                                and a factor on the distance from 0.1 to 10 as in 35,15,1.5";

    fn checked(self) -> Result<Self, String> {
        let is_fine = (-360.0..=360.0).contains(&self.yaw) && (-90.0..=90.0).contains(&self.pitch) && (0.1..=10.0).contains(&self.distance);
        if is_fine { Ok(self) } else { Err(Self::HELP.into()) }
    }

    /// Right, up, and back towards the eye: unit vectors.
    fn axes(&self) -> [DVec3; 3] {
        let (yaw, pitch) = (self.yaw.to_radians(), self.pitch.to_radians());
        let back = DVec3::new(yaw.sin() * pitch.cos(), pitch.sin(), yaw.cos() * pitch.cos());
        let right = DVec3::new(yaw.cos(), 0.0, -yaw.sin());
        [right, back.cross(right), back]
    }

    /// Width over height of the points as they are seen from afar.
    pub fn aspect(&self, points: &[DVec3]) -> f64 {
        let [right, up, _] = self.axes();
        let extent = |axis: DVec3| {
            let along = points.iter().map(|p| p.dot(axis)).filter(|v| v.is_finite());
            let (least, most) = along.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
            (most - least).max(0.0)
        };
        let (width, height) = (extent(right), extent(up));
        if width > 0.0 && height > 0.0 { width / height } else { 1.0 }
    }
}

/// A camera in glTF's axes, metres.
#[derive(Debug, Clone, Copy)]
pub struct Camera {
    axes: [DVec3; 3],
    eye: DVec3,
    /// Half the opening of width and height, as tangents.
    opening: [f64; 2],
    distance: f64,
    near: f64,
    far: f64,
}

impl Camera {
    /// The camera that sees all `points` (those that are numbers) in a picture of this width over height.
    pub fn new(view: &View, points: &[DVec3], aspect: f64) -> Self {
        let axes = view.axes();
        let opening = [HALF_OPENING * aspect.max(1.0), HALF_OPENING / aspect.min(1.0)];
        let points = || points.iter().filter(|p| p.is_finite());
        let (least, most) = points().fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(a, b), &p| (a.min(p), b.max(p)));
        let (middle, size) =
            if least.is_finite() && most.is_finite() { ((least + most) * 0.5, (most - least).length()) } else { (DVec3::ZERO, 0.0) };
        let size = if size > 0.0 { size } else { 1.0 };
        let seen = |p: &DVec3| axes.map(|axis| (*p - middle).dot(axis));
        let (nearest, farthest) = points().map(|p| seen(p)[2]).fold((0.0f64, 0.0f64), |(a, b), z| (a.max(z), b.min(z)));
        // A point at (x, z) is inside where |x - side| <= t (distance - z), so the two sides ask for
        // side + t distance >= x + t z  and  -side + t distance >= -x + t z.
        let fit = |axis: usize| {
            let t = opening[axis] * FILL;
            let both = points().map(seen).map(|p| (p[axis] + t * p[2], -p[axis] + t * p[2]));
            let (a, b) = both.fold((f64::NEG_INFINITY, f64::NEG_INFINITY), |(a, b), (x, y)| (a.max(x), b.max(y)));
            if a.is_finite() { ((a - b) * 0.5, (a + b) / (2.0 * t)) } else { (0.0, 0.0) }
        };
        let ((side, wide), (height, high)) = (fit(0), fit(1));
        let distance = wide.max(high).max(nearest + 0.05 * size) * view.distance;
        let slack = 0.5 * size;
        Self {
            axes,
            eye: middle + axes[0] * side + axes[1] * height + axes[2] * distance,
            opening,
            distance,
            near: (distance - nearest - slack).max(distance * 0.02).max(f64::MIN_POSITIVE),
            far: distance - farthest + 4.0 * slack,
        }
    }

    /// Where the eye is.
    pub fn eye(&self) -> DVec3 {
        self.eye
    }

    /// Distance of the eye from the middle of what it sees.
    pub fn distance(&self) -> f64 {
        self.distance
    }

    /// A direction given to the right, up and back, as seen by the camera.
    pub fn direction(&self, right: f64, up: f64, back: f64) -> DVec3 {
        (self.axes[0] * right + self.axes[1] * up + self.axes[2] * back).normalize_or(DVec3::Y)
    }

    /// Whether the ground is seen from above.
    pub fn sees_ground(&self) -> bool {
        self.axes[2].y > 0.06
    }

    /// From glTF's axes to the picture: x and y from -1 to 1, depth from 0 to 1.
    pub fn matrix(&self) -> Mat4 {
        self.matrix_f64().as_mat4()
    }

    fn matrix_f64(&self) -> DMat4 {
        let [right, up, back] = self.axes;
        let rows = [right, up, back].map(|axis| axis.extend(-axis.dot(self.eye)));
        let look = DMat4::from_cols(rows[0], rows[1], rows[2], DVec4::W).transpose();
        DMat4::perspective_rh(2.0 * self.opening[1].atan(), self.opening[0] / self.opening[1], self.near, self.far) * look
    }

    /// Where a point is in a picture of this size, in pixels from its upper left corner.
    pub fn project(&self, point: DVec3, size: [u32; 2]) -> Option<Vec2> {
        let at = self.matrix_f64() * point.extend(1.0);
        let shown = DVec3::new(at.x, at.y, 0.0) / at.w;
        let [width, height] = size.map(f64::from);
        let pixel = Vec2::new(((shown.x + 1.0) * 0.5 * width) as f32, ((1.0 - shown.y) * 0.5 * height) as f32);
        (at.w > 0.0 && pixel.is_finite()).then_some(pixel)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cloud() -> Vec<DVec3> {
        (0..200).map(f64::from).map(|i| DVec3::new((i * 1.7).sin() * 3.0 + 5.0, (i * 2.3).cos() * 0.4, (i * 0.9).sin())).collect()
    }

    #[test]
    fn nothing_is_cut_off_and_one_side_is_filled() {
        for view in View::NAMES.map(|(_, view)| view).into_iter().chain([View { yaw: -140.0, pitch: -30.0, distance: 1.0 }]) {
            for aspect in [0.5, 1.0, 2.5] {
                let camera = Camera::new(&view, &cloud(), aspect);
                let shown: Vec<_> = cloud().iter().map(|&p| camera.matrix_f64() * p.extend(1.0)).map(|p| p / p.w).collect();
                let largest = |axis: usize| shown.iter().map(|p| p[axis].abs()).fold(0.0, f64::max);
                assert!(shown.iter().all(|p| (0.0..=1.0).contains(&p.z)), "{view:?}");
                let most = largest(0).max(largest(1));
                assert!((FILL - 1e-6..=FILL + 1e-6).contains(&most), "{view:?} {aspect}: {most}");
            }
        }
    }

    #[test]
    fn nearer_cuts_off() {
        let near = View { distance: 0.5, ..View::THREE_QUARTER };
        let camera = Camera::new(&near, &cloud(), 1.0);
        let outside = |p: &DVec3| camera.project(*p, [100, 100]).is_none_or(|p| p.x < 0.0 || p.x > 100.0);
        assert!(cloud().iter().any(outside));
    }

    #[test]
    fn nothing_and_one_point_make_a_camera() {
        for points in [vec![], vec![DVec3::NAN], vec![DVec3::splat(7.0); 3]] {
            let camera = Camera::new(&View::THREE_QUARTER, &points, 1.0);
            assert!(camera.matrix().is_finite() && camera.near > 0.0 && camera.far > camera.near, "{camera:?}");
        }
    }

    #[test]
    fn the_front_is_plus_z_and_pictures_stand_upright() {
        let camera = Camera::new(&"front".parse().expect("a view"), &[DVec3::ZERO, DVec3::ONE], 1.0);
        assert!(camera.eye().z > 1.0);
        let at = |p: DVec3| camera.project(p, [100, 100]).expect("in front");
        assert!(at(DVec3::X).x > at(DVec3::ZERO).x && at(DVec3::Y).y < at(DVec3::ZERO).y);
    }

    #[test]
    fn views_are_names_or_numbers() {
        assert_eq!("Side".parse(), Ok(View { yaw: 90.0, pitch: 0.0, distance: 1.0 }));
        assert_eq!("35, 15".parse(), Ok(View { yaw: 35.0, pitch: 15.0, distance: 1.0 }));
        assert_eq!("-35,15,1.5".parse(), Ok(View { yaw: -35.0, pitch: 15.0, distance: 1.5 }));
        for bad in ["", "back", "1", "1,2,3,4", "0,91", "400,0", "0,0,0", "nan,0", "0,0,inf"] {
            assert!(bad.parse::<View>().is_err(), "{bad}");
        }
    }
}
