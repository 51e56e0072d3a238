//! Puts the character together: which surfaces it has, on which joints, in which colours.

use super::body::{self, blobs};
use super::colours::{APRON, CREAM, FUR, INK, LINEN, PINK, PLAIN_FUR, SCARF, WHITE, WOOD, palette_uv};
use super::cut::{cut, raise};
use super::field::project;
use super::lathe::{ball, lathe, tube};
use super::mesh::{Mesh, field_normals, polygonise};
use super::rig::{HEAD, Part, Side, joint, joints};
use super::weights::{Influences, nearest, skin, whole};
use glam::{DMat3, DQuat, DVec3};
use std::collections::BTreeMap;

/// The surface of one material.
pub struct Surface {
    /// Index into `MATERIALS`.
    pub material: usize,
    /// Its geometry.
    pub mesh: Mesh,
    /// One a vertex.
    pub uvs: Vec<[f64; 2]>,
    /// One a vertex; empty for a rigid part.
    pub influences: Vec<Influences>,
    /// The vertices with the morph target at full weight, where there is one.
    pub morphed: Option<Mesh>,
}

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
const STEP: f64 = 0.0195;

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
    let mut mesh = polygonise(&field, DVec3::new(-0.39, -0.03, -0.26), DVec3::new(0.40, 1.09, 0.24), STEP);
    let mut tags = vec![FUR; mesh.triangles.len()];
    cut(&mut mesh, &mut tags, CREAM, &body::muzzle_region, &onto);
    cut(&mut mesh, &mut tags, CREAM, &body::tail_region, &onto);
    cut(&mut mesh, &mut tags, PINK, &body::inner_ear_region, &onto);
    cut(&mut mesh, &mut tags, APRON, &body::apron_region, &onto);
    mesh.normals = field_normals(&field, &mesh.positions);
    let influences = skin(&mesh, &blobs, &joints);

    let mut surfaces: Vec<Surface> = [FUR, CREAM, PINK].into_iter().map(|tag| pick(&mesh, &tags, tag, &influences)).collect();
    let (panel, origins) = raise(&mesh, &tags, APRON, 0.008);
    let on_panel = origins.iter().map(|&i| influences[i]).collect();
    surfaces.push(surface(APRON, panel, on_panel, 0.15, 0.40));

    let scarf = polygonise(&body::scarf, DVec3::new(-0.15, 0.37, -0.15), DVec3::new(0.15, 0.54, 0.17), 0.0165);
    let on_scarf = scarf.positions.iter().map(|&p| nearest(&mesh, &influences, p)).collect();
    surfaces.push(surface(SCARF, scarf, on_scarf, 0.40, 0.50));

    // The face: a nose, a mouth of two arcs, and two teeth.
    let front = |x: f64, y: f64| surface_in_front(&field, x, y);
    let nose = ball(front(0.0, 0.622) + DVec3::new(0.0, 0.0, 0.002), DVec3::new(0.023, 0.015, 0.014), 14, 8);
    merge(&mut surfaces[2], head_surface(PINK, nose, 0.60, 0.63));
    let mut mouth = Mesh::default();
    for side in Side::BOTH {
        let arc: Vec<DVec3> = (0..=8)
            .map(|k| {
                let t = f64::from(k) / 8.0;
                front(side.sign() * 0.036 * t, 0.594 - 0.014 * (1.0 - (2.0 * t - 1.0).powi(2)) + 0.008 * t * t)
            })
            .collect();
        mouth.append(&tube(&arc, 0.0034, 6));
    }
    surfaces.push(head_surface(INK, mouth, 0.0, 0.5));
    let mut teeth = Mesh::default();
    for side in Side::BOTH {
        let root = front(side.sign() * 0.0085, 0.580);
        teeth.append(&block(root, DVec3::new(0.0075, 0.011, 0.005)));
    }
    surfaces.push(head_surface(WHITE, teeth, 0.0, 0.5));
    let eyes = Side::BOTH.map(|side| eye(&front, side));
    (surfaces, join_eyes(eyes))
}

