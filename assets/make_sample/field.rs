//! Signed distance fields: soft shapes melted together. Negative inside; true distances only near the surface.

use glam::DVec3;

/// A shape that one joint carries.
pub struct Blob {
    /// The joint it follows.
    pub joint: usize,
    /// Its form.
    pub form: Form,
    /// How far it melts into what came before it, in metres.
    pub melt: f64,
}

/// The form of a blob.
pub enum Form {
    /// A ball scaled along the axes.
    Ellipsoid { centre: DVec3, radii: DVec3 },
    /// A ball rolled from `a` to `b` while its radius changes.
    Cone { a: DVec3, b: DVec3, radius: (f64, f64) },
}

impl Form {
    /// Distance from `p` to the form's surface.
    pub fn distance(&self, p: DVec3) -> f64 {
        match *self {
            Form::Ellipsoid { centre, radii } => {
                let q = p - centre;
                let (k0, k1) = ((q / radii).length(), (q / (radii * radii)).length());
                if k1 < 1e-9 { -radii.min_element() } else { k0 * (k0 - 1.0) / k1 }
            }
            Form::Cone { a, b, radius } => {
                let (q, axis) = (p - a, b - a);
                let t = (q.dot(axis) / axis.length_squared()).clamp(0.0, 1.0);
                (q - axis * t).length() - (radius.0 + (radius.1 - radius.0) * t)
            }
        }
    }
}

/// The smaller of two distances, rounded where they are within `melt` of each other.
pub fn melt(a: f64, b: f64, melt: f64) -> f64 {
    let h = (melt - (a - b).abs()).max(0.0) / melt.max(1e-9);
    a.min(b) - h * h * melt * 0.25
}

/// Distance to all blobs melted together in their order.
pub fn distance(blobs: &[Blob], p: DVec3) -> f64 {
    blobs.iter().fold(1e3, |d, blob| melt(d, blob.form.distance(p), blob.melt))
}

/// Direction of steepest ascent at `p`, by central differences; its length is the slope.
pub fn gradient(field: &dyn Fn(DVec3) -> f64, p: DVec3) -> DVec3 {
    const H: f64 = 1e-4;
    let slope = |axis: DVec3| (field(p + axis * H) - field(p - axis * H)) / (2.0 * H);
    DVec3::new(slope(DVec3::X), slope(DVec3::Y), slope(DVec3::Z))
}

/// The point of the surface near `p`, by Newton's method along the gradient.
pub fn project(field: &dyn Fn(DVec3) -> f64, mut p: DVec3) -> DVec3 {
    for _ in 0..4 {
        let g = gradient(field, p);
        p -= g * (field(p) / g.length_squared().max(0.05)).clamp(-0.02, 0.02);
    }
    p
}
