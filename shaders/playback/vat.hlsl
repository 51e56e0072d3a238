// Plays a vertex animation texture of vatbake (format version 1), in HLSL (shader model 4 and up; Unity's HLSLPROGRAM too). To be
// included before the vertex shader. `vatbake shader hlsl` prints this file: a port of vat.wgsl, tested against it.
//
// Each instance carries one float4, the clip that it plays:
//
//   x  first_frame        clips[].first_frame
//   y  intervals          clips[].frame_count - 1; negative: play once and hold the last frame
//   z  frames_per_second  clips[].fps; 0: show the frame of the clip that w names (3.5 is half way from 3 to 4)
//   w  start_time         seconds at which the clip began, by the clock that `now` shows
//
// Each bake has the uniforms of VatBake, all from its sidecar (NAME.vat.json). Textures are linear data, without filtering, mip
// maps or compression, and row 0 is the top row of the image: an engine that turns images over (Unity) has the rows to turn back in
// the fetch. `now` is in seconds, set back to 0 every few minutes by the host: 32-bit seconds jitter after hours.
//
//   VatPose pose = vat_pose(vat_bake, rest, uv, clip, now);        // POSITION and lookup UV of the vertex, clip of the instance
//   VatPose before = vat_pose(vat_bake, rest, uv, clip, earlier);  // the previous frame's time: motion vectors
//   VatPose faded = vat_mix(vat_pose(vat_bake, rest, uv, walk, now), vat_pose(vat_bake, rest, uv, run, now), 0.3);  // cross-fade

// textures[].encoding of the position
static const uint VAT_OFFSET_UNORM = 0;
static const uint VAT_ABSOLUTE_UNORM = 1;
static const uint VAT_OFFSET_FLOAT = 2;
static const uint VAT_ABSOLUTE_FLOAT = 3;
// textures[].encoding of the normal and the tangent
static const uint VAT_UNIT_UNORM = 0;
static const uint VAT_UNIT_FLOAT = 1;
static const uint VAT_ALPHA_OCTAHEDRAL = 2;

struct VatBake {
    float3 scale;            // scale of the texture whose role is position; not read for float encodings
    uint width;              // layout.width
    float3 bias;             // bias of the same texture
    uint frames;             // frame_count of the bake, not of a clip
    uint lanes;              // mesh.lookup.lanes
    uint groups;             // mesh.lookup.groups
    uint position_encoding;  // one of the constants above
    uint normal_encoding;
};

// ---- The fetch: define both macros before this file, or adapt what follows ----
//
// For textures that a shader sees as floats: R16G16B16A16_UNORM (rgba16unorm), R8G8B8A8_UNORM, half and float. Without a texture of
// normals: float4(0.5, 0.5, 1.0, 1.0), and use the mesh's NORMAL.
#ifndef VAT_FETCH_POSITION
cbuffer VatBakeBuffer { VatBake vat_bake; };
Texture2D<float4> vat_positions;
Texture2D<float4> vat_normals;
#define VAT_FETCH_POSITION(at) vat_positions.Load(int3(at, 0))
#define VAT_FETCH_NORMAL(at) vat_normals.Load(int3(at, 0))
#endif

// ---- What follows is fixed by the format ----

struct VatFrames {
    uint first;   // two frames of the bake
    uint second;
    float blend;  // 0 is the first, 1 the second; floor(blend) where the clip is `stepped` and must not be blended
};

struct VatPose {
    float3 position;
    float3 normal;
};

// Which vertex this is. The lookup UV names it, however the mesh was split or reordered.
uint vat_vertex(VatBake bake, float2 uv) {
    return uint(uv.x * float(bake.lanes)) + bake.lanes * uint(uv.y * float(bake.groups));
}

// Column and row of its texel in a frame of the bake. Row 0 is the top row of the image.
uint2 vat_texel(VatBake bake, uint vertex, uint frame) {
    return uint2(vertex % bake.width, vertex / bake.width * bake.frames + frame);
}

// How far the clip is, in frames: 0 to `period`.
float vat_progress(float4 clip, float now, float period) {
    if (clip.z == 0.0) {
        return clip.w;
    }
    float x = (now - clip.w) * clip.z;
    if (clip.y > 0.0) {
        return x - floor(x / period) * period;
    }
    return clamp(x, 0.0, period);
}