/// Where a ray from the front at (x, y) meets the body.
fn surface_in_front(field: &dyn Fn(DVec3) -> f64, x: f64, y: f64) -> DVec3 {
    let (mut near, mut far) = (0.30, 0.0);
    for _ in 0..40 {
        let z = 0.5 * (near + far);
        if field(DVec3::new(x, y, z)) < 0.0 { far = z } else { near = z }
    }
    DVec3::new(x, y, near)
}

/// One eye with its two highlights, open and closed.
fn eye(front: &dyn Fn(f64, f64) -> DVec3, side: Side) -> [(Mesh, Mesh); 2] {
    let at = |dx: f64, dy: f64| front(side.sign() * 0.079 + dx, 0.667 + dy);
    let centre = at(0.0, 0.0);
    let normal = (at(0.01, 0.0) - at(-0.01, 0.0)).cross(at(0.0, 0.01) - at(0.0, -0.01)).normalize();
    let across = DVec3::Y.cross(normal).normalize();
    let frame = DMat3::from_cols(across, normal.cross(across), normal);
    let place = |p: DVec3| centre + frame * p;
    let (open, radii) = (ball(DVec3::ZERO, DVec3::new(0.0265, 0.0385, 0.015), 18, 12), DVec3::new(0.0265, 0.0385, 0.015));
    // Closed: a thin, smiling arc.
    let close = |p: DVec3| DVec3::new(p.x * 1.12, p.y * 0.13 + 0.013 * (0.4 - (p.x / radii.x).powi(2)), p.z * 0.62 + 0.003);
    let mut shine = ball(DVec3::new(-0.007, 0.0150, 0.0110), DVec3::new(0.0085, 0.0095, 0.0055), 10, 6);
    shine.append(&ball(DVec3::new(0.009, -0.0150, 0.0105), DVec3::new(0.0045, 0.0045, 0.0045), 8, 5));
    let hide = |p: DVec3| DVec3::new(p.x, p.y * 0.2, p.z * 0.5 - 0.012);
    [(open.clone().map(place), open.map(|p| place(close(p)))), (shine.clone().map(place), shine.map(|p| place(hide(p))))]
}

fn join_eyes(eyes: [[(Mesh, Mesh); 2]; 2]) -> Vec<Surface> {
    let [[left, left_shine], [right, right_shine]] = eyes;
    [(INK, left, right), (WHITE, left_shine, right_shine)]
        .into_iter()
        .map(|(material, (mut open, mut closed), other)| {
            open.append(&other.0);
            closed.append(&other.1);
            Surface { morphed: Some(closed), ..head_surface(material, open, 0.60, 0.70) }
        })
        .collect()
}

/// A baker's hat: a band with hard edges and a pleated crown. Its origin is the middle of the band's lower edge.
fn hat() -> Vec<Surface> {
    let pleat = |depth: f64| {
        move |p: DVec3, angle: f64| {
            let amount = depth * ((p.y - 0.075) / 0.05).clamp(0.0, 1.0) * (9.0 * angle).cos();
            DVec3::new(p.x * (1.0 + amount), p.y, p.z * (1.0 + amount))
        }
    };
    let crown = lathe(
        &[&[
            (0.080, 0.066),
            (0.098, 0.082),
            (0.118, 0.105),
            (0.127, 0.130),
            (0.123, 0.154),
            (0.106, 0.173),
            (0.078, 0.184),
            (0.040, 0.188),
            (0.0, 0.189),
        ]],
        54,
        pleat(0.045),
    );
    let band = lathe(&[&[(0.078, 0.0), (0.083, 0.0)], &[(0.083, 0.0), (0.084, 0.066)], &[(0.084, 0.066), (0.078, 0.068)]], 32, |p, _| p);
    let ribbon = lathe(
        &[&[(0.0835, 0.010), (0.0862, 0.010)], &[(0.0862, 0.010), (0.0866, 0.026)], &[(0.0866, 0.026), (0.0838, 0.026)]],
        32,
        |p, _| p,
    );
    let mut linen = surface(LINEN, crown, Vec::new(), 0.02, 0.15);
    merge(&mut linen, surface(LINEN, band, Vec::new(), -0.02, 0.06));
    vec![linen, surface(SCARF, ribbon, Vec::new(), -0.02, 0.02)]
}

