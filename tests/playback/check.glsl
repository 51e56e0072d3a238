// check.wgsl in GLSL.
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i * 4u >= uint(cases.length())) {
        return;
    }
    ivec4 whole = ivec4(settings[2]);
    VatBake bake = VatBake(settings[0].xyz, int(settings[0].w), settings[1].xyz, int(settings[1].w), whole.x, whole.y, whole.z, whole.w);
    vec3 rest = cases[i * 4u].xyz;
    float now = cases[i * 4u].w;
    vec2 uv = cases[i * 4u + 1u].xy;
    float amount = cases[i * 4u + 1u].z;
    vec4 clip = cases[i * 4u + 2u];
    VatPose pose = vat_pose(bake, rest, uv, clip, now);
    VatPose faded = vat_mix(pose, vat_pose(bake, rest, uv, cases[i * 4u + 3u], now), amount);
    VatFrames back = vat_frames_ping_pong(clip, now);
    results[i * 5u] = vec4(pose.position, float(vat_vertex(bake, uv)));
    results[i * 5u + 1u] = vec4(pose.normal, 0.0);
    results[i * 5u + 2u] = vec4(faded.position, 0.0);
    results[i * 5u + 3u] = vec4(faded.normal, 0.0);
    results[i * 5u + 4u] = vec4(float(back.first), float(back.second), back.blend, 0.0);
}