// The frames on both sides of `x`, which is counted from the first frame of the clip.
VatFrames vat_around(float4 clip, float x) {
    float intervals = abs(clip.y);
    float inside = clamp(x, 0.0, intervals);
    float below = min(floor(inside), max(intervals - 1.0, 0.0));
    float above = min(below + 1.0, intervals);
    VatFrames frames;
    frames.first = uint(clip.x + below);
    frames.second = uint(clip.x + above);
    frames.blend = inside - below;
    return frames;
}

// What a clip shows at a time: over and over, or once where clip.y is negative.
VatFrames vat_frames(float4 clip, float now) {
    return vat_around(clip, vat_progress(clip, now, abs(clip.y)));
}

// The same forth and back: to be called instead of vat_frames. Once means forth and back once.
VatFrames vat_frames_ping_pong(float4 clip, float now) {
    float intervals = abs(clip.y);
    if (clip.z == 0.0) {
        return vat_around(clip, clip.w);
    }
    return vat_around(clip, intervals - abs(vat_progress(clip, now, 2.0 * intervals) - intervals));
}

// Length 1. Opposite directions may blend to 0, which has none: +Z then, instead of a hole in the picture.
float3 vat_unit(float3 v) {
    float square = dot(v, v);
    if (square > 0.0) {
        return v / sqrt(square);
    }
    return float3(0.0, 0.0, 1.0);
}

// A texel to a position. `texel` is 0 to 1 for the unorm encodings. `rest` is the vertex's POSITION in the GLB.
float3 vat_position(VatBake bake, float4 texel, float3 rest) {
    uint encoding = bake.position_encoding;
    float3 value = texel.xyz;
    if (encoding == VAT_OFFSET_UNORM || encoding == VAT_ABSOLUTE_UNORM) {
        value = value * bake.scale + bake.bias;
    }
    if (encoding == VAT_OFFSET_UNORM || encoding == VAT_OFFSET_FLOAT) {
        value = rest + value;
    }
    return value;
}

// Two bytes in the position's alpha, low byte x, high byte y, to a direction: the octahedron unfolded to a square.
float3 vat_octahedral(float alpha) {
    float bits = floor(alpha * 65535.0 + 0.5);
    float high = floor(bits / 256.0);
    float2 e = float2(bits - high * 256.0, high) / 255.0 * 2.0 - 1.0;
    float z = 1.0 - abs(e.x) - abs(e.y);
    if (z < 0.0) {
        e = (1.0 - abs(e.yx)) * float2(e.x >= 0.0 ? 1.0 : -1.0, e.y >= 0.0 ? 1.0 : -1.0);
    }
    return vat_unit(float3(e, z));
}

// A texel to a normal or a tangent. With alpha-octahedral it is the position's texel.
float3 vat_direction(uint encoding, float4 texel) {
    if (encoding == VAT_ALPHA_OCTAHEDRAL) {
        return vat_octahedral(texel.w);
    }
    if (encoding == VAT_UNIT_FLOAT) {
        return vat_unit(texel.xyz);
    }
    return vat_unit(texel.xyz * 2.0 - 1.0);
}

// Between two poses: of neighbouring frames, or of two clips for a cross-fade.
VatPose vat_mix(VatPose a, VatPose b, float amount) {
    VatPose pose;
    pose.position = lerp(a.position, b.position, amount);
    pose.normal = vat_unit(lerp(a.normal, b.normal, amount));
    return pose;
}

// One vertex in one frame of the bake. A texture of tangents is read like that of normals; its handedness is the mesh's TANGENT w.
VatPose vat_frame(VatBake bake, float3 rest, uint vertex, uint frame) {
    uint2 at = vat_texel(bake, vertex, frame);
    float4 p = VAT_FETCH_POSITION(at);
    float4 n = p;
    if (bake.normal_encoding != VAT_ALPHA_OCTAHEDRAL) {
        n = VAT_FETCH_NORMAL(at);
    }
    VatPose pose;
    pose.position = vat_position(bake, p, rest);
    pose.normal = vat_direction(bake.normal_encoding, n);
    return pose;
}

// One vertex at a time. `rest` and `uv` are its POSITION and lookup UV in the GLB, `clip` the float4 of the instance.
VatPose vat_pose(VatBake bake, float3 rest, float2 uv, float4 clip, float now) {
    uint vertex = vat_vertex(bake, uv);
    VatFrames frames = vat_frames(clip, now);
    return vat_mix(vat_frame(bake, rest, vertex, frames.first), vat_frame(bake, rest, vertex, frames.second), frames.blend);
}