/// A rolling pin along Y, held by its lower handle: the origin is in the hand.
fn rolling_pin() -> Vec<Surface> {
    let handle = |from: f64, to: f64| {
        let at = |t: f64| from + (to - from) * t;
        [(0.0, at(0.0)), (0.008, at(0.02)), (0.0125, at(0.14)), (0.0125, at(0.35)), (0.0095, at(0.75)), (0.0105, at(1.0))]
    };
    let lower = handle(-0.050, 0.052);
    let mut upper = handle(0.272, 0.202);
    upper.reverse();
    let barrel: [&[(f64, f64)]; 5] = [
        &[(0.0105, 0.052), (0.026, 0.052)],
        &[(0.026, 0.052), (0.030, 0.056)],
        &[(0.030, 0.056), (0.030, 0.198)],
        &[(0.030, 0.198), (0.026, 0.202)],
        &[(0.026, 0.202), (0.0105, 0.202)],
    ];
    let handles = lathe(&[&lower, &upper], 16, |p, _| p);
    let barrel = lathe(&barrel, 24, |p, _| p);
    let mut wood = surface(WOOD, barrel, Vec::new(), -0.2, 0.2);
    merge(&mut wood, surface(WOOD, handles, Vec::new(), 0.3, 0.5));
    vec![wood]
}

/// A box about `centre` with hard edges.
fn block(centre: DVec3, half: DVec3) -> Mesh {
    let mut mesh = Mesh::default();
    for axis in 0..3 {
        for sign in [-1.0, 1.0] {
            let (mut n, mut u, mut v) = (DVec3::ZERO, DVec3::ZERO, DVec3::ZERO);
            (n[axis], u[(axis + 1) % 3], v[(axis + 2) % 3]) = (sign, sign, 1.0);
            let positions = [-u - v, u - v, u + v, v - u].map(|d| centre + (n + d) * half).to_vec();
            mesh.append(&Mesh { positions, normals: vec![n; 4], triangles: vec![[0, 1, 2], [0, 2, 3]] });
        }
    }
    mesh
}

/// A surface shaded from `dark` to `light` metres of height.
fn surface(material: usize, mesh: Mesh, influences: Vec<Influences>, dark: f64, light: f64) -> Surface {
    let uvs = mesh.positions.iter().map(|p| palette_uv(material, (p.y - dark) / (light - dark))).collect();
    Surface { material, mesh, uvs, influences, morphed: None }
}

/// The same, carried by the head.
fn head_surface(material: usize, mesh: Mesh, dark: f64, light: f64) -> Surface {
    let influences = vec![whole(HEAD); mesh.positions.len()];
    surface(material, mesh, influences, dark, light)
}

/// Adds `other` to `into`, which keeps its material.
fn merge(into: &mut Surface, other: Surface) {
    into.mesh.append(&other.mesh);
    into.uvs.extend(other.uvs);
    into.influences.extend(other.influences);
}

/// The triangles tagged `tag` with the vertices that they use.
fn pick(mesh: &Mesh, tags: &[usize], tag: usize, influences: &[Influences]) -> Surface {
    let (mut part, mut from, mut index) = (Mesh::default(), Vec::new(), BTreeMap::new());
    for t in mesh.triangles.iter().zip(tags).filter(|(_, t)| **t == tag).map(|(t, _)| *t) {
        let corners = t.map(|i| {
            *index.entry(i).or_insert_with(|| {
                part.positions.push(mesh.positions[i]);
                part.normals.push(mesh.normals[i]);
                from.push(influences[i]);
                part.positions.len() - 1
            })
        });
        part.triangles.push(corners);
    }
    let place = |p: &DVec3| if tag == FUR { body::fur_place(*p, PLAIN_FUR) } else { 0.8 + 0.2 * smoothed(p.y) };
    let uvs = part.positions.iter().map(|p| palette_uv(tag, place(p))).collect();
    Surface { material: tag, mesh: part, uvs, influences: from, morphed: None }
}

/// 0 at the chin's height, 1 above the muzzle.
fn smoothed(y: f64) -> f64 {
    ((y - 0.54) / 0.06).clamp(0.0, 1.0)
}
