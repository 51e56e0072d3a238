// What the tests put in the place of the fetch: texels, settings and cases in buffers.
@group(0) @binding(0) var<storage, read> settings: array<vec4f>;
@group(0) @binding(1) var<storage, read> positions: array<vec4f>;
@group(0) @binding(2) var<storage, read> normals: array<vec4f>;
@group(0) @binding(3) var<storage, read> cases: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> results: array<vec4f>;

fn vat_fetch_position(at: vec2u) -> vec4f {
    return positions[at.y * u32(settings[0].w) + at.x];
}

fn vat_fetch_normal(at: vec2u) -> vec4f {
    return normals[at.y * u32(settings[0].w) + at.x];
}

@compute @workgroup_size(64)
fn check(@builtin(global_invocation_id) id: vec3u) {
    let i = id.x;
    if i * 4u >= arrayLength(&cases) {
        return;
    }
    let whole = vec4u(settings[2]);
    let bake = VatBake(settings[0].xyz, u32(settings[0].w), settings[1].xyz, u32(settings[1].w), whole.x, whole.y, whole.z, whole.w);
    let rest = cases[i * 4u].xyz;
    let now = cases[i * 4u].w;
    let uv = cases[i * 4u + 1u].xy;
    let amount = cases[i * 4u + 1u].z;
    let clip = cases[i * 4u + 2u];
    let pose = vat_pose(bake, rest, uv, clip, now);
    let faded = vat_mix(pose, vat_pose(bake, rest, uv, cases[i * 4u + 3u], now), amount);
    let back = vat_frames_ping_pong(clip, now);
    results[i * 5u] = vec4f(pose.position, f32(vat_vertex(bake, uv)));
    results[i * 5u + 1u] = vec4f(pose.normal, 0.0);
    results[i * 5u + 2u] = vec4f(faded.position, 0.0);
    results[i * 5u + 3u] = vec4f(faded.normal, 0.0);
    results[i * 5u + 4u] = vec4f(f32(back.first), f32(back.second), back.blend, 0.0);
}
