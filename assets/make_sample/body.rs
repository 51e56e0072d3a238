//! The body's shape and the lines along which its surface is coloured.

use super::field::{Blob, Form, distance, melt};
use super::rig::{HEAD, HIPS, Part, SPINE, Side, TAIL, joint, joints};
use glam::DVec3;

/// Where the ears end, left side.
pub const EAR_END: DVec3 = DVec3::new(0.310, 1.035, -0.018);
/// The middle of the tuft.
pub const TAIL_CENTRE: DVec3 = DVec3::new(0.0, 0.250, -0.160);

fn ellipsoid(joint: usize, centre: DVec3, radii: DVec3, melt: f64) -> Blob {
    Blob { joint, form: Form::Ellipsoid { centre, radii }, melt }
}

fn limb(joint: usize, a: DVec3, b: DVec3, radius: (f64, f64), melt: f64) -> Blob {
    Blob { joint, form: Form::Cone { a, b, radius, normal: DVec3::Z, flat: 1.0 }, melt }
}

/// Every shape of the body, each on its joint.
pub fn blobs() -> Vec<Blob> {
    let rest = joints();
    let v = DVec3::new;
    let mut blobs = vec![
        ellipsoid(HIPS, v(0.0, 0.268, 0.004), v(0.140, 0.122, 0.128), 0.0),
        ellipsoid(SPINE, v(0.0, 0.400, -0.002), v(0.106, 0.112, 0.096), 0.08),
        ellipsoid(TAIL, TAIL_CENTRE, v(0.062, 0.060, 0.058), 0.02),
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
            ellipsoid(on(Part::Hand), m(v(0.272, 0.290, 0.006)), v(0.050, 0.050, 0.044), 0.015),
            limb(on(Part::Hand), m(v(0.268, 0.300, 0.020)), m(v(0.262, 0.322, 0.050)), (0.022, 0.019), 0.012),
        ]);
    }
    blobs.extend([ellipsoid(HEAD, v(0.0, 0.655, 0.0), v(0.198, 0.163, 0.168), 0.02)]);
    for side in Side::BOTH {
        blobs.push(ellipsoid(HEAD, side.mirror(v(0.112, 0.605, 0.042)), v(0.098, 0.082, 0.092), 0.05));
    }
    blobs.push(ellipsoid(HEAD, v(0.0, 0.596, 0.135), v(0.074, 0.050, 0.056), 0.04));
    for side in Side::BOTH {
        let ear = ear_line(side);
        for (k, part) in [Part::Ear, Part::EarMiddle, Part::EarTip].into_iter().enumerate() {
            let radius = (EAR_RADII[k], EAR_RADII[k + 1]);
            let form = Form::Cone { a: ear[k], b: ear[k + 1], radius, normal: ear_normal(side), flat: 0.42 };
            blobs.push(Blob { joint: joint(side, part), form, melt: if k == 0 { 0.03 } else { 0.01 } });
        }
    }
    blobs
}

/// Half widths of an ear at its joints and its end.
const EAR_RADII: [f64; 4] = [0.044, 0.064, 0.056, 0.016];

/// The joints of an ear and its end.
fn ear_line(side: Side) -> [DVec3; 4] {
    let rest = joints();
    let at = |part| rest[joint(side, part)].position;
    [at(Part::Ear), at(Part::EarMiddle), at(Part::EarTip), side.mirror(EAR_END)]
}

/// Where the open side of an ear looks.
fn ear_normal(side: Side) -> DVec3 {
    side.mirror(DVec3::new(0.18, -0.12, 1.0)).normalize()
}

/// The scarf: a ring about the neck with a knot and two ends in front.
pub fn scarf(p: DVec3) -> f64 {
    let v = DVec3::new;
    let ring = Form::Ring { centre: v(0.0, 0.492, 0.004), radius: 0.092, tube: (0.036, 0.030) }.distance(p);
    let knot = Form::Ellipsoid { centre: v(0.0, 0.474, 0.130), radii: v(0.026, 0.024, 0.020) }.distance(p);
    let ends = Side::BOTH.map(|side| {
        let (a, b) = (side.mirror(v(0.008, 0.466, 0.132)), side.mirror(v(0.044, 0.420, 0.128)));
        Form::Cone { a, b, radius: (0.014, 0.028), normal: DVec3::Z, flat: 0.45 }.distance(p)
    });
    melt(melt(ring, knot, 0.01), ends[0].min(ends[1]), 0.008)
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

/// The open side of both ears, inside their rims.
pub fn inner_ear_region(p: DVec3) -> f64 {
    let side = if p.x > 0.0 { Side::Left } else { Side::Right };
    let (ear, normal) = (ear_line(side), ear_normal(side));
    let flat = |v: DVec3| v - normal * v.dot(normal);
    let inside = (0..3).map(|k| {
        let (q, axis) = (flat(p - ear[k]), flat(ear[k + 1] - ear[k]));
        let t = (q.dot(axis) / axis.length_squared()).clamp(0.0, 1.0);
        (q - axis * t).length() - 0.60 * (EAR_RADII[k] + (EAR_RADII[k + 1] - EAR_RADII[k]) * t)
    });
    let front = -normal.dot(p - ear[1]) - 0.002;
    inside.fold(f64::INFINITY, f64::min).max(front).max(0.80 - p.y)
}

/// The apron: bib, skirt, and a band about the waist.
pub fn apron_region(p: DVec3) -> f64 {
    let rounded = |x: f64, y: f64, half: (f64, f64), radius: f64| {
        let (dx, dy) = (x.abs() - half.0 + radius, y.abs() - half.1 + radius);
        dx.max(0.0).hypot(dy.max(0.0)) + dx.max(dy).min(0.0) - radius
    };
    let bib = rounded(p.x, p.y - 0.395, (0.066, 0.075), 0.02);
    let skirt = rounded(p.x, p.y - 0.245, (0.112, 0.080), 0.045);
    let band = ((p.y - 0.312).abs() - 0.016).max(p.x.abs() - 0.165);
    bib.min(skirt).max(0.03 - p.z).min(band)
}

/// Place on the fur's ramp: `PLAIN_FUR`, less on the cheeks, more on paws and ear tips.
pub fn fur_place(p: DVec3, plain: f64) -> f64 {
    let q = DVec3::new(p.x.abs(), p.y, p.z);
    let smooth = |low: f64, high: f64, x: f64| {
        let t = ((x - low) / (high - low)).clamp(0.0, 1.0);
        t * t * (3.0 - 2.0 * t)
    };
    let blush = 1.0 - smooth(0.018, 0.062, (q - DVec3::new(0.142, 0.604, 0.118)).length());
    let paws = 1.0 - smooth(0.050, 0.085, (q - DVec3::new(0.280, 0.284, 0.01)).length());
    let feet = 1.0 - smooth(0.045, 0.095, q.y);
    let ears = smooth(0.955, 1.05, q.y + 0.25 * (q.x - 0.25));
    plain - plain * blush + (1.0 - plain) * (0.9 * paws.max(feet) + 0.85 * ears).min(1.0)
}
