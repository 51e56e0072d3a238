// Plays a vertex animation texture of vatbake (format version 1). `vatbake shader wgsl` prints this file.
//
// Each instance carries one vec4, the clip that it plays:
//
//   x  first_frame        clips[].first_frame
//   y  intervals          clips[].frame_count - 1; negative: play once and hold the last frame
//   z  frames_per_second  clips[].fps; 0: show the frame of the clip that w names (3.5 is half way from 3 to 4)
//   w  start_time         seconds at which the clip began, by the clock that `now` shows
//
// Each bake has the uniforms of VatBake, all from its sidecar (NAME.vat.json). Textures are linear data, without filtering, mip
// maps or compression. `now` is in seconds, set back to 0 every few minutes by the host: 32-bit seconds jitter after hours.
//
//   let pose = vat_pose(vat_bake, rest, uv, clip, now);        // POSITION and lookup UV of the vertex, clip of the instance
//   let before = vat_pose(vat_bake, rest, uv, clip, earlier);  // the previous frame's time: motion vectors
//   let faded = vat_mix(vat_pose(vat_bake, rest, uv, walk, now), vat_pose(vat_bake, rest, uv, run, now), 0.3);  // cross-fade
//
// Everything down to "The fetch" is fixed by the format; the fetch is yours to adapt. The other languages' files are ports of
// this one and tested against it.

// textures[].encoding of the position
const VAT_OFFSET_UNORM = 0u;
const VAT_ABSOLUTE_UNORM = 1u;
const VAT_OFFSET_FLOAT = 2u;
const VAT_ABSOLUTE_FLOAT = 3u;
// textures[].encoding of the normal and the tangent
const VAT_UNIT_UNORM = 0u;
const VAT_UNIT_FLOAT = 1u;
const VAT_ALPHA_OCTAHEDRAL = 2u;

struct VatBake {
    scale: vec3f,            // scale of the texture whose role is position; not read for float encodings
    width: u32,              // layout.width
    bias: vec3f,             // bias of the same texture
    frames: u32,             // frame_count of the bake, not of a clip
    lanes: u32,              // mesh.lookup.lanes
    groups: u32,             // mesh.lookup.groups
    position_encoding: u32,  // one of the constants above
    normal_encoding: u32,
}

struct VatFrames {
    first: u32,   // two frames of the bake
    second: u32,
    blend: f32,   // 0 is the first, 1 the second; floor(blend) where the clip is `stepped` and must not be blended
}

struct VatPose {
    position: vec3f,
    normal: vec3f,
}

// Which vertex this is. The lookup UV names it, however the mesh was split or reordered.
fn vat_vertex(bake: VatBake, uv: vec2f) -> u32 {
    return u32(uv.x * f32(bake.lanes)) + bake.lanes * u32(uv.y * f32(bake.groups));
}

// Column and row of its texel in a frame of the bake. Row 0 is the top row of the image.
fn vat_texel(bake: VatBake, vertex: u32, frame: u32) -> vec2u {
    return vec2u(vertex % bake.width, vertex / bake.width * bake.frames + frame);
}

// How far the clip is, in frames: 0 to `period`.
fn vat_progress(clip: vec4f, now: f32, period: f32) -> f32 {
    if clip.z == 0.0 {
        return clip.w;
    }
    let x = (now - clip.w) * clip.z;
    if clip.y > 0.0 {
        return x - floor(x / period) * period;
    }
    return clamp(x, 0.0, period);
}

// The frames on both sides of `x`, which is counted from the first frame of the clip.
fn vat_around(clip: vec4f, x: f32) -> VatFrames {
    let intervals = abs(clip.y);
    let inside = clamp(x, 0.0, intervals);
    let below = min(floor(inside), max(intervals - 1.0, 0.0));
    let above = min(below + 1.0, intervals);
    return VatFrames(u32(clip.x + below), u32(clip.x + above), inside - below);
}

// What a clip shows at a time: over and over, or once where clip.y is negative.
fn vat_frames(clip: vec4f, now: f32) -> VatFrames {
    return vat_around(clip, vat_progress(clip, now, abs(clip.y)));
}

// The same forth and back: to be called instead of vat_frames. Once means forth and back once.
fn vat_frames_ping_pong(clip: vec4f, now: f32) -> VatFrames {
    let intervals = abs(clip.y);
    if clip.z == 0.0 {
        return vat_around(clip, clip.w);
    }
    return vat_around(clip, intervals - abs(vat_progress(clip, now, 2.0 * intervals) - intervals));
}

