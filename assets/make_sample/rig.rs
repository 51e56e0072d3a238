//! The skeleton: joint names, parents and rest positions, in metres, +Y up, facing +Z, the character's left at +X.
//!
//! No joint is rotated at rest, so that a rotation in a clip turns about the world's axes as seen in the rest pose.

use glam::DVec3;

/// Pelvis, the root of the skeleton.
pub const HIPS: usize = 0;
/// From the waist to the neck.
pub const SPINE: usize = 1;
/// Everything above the neck but the ears.
pub const HEAD: usize = 2;
/// The tuft behind.
pub const TAIL: usize = 3;
/// Number of joints.
pub const JOINTS: usize = 4 + 2 * PARTS.len();

/// A part that comes in pairs. The ear has three segments so that it can trail behind the head.
#[derive(Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Part {
    Ear,
    EarMiddle,
    EarTip,
    Arm,
    Forearm,
    Hand,
    Thigh,
    Shin,
    Foot,
}

/// Every paired part: name, parent, and where the left one starts.
const PARTS: [(Part, &str, Option<Part>, DVec3); 9] = [
    (Part::Ear, "Ear", None, DVec3::new(0.100, 0.775, -0.020)),
    (Part::EarMiddle, "EarMiddle", Some(Part::Ear), DVec3::new(0.165, 0.890, -0.030)),
    (Part::EarTip, "EarTip", Some(Part::EarMiddle), DVec3::new(0.235, 0.980, -0.030)),
    (Part::Arm, "Arm", None, DVec3::new(0.095, 0.435, 0.000)),
    (Part::Forearm, "Forearm", Some(Part::Arm), DVec3::new(0.190, 0.360, 0.000)),
    (Part::Hand, "Hand", Some(Part::Forearm), DVec3::new(0.270, 0.292, 0.004)),
    (Part::Thigh, "Thigh", None, DVec3::new(0.078, 0.215, 0.000)),
    (Part::Shin, "Shin", Some(Part::Thigh), DVec3::new(0.084, 0.132, 0.012)),
    (Part::Foot, "Foot", Some(Part::Shin), DVec3::new(0.086, 0.055, -0.004)),
];

/// Which half of the body.
#[derive(Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Side {
    Left,
    Right,
}

impl Side {
    /// Both, in joint order.
    pub const BOTH: [Side; 2] = [Side::Left, Side::Right];

    /// +1 for the left (+X), -1 for the right.
    pub fn sign(self) -> f64 {
        if self == Side::Left { 1.0 } else { -1.0 }
    }

    /// `point`, given for the left half, on this half.
    pub fn mirror(self, point: DVec3) -> DVec3 {
        DVec3::new(point.x * self.sign(), point.y, point.z)
    }
}

/// One joint of the skeleton.
pub struct Joint {
    /// Its node's name.
    pub name: String,
    /// Index of its parent; the hips have none.
    pub parent: Option<usize>,
    /// Where it is at rest.
    pub position: DVec3,
}

/// Index of a paired joint.
pub fn joint(side: Side, part: Part) -> usize {
    4 + PARTS.len() * (side == Side::Right) as usize + part as usize
}

/// The skeleton, parents before children.
pub fn joints() -> Vec<Joint> {
    let single = |name: &str, parent, position| Joint { name: name.into(), parent, position };
    let mut joints = vec![
        single("Hips", None, DVec3::new(0.0, 0.255, 0.0)),
        single("Spine", Some(HIPS), DVec3::new(0.0, 0.325, -0.005)),
        single("Head", Some(SPINE), DVec3::new(0.0, 0.500, -0.005)),
        single("Tail", Some(HIPS), DVec3::new(0.0, 0.225, -0.110)),
    ];
    for side in Side::BOTH {
        let suffix = if side == Side::Left { "L" } else { "R" };
        for (part, name, parent, position) in PARTS {
            let parent = match (parent, part) {
                (Some(parent), _) => joint(side, parent),
                (None, Part::Ear) => HEAD,
                (None, Part::Arm) => SPINE,
                (None, _) => HIPS,
            };
            joints.push(Joint { name: format!("{name}{suffix}"), parent: Some(parent), position: side.mirror(position) });
        }
    }
    joints
}
