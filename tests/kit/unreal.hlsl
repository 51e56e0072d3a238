
// Around the code of the Custom nodes: inputs as the material graph makes them, from and to buffers.
[numthreads(64, 1, 1)]
void check(uint3 id : SV_DispatchThreadID) {
    uint i = id.x;
    uint count;
    uint stride;
    cases.GetDimensions(count, stride);
    if (i * 4 >= count) {
        return;
    }
    FakeTexture position_texture;
    position_texture.which = 0u;
    FakeTexture normal_texture;
    normal_texture.which = 1u;
    float3 rest = cases[i * 4].xyz;
    float now = cases[i * 4].w;
    float2 uv = cases[i * 4 + 1].xy;
    float4 clip = cases[i * 4 + 2];
    // the vertex's position in the mesh and the World Position Offset of an instance that stands at the origin
    float3 offset = CustomOffset(position_texture, normal_texture, uv, now, VatClock, clip.x, clip.y, clip.z, clip.w, Rest, AxisX, AxisY, AxisZ);
    float3 normal = CustomNormal(position_texture, normal_texture, uv, now, VatClock, clip.x, clip.y, clip.z, clip.w, Rest, NormalAxisX, NormalAxisY, NormalAxisZ);
    results[i * 3] = float4(rest + offset, 0.0);
    results[i * 3 + 1] = float4(normal, 0.0);
    results[i * 3 + 2] = float4(0.0, 0.0, 0.0, 0.0);
}
