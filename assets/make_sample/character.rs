//! Puts the character together: which surfaces it has, on which joints, in which colours.

use super::body::{self, blobs, fur_place, smooth};
use super::colours::{APRON, CREAM, FUR, PLAIN_FUR};
use super::cut::{cut, raise};
use super::ear::ear;
use super::face::{eyes, muzzle, surface_in_front};
use super::field::project;
use super::mesh::{field_normals, polygonise};
use super::props::{hat, rolling_pin, scarf};
use super::rig::{HEAD, Part, Side, joint, joints};
use super::surface::{Surface, merge, pick, surface};
use super::weights::skin;
use glam::{DQuat, DVec3};

/// A mesh of the file.
pub struct Model {
    /// Its node's name.
    pub name: &'static str,
    /// For a rigid part the joint that carries it, and how its node sits on that joint.
    pub carrier: Option<(usize, DQuat, DVec3)>,
    /// Its surfaces.
    pub surfaces: Vec<Surface>,
}

/// Cell size of the body in metres: decides the vertex count.
const STEP: f64 = 0.0225;

/// All meshes of the character.
pub fn models() -> Vec<Model> {
    let (body, eyes) = body_and_eyes();
    let pin_grip = DVec3::new(-0.012, -0.012, 0.006);
    vec![
        Model { name: "Body", carrier: None, surfaces: body },
        Model { name: "Eyes", carrier: None, surfaces: eyes },
        Model {
            name: "Hat",
            carrier: Some((HEAD, DQuat::from_rotation_z(-0.13) * DQuat::from_rotation_x(-0.12), DVec3::new(0.012, 0.288, -0.012))),
            surfaces: hat(),
        },
        Model {
            name: "RollingPin",
            carrier: Some((joint(Side::Right, Part::Hand), DQuat::from_rotation_x(1.05), pin_grip)),
            surfaces: rolling_pin(),
        },
    ]
}

fn body_and_eyes() -> (Vec<Surface>, Vec<Surface>) {
    let (blobs, joints) = (blobs(), joints());
    let field = body::body(&blobs);
    let onto = |p| project(&field, p);
    let mut mesh = polygonise(&field, DVec3::new(-0.39, -0.03, -0.26), DVec3::new(0.40, 0.86, 0.24), STEP);
    let mut tags = vec![FUR; mesh.triangles.len()];
    cut(&mut mesh, &mut tags, CREAM, &body::muzzle_region, &onto);
    cut(&mut mesh, &mut tags, CREAM, &body::tail_region, &onto);
    cut(&mut mesh, &mut tags, APRON, &body::apron_region, &onto);
    mesh.normals = field_normals(&field, &mesh.positions);
    let influences = skin(&mesh, &blobs, &joints);

    let on_fur = |i: usize| fur_place(mesh.positions[i], PLAIN_FUR);
    let on_cream = |i: usize| 0.8 + 0.2 * smooth(0.54, 0.60, mesh.positions[i].y);
    let mut surfaces = vec![pick(&mesh, &tags, FUR, &influences, &on_fur), pick(&mesh, &tags, CREAM, &influences, &on_cream)];
    let (panel, origins) = raise(&mesh, &tags, APRON, 0.008);
    let on_panel = origins.iter().map(|&i| influences[i]).collect();
    surfaces.push(surface(APRON, panel, on_panel, 0.15, 0.40));

    for ear in Side::BOTH.into_iter().flat_map(ear) {
        merge(&mut surfaces, ear);
    }
    merge(&mut surfaces, scarf());
    let front = |x: f64, y: f64| surface_in_front(&field, x, y);
    muzzle(&front).into_iter().for_each(|part| merge(&mut surfaces, part));
    (surfaces, eyes(&front))
}
