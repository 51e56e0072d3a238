// One instance of the bake: the decode of vat.glsl, then turned upright and put in its place.

uniform VatBake vat_bake;
uniform mat4 projection;
uniform mat3 upright;   // from the sidecar's axes and unit to glTF's
uniform float now;
uniform bool blended;

layout(location = 0) in vec3 rest;
layout(location = 1) in vec2 lookup;
layout(location = 2) in vec2 uv;
layout(location = 3) in vec4 clip;
layout(location = 4) in vec4 place;  // x, z, turn about +Y, 1 where neighbouring frames may be blended

out vec3 world;
out vec3 normal;
out vec2 base_uv;
out float deviation;

vec3 turned(vec3 v) {
    float c = cos(place.z);
    float s = sin(place.z);
    return vec3(c * v.x + s * v.z, v.y, c * v.z - s * v.x);
}

void main() {
    int vertex = vat_vertex(vat_bake, lookup);
    VatFrames frames = vat_frames(clip, now);
    if (!blended || place.w == 0.0) {
        frames.blend = floor(frames.blend);
    }
    VatPose a = vat_frame(vat_bake, rest, vertex, frames.first);
    VatPose b = vat_frame(vat_bake, rest, vertex, frames.second);
    VatPose pose = vat_mix(a, b, frames.blend);
    world = turned(upright * pose.position) + vec3(place.x, 0.0, place.y);
    normal = turned(upright * pose.normal);
    base_uv = uv;
    float before = error_at(vat_texel(vat_bake, vertex, frames.first));
    float after = error_at(vat_texel(vat_bake, vertex, frames.second));
    deviation = mix(before, after, frames.blend);
    gl_Position = projection * vec4(world, 1.0);
}
