// ---- The fetch in Bevy, and what else a material binds (vat_plugin.rs fills it in) ----

struct VatMaterial {
    bake: VatBake,
    tangent_encoding: u32,
    has_normals: u32,   // 0: the mesh's own NORMAL is shown
    has_tangents: u32,  // 0: the mesh's own TANGENT, made perpendicular to the normal
    slots: u32,
}

// What an instance plays: `clip`, faded in over `from` from `fade.x` on for `fade.y` seconds (0: no fade). `fade.z` and `fade.w`
// are not 0 where `clip` or `from` is `stepped` and must not be blended.
struct VatSlot {
    clip: vec4f,
    from_clip: vec4f,
    fade: vec4f,
}

@group(#{MATERIAL_BIND_GROUP}) @binding(100) var<uniform> vat_material: VatMaterial;
@group(#{MATERIAL_BIND_GROUP}) @binding(101) var vat_positions: texture_2d<f32>;
@group(#{MATERIAL_BIND_GROUP}) @binding(102) var vat_normals: texture_2d<f32>;
@group(#{MATERIAL_BIND_GROUP}) @binding(103) var vat_tangents: texture_2d<f32>;
@group(#{MATERIAL_BIND_GROUP}) @binding(104) var<storage, read> vat_slots: array<VatSlot>;

fn vat_fetch_position(at: vec2u) -> vec4f {
    return textureLoad(vat_positions, at, 0);
}

fn vat_fetch_normal(at: vec2u) -> vec4f {
    if vat_material.has_normals == 0u {
        return vec4f(0.5, 0.5, 1.0, 1.0);
    }
    return textureLoad(vat_normals, at, 0);
}

fn vat_fetch_tangent(at: vec2u) -> vec4f {
    return textureLoad(vat_tangents, at, 0);
}

// The slot of an instance is its MeshTag.
fn vat_slot(tag: u32) -> VatSlot {
    return vat_slots[min(tag, vat_material.slots - 1u)];
}

fn vat_shown(clip: vec4f, stepped: f32, now: f32) -> VatFrames {
    var frames = vat_frames(clip, now);
    if stepped != 0.0 {
        frames.blend = floor(frames.blend);
    }
    return frames;
}

// 0: only the clip faded from; 1: only the clip.
fn vat_fade(slot: VatSlot, now: f32) -> f32 {
    if slot.fade.y <= 0.0 {
        return 1.0;
    }
    return clamp((now - slot.fade.x) / slot.fade.y, 0.0, 1.0);
}

fn vat_pose_between(rest: vec3f, vertex: u32, frames: VatFrames) -> VatPose {
    let bake = vat_material.bake;
    return vat_mix(vat_frame(bake, rest, vertex, frames.first), vat_frame(bake, rest, vertex, frames.second), frames.blend);
}

// Position and normal of a vertex of an instance. `rest` and `uv` are its POSITION and its second UV set.
fn vat_slot_pose(slot: VatSlot, rest: vec3f, uv: vec2f, now: f32) -> VatPose {
    let vertex = vat_vertex(vat_material.bake, uv);
    let pose = vat_pose_between(rest, vertex, vat_shown(slot.clip, slot.fade.z, now));
    let amount = vat_fade(slot, now);
    if amount >= 1.0 {
        return pose;
    }
    return vat_mix(vat_pose_between(rest, vertex, vat_shown(slot.from_clip, slot.fade.w, now)), pose, amount);
}

fn vat_tangent_between(vertex: u32, frames: VatFrames) -> vec3f {
    let bake = vat_material.bake;
    let a = vat_direction(vat_material.tangent_encoding, vat_fetch_tangent(vat_texel(bake, vertex, frames.first)));
    let b = vat_direction(vat_material.tangent_encoding, vat_fetch_tangent(vat_texel(bake, vertex, frames.second)));
    return vat_unit(mix(a, b, frames.blend));
}

// Its tangent; w stays that of the mesh. `normal` is the one that is shown.
fn vat_slot_tangent(slot: VatSlot, tangent: vec4f, normal: vec3f, uv: vec2f, now: f32) -> vec4f {
    if vat_material.has_tangents == 0u {
        let across = tangent.xyz - normal * dot(normal, tangent.xyz);
        return vec4f(select(tangent.xyz, normalize(across), dot(across, across) > 1e-12), tangent.w);
    }
    let vertex = vat_vertex(vat_material.bake, uv);
    let shown = vat_tangent_between(vertex, vat_shown(slot.clip, slot.fade.z, now));
    let amount = vat_fade(slot, now);
    if amount >= 1.0 {
        return vec4f(shown, tangent.w);
    }
    let before = vat_tangent_between(vertex, vat_shown(slot.from_clip, slot.fade.w, now));
    return vec4f(vat_unit(mix(before, shown, amount)), tangent.w);
}
