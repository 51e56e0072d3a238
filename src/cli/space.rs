//! Guesses from a box: which way is up, and which unit was meant.

use serde::Serialize;

use crate::Result;
use crate::options::Options;
use crate::plan::build::build_mesh;
use crate::pose::{Poser, sample_times};
use crate::scene::Scene;
use crate::skin::rest::RestPose;
use crate::warning::Warnings;

/// A box stands on an axis whose lower end is this near to 0, in parts of its extent.
const GROUND: f32 = 0.05;

/// Box and guesses.
#[derive(Debug, Serialize)]
pub struct Space {
    /// Box of the rest pose, metres.
    pub rest: [[f32; 3]; 2],
    /// Box of all animated positions and the rest pose, metres; absent where a bake fails.
    pub animated: Option<[[f32; 3]; 2]>,
    /// Extent of the rest pose along +Y, metres.
    pub height: f32,
    /// `+y` as glTF has it, `+z` where the model seems to lie on its back, or `unclear`.
    pub up: &'static str,
    /// `metres`, `centimetres`, `millimetres` or `unclear`.
    pub unit: &'static str,
    /// Factor that `--scale` would want, where the unit is not the metre.
    pub scale: Option<f64>,
}

/// Box of what the scene shows when nothing plays.
pub fn rest_box(scene: &Scene) -> Result<[[f32; 3]; 2]> {
    let mesh = build_mesh(scene, &Options::default(), &mut Warnings::default())?;
    let poser = Poser::new(scene, &mesh.palette, &mesh.weights, 1.0, None);
    let (min, max) = RestPose::new(&mesh, sample_times(&poser, &[(None, 0.0)]).as_ref()).bounds();
    Ok([min.to_array(), max.to_array()])
}

/// Which way is up and which unit was meant, as far as the rest pose's box can tell.
pub fn guess_space(rest: [[f32; 3]; 2], animated: Option<[[f32; 3]; 2]>) -> Space {
    let [min, max] = rest;
    let extent = |axis: usize| max[axis] - min[axis];
    // What stands on the ground has 0 at the lower end of its up-axis; across it, it is about symmetric.
    let stands = |axis: usize| extent(axis) > 0.0 && min[axis].abs() <= GROUND * extent(axis);
    let up = match (stands(1), stands(2)) {
        (true, _) => "+y",
        (false, true) => "+z",
        (false, false) => "unclear",
    };
    let height = extent(1);
    // From a mouse to a dragon in metres; what is larger or smaller by the usual factors was meant in another unit.
    let (unit, scale) = match height {
        h if (0.05..20.0).contains(&h) => ("metres", None),
        h if (20.0..500.0).contains(&h) => ("centimetres", Some(0.01)),
        h if (500.0..5000.0).contains(&h) => ("millimetres", Some(0.001)),
        _ => ("unclear", None),
    };
    Space { rest, animated, height, up, unit, scale }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_tell_unit_and_up_axis() {
        let fox = guess_space([[-12.5, -0.1, -88.0], [12.5, 78.9, 66.0]], None);
        assert_eq!((fox.up, fox.unit, fox.scale), ("+y", "centimetres", Some(0.01)));
        let man = guess_space([[-0.5, 0.0, -0.2], [0.5, 1.8, 0.2]], None);
        assert_eq!((man.up, man.unit, man.scale), ("+y", "metres", None));
        let lying = guess_space([[-0.5, -0.2, 0.0], [0.5, 0.2, 1.8]], None);
        assert_eq!(lying.up, "+z");
        assert_eq!(guess_space([[0.0; 3], [0.0; 3]], None).unit, "unclear");
    }
}
