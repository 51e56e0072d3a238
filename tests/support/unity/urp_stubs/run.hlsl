// Runs vatbake_shape for every case: a vertex of the mesh as the importer made it, an instance, and a time.
#define VATBAKE_RUN
#include "VatSurface.hlsl"

StructuredBuffer<float4> cases : register(t4);  // position and time, normal, lookup and number of the instance
RWStructuredBuffer<float4> results : register(u5);

[numthreads(64, 1, 1)]
void run(uint3 id : SV_DispatchThreadID) {
    uint count;
    uint stride;
    cases.GetDimensions(count, stride);
    if (id.x * 3 >= count) {
        return;
    }
    float4 a = cases[id.x * 3];
    float4 c = cases[id.x * 3 + 2];
    unity_InstanceID = uint(c.z);
    VatPose pose = vatbake_shape(a.xyz, cases[id.x * 3 + 1].xyz, c.xy, a.w);
    results[id.x * 2] = float4(pose.position, 0.0);
    results[id.x * 2 + 1] = float4(pose.normal, 0.0);
}
