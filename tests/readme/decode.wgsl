struct Bake {          // from the sidecar
    scale: vec3f,      // textures[0].scale
    width: u32,        // layout.width
    bias: vec3f,       // textures[0].bias
    frames: u32,       // frame_count
    lanes: u32,        // mesh.lookup.lanes
    groups: u32,       // mesh.lookup.groups
}
@group(0) @binding(0) var<uniform> bake: Bake;
@group(0) @binding(1) var positions: texture_2d<u32>;  // rgba16uint
@group(0) @binding(2) var normals: texture_2d<u32>;    // rgba16uint

struct Deformed { position: vec3f, normal: vec3f }

// `rest` and `uv` are the vertex's POSITION and lookup UV. `instance` is vec4(first_frame, intervals, frames_per_second,
// start_time): negative intervals play once and hold, a rate of 0 shows frame `start_time`. `now` is in seconds.
fn deform(rest: vec3f, uv: vec2f, instance: vec4f, now: f32) -> Deformed {
    let vertex = u32(uv.x * f32(bake.lanes)) + bake.lanes * u32(uv.y * f32(bake.groups));
    let intervals = abs(instance.y);
    var x = (now - instance.w) * instance.z;
    if instance.z == 0.0 { x = instance.w; }
    if instance.y > 0.0 && instance.z != 0.0 {
        x -= floor(x / intervals) * intervals;
    }
    x = clamp(x, 0.0, intervals);
    let f0 = min(floor(x), max(intervals - 1.0, 0.0));
    let f1 = min(f0 + 1.0, intervals);

    let column = vertex % bake.width;
    let row = vertex / bake.width * bake.frames + u32(instance.x);
    let a = vec2u(column, row + u32(f0));
    let b = vec2u(column, row + u32(f1));
    let p = mix(vec3f(textureLoad(positions, a, 0).xyz), vec3f(textureLoad(positions, b, 0).xyz), x - f0) / 65535.0;
    let n = mix(vec3f(textureLoad(normals, a, 0).xyz), vec3f(textureLoad(normals, b, 0).xyz), x - f0) / 65535.0;
    return Deformed(rest + p * bake.scale + bake.bias, normalize(n * 2.0 - 1.0));
}
