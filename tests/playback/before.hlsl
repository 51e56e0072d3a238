// What the tests put in the place of the fetch: texels, settings and cases in buffers.
StructuredBuffer<float4> settings : register(t0);
StructuredBuffer<float4> positions : register(t1);
StructuredBuffer<float4> normals : register(t2);
StructuredBuffer<float4> cases : register(t3);
RWStructuredBuffer<float4> results : register(u4);
#define VAT_FETCH_POSITION(at) positions[at.y * uint(settings[0].w) + at.x]
#define VAT_FETCH_NORMAL(at) normals[at.y * uint(settings[0].w) + at.x]
