//! The body's shape, all but the ears, and the lines along which its surface is coloured.

use super::field::{Blob, Form, distance, melt};
use super::rig::{HEAD, HIPS, Part, SPINE, Side, TAIL, joint, joints};
use glam::DVec3;

/// The middle of the tuft.
pub const TAIL_CENTRE: DVec3 = DVec3::new(0.0, 0.226, -0.152);

fn ellipsoid(joint: usize, centre: DVec3, radii: DVec3, melt: f64) -> Blob {
    Blob { joint, form: Form::Ellipsoid { centre, radii }, melt }
}

fn limb(joint: usize, a: DVec3, b: DVec3, radius: (f64, f64), melt: f64) -> Blob {
    Blob { joint, form: Form::Cone { a, b, radius }, melt }
}

/// Every shape of the body, each on its joint.
pub fn blobs() -> Vec<Blob> {
    let rest = joints();
    let v = DVec3::new;
    let mut blobs = vec![
        ellipsoid(HIPS, v(0.0, 0.268, 0.004), v(0.140, 0.122, 0.128), 0.0),
        ellipsoid(SPINE, v(0.0, 0.400, -0.002), v(0.106, 0.112, 0.096), 0.08),
        ellipsoid(TAIL, TAIL_CENTRE, v(0.060, 0.058, 0.058), 0.015),
    ];
    for side in Side::BOTH {
        let at = |part| rest[joint(side, part)].position;
        let m = |p| side.mirror(p);
        let on = |part| joint(side, part);
        blobs.extend([
            limb(on(Part::Thigh), at(Part::Thigh), at(Part::Shin), (0.064, 0.052), 0.04),
            limb(on(Part::Shin), at(Part::Shin), at(Part::Foot), (0.050, 0.045), 0.02),
            ellipsoid(on(Part::Foot), m(v(0.094, 0.040, 0.030)), v(0.058, 0.040, 0.092), 0.025),
            limb(on(Part::Arm), at(Part::Arm), at(Part::Forearm), (0.046, 0.040), 0.03),
            limb(on(Part::Forearm), at(Part::Forearm), at(Part::Hand), (0.039, 0.036), 0.015),
            ellipsoid(on(Part::Hand), at(Part::Hand) + m(v(0.017, -0.015, 0.002)), v(0.050, 0.050, 0.044), 0.015),
            limb(
                on(Part::Hand),
                at(Part::Hand) + m(v(0.013, -0.005, 0.020)),
                at(Part::Hand) + m(v(0.006, 0.018, 0.048)),
                (0.026, 0.025),
                0.012,
            ),
        ]);
    }
    blobs.push(ellipsoid(HEAD, v(0.0, 0.655, 0.0), v(0.198, 0.163, 0.168), 0.02));
    for side in Side::BOTH {
        blobs.push(ellipsoid(HEAD, side.mirror(v(0.112, 0.605, 0.042)), v(0.098, 0.082, 0.092), 0.05));
    }
    blobs.push(ellipsoid(HEAD, v(0.0, 0.596, 0.135), v(0.074, 0.050, 0.056), 0.04));
    blobs
}

/// The whole body.
pub fn body(blobs: &[Blob]) -> impl Fn(DVec3) -> f64 + '_ {
    |p| distance(blobs, p)
}

/// Muzzle and chin.
pub fn muzzle_region(p: DVec3) -> f64 {
    Form::Ellipsoid { centre: DVec3::new(0.0, 0.582, 0.170), radii: DVec3::new(0.096, 0.066, 0.100) }.distance(p)
}

/// The tuft.
pub fn tail_region(p: DVec3) -> f64 {
    (p - TAIL_CENTRE).length() - 0.078 + 0.4 * (p.z - TAIL_CENTRE.z).max(0.0)
}

/// The apron: bib, skirt, and a band about the waist.
pub fn apron_region(p: DVec3) -> f64 {
    let rounded = |x: f64, y: f64, half: (f64, f64), radius: f64| {
        let (dx, dy) = (x.abs() - half.0 + radius, y.abs() - half.1 + radius);
        dx.max(0.0).hypot(dy.max(0.0)) + dx.max(dy).min(0.0) - radius
    };
    let bib = rounded(p.x, p.y - 0.395, (0.066, 0.075), 0.02);
    let skirt = rounded(p.x, p.y - 0.245, (0.112, 0.080), 0.045);
    let band = ((p.y - 0.306).abs() - 0.016).max(p.x.abs() - 0.165).max(0.07 - (p - TAIL_CENTRE).length());
    melt(melt(bib, skirt, 0.03).max(0.03 - p.z), band, 0.03)
}

/// Place on the fur's ramp: `PLAIN_FUR`, less on the cheeks, more on the paws.
pub fn fur_place(p: DVec3, plain: f64) -> f64 {
    let q = DVec3::new(p.x.abs(), p.y, p.z);
    let blush = 1.0 - smooth(0.018, 0.062, (q - DVec3::new(0.142, 0.604, 0.118)).length());
    let paws = 1.0 - smooth(0.074, 0.102, (q - DVec3::new(0.295, 0.270, 0.01)).length());
    let feet = 1.0 - smooth(0.045, 0.095, q.y);
    plain - plain * blush + (1.0 - plain) * 0.9 * paws.max(feet)
}

/// 0 below `low`, 1 above `high`, a smooth step between.
pub fn smooth(low: f64, high: f64, x: f64) -> f64 {
    let t = ((x - low) / (high - low)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}
