// check.wgsl in HLSL.
[numthreads(64, 1, 1)]
void check(uint3 id : SV_DispatchThreadID) {
    uint i = id.x;
    uint count;
    uint stride;
    cases.GetDimensions(count, stride);
    if (i * 4 >= count) {
        return;
    }
    VatBake bake;
    bake.scale = settings[0].xyz;
    bake.width = uint(settings[0].w);
    bake.bias = settings[1].xyz;
    bake.frames = uint(settings[1].w);
    bake.lanes = uint(settings[2].x);
    bake.groups = uint(settings[2].y);
    bake.position_encoding = uint(settings[2].z);
    bake.normal_encoding = uint(settings[2].w);
    float3 rest = cases[i * 4].xyz;
    float now = cases[i * 4].w;
    float2 uv = cases[i * 4 + 1].xy;
    float amount = cases[i * 4 + 1].z;
    float4 clip = cases[i * 4 + 2];
    VatPose pose = vat_pose(bake, rest, uv, clip, now);
    VatPose faded = vat_mix(pose, vat_pose(bake, rest, uv, cases[i * 4 + 3], now), amount);
    VatFrames back = vat_frames_ping_pong(clip, now);
    results[i * 5] = float4(pose.position, float(vat_vertex(bake, uv)));
    results[i * 5 + 1] = float4(pose.normal, 0.0);
    results[i * 5 + 2] = float4(faded.position, 0.0);
    results[i * 5 + 3] = float4(faded.normal, 0.0);
    results[i * 5 + 4] = float4(float(back.first), float(back.second), back.blend, 0.0);
}