// Length 1. Opposite directions may blend to 0, which has none: +Z then, instead of a hole in the picture.
fn vat_unit(v: vec3f) -> vec3f {
    let square = dot(v, v);
    return select(vec3f(0.0, 0.0, 1.0), v / sqrt(square), square > 0.0);
}

// A texel to a position. `texel` is 0 to 1 for the unorm encodings. `rest` is the vertex's POSITION in the GLB.
fn vat_position(bake: VatBake, texel: vec4f, rest: vec3f) -> vec3f {
    let encoding = bake.position_encoding;
    var value = texel.xyz;
    if encoding == VAT_OFFSET_UNORM || encoding == VAT_ABSOLUTE_UNORM {
        value = value * bake.scale + bake.bias;
    }
    if encoding == VAT_OFFSET_UNORM || encoding == VAT_OFFSET_FLOAT {
        value = rest + value;
    }
    return value;
}

// Two bytes in the position's alpha, low byte x, high byte y, to a direction: the octahedron unfolded to a square.
fn vat_octahedral(alpha: f32) -> vec3f {
    let bits = floor(alpha * 65535.0 + 0.5);
    let high = floor(bits / 256.0);
    let e = vec2f(bits - high * 256.0, high) / 255.0 * 2.0 - 1.0;
    let z = 1.0 - abs(e.x) - abs(e.y);
    let folded = (1.0 - abs(e.yx)) * select(vec2f(-1.0), vec2f(1.0), e >= vec2f(0.0));
    return vat_unit(vec3f(select(e, folded, z < 0.0), z));
}

// A texel to a normal or a tangent. With alpha-octahedral it is the position's texel.
fn vat_direction(encoding: u32, texel: vec4f) -> vec3f {
    if encoding == VAT_ALPHA_OCTAHEDRAL {
        return vat_octahedral(texel.w);
    }
    if encoding == VAT_UNIT_FLOAT {
        return vat_unit(texel.xyz);
    }
    return vat_unit(texel.xyz * 2.0 - 1.0);
}

// Between two poses: of neighbouring frames, or of two clips for a cross-fade.
fn vat_mix(a: VatPose, b: VatPose, amount: f32) -> VatPose {
    return VatPose(mix(a.position, b.position, amount), vat_unit(mix(a.normal, b.normal, amount)));
}

// One vertex in one frame of the bake. A texture of tangents is read like that of normals; its handedness is the mesh's TANGENT w.
fn vat_frame(bake: VatBake, rest: vec3f, vertex: u32, frame: u32) -> VatPose {
    let at = vat_texel(bake, vertex, frame);
    let p = vat_fetch_position(at);
    var n = p;
    if bake.normal_encoding != VAT_ALPHA_OCTAHEDRAL {
        n = vat_fetch_normal(at);
    }
    return VatPose(vat_position(bake, p, rest), vat_direction(bake.normal_encoding, n));
}

// One vertex at a time. `rest` and `uv` are its POSITION and lookup UV in the GLB, `clip` the vec4 of the instance.
fn vat_pose(bake: VatBake, rest: vec3f, uv: vec2f, clip: vec4f, now: f32) -> VatPose {
    let vertex = vat_vertex(bake, uv);
    let frames = vat_frames(clip, now);
    return vat_mix(vat_frame(bake, rest, vertex, frames.first), vat_frame(bake, rest, vertex, frames.second), frames.blend);
}

// ---- The fetch: adapt what follows ----
//
// For textures uploaded as rgba16uint (textures[].upload). For rgba8unorm, rgba16float and rgba32float: texture_2d<f32>, and
// return the texel as it is. Without a texture of normals: return vec4f(0.5, 0.5, 1.0, 1.0), and use the mesh's NORMAL.

@group(0) @binding(0) var<uniform> vat_bake: VatBake;
@group(0) @binding(1) var vat_positions: texture_2d<u32>;
@group(0) @binding(2) var vat_normals: texture_2d<u32>;

fn vat_fetch_position(at: vec2u) -> vec4f {
    return vec4f(textureLoad(vat_positions, at, 0)) / 65535.0;
}

fn vat_fetch_normal(at: vec2u) -> vec4f {
    return vec4f(textureLoad(vat_normals, at, 0)) / 65535.0;
}
