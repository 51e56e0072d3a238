// Stands in for URP's Lighting.hlsl.
#ifndef STUB_LIGHTING
#define STUB_LIGHTING
#include "Packages/com.unity.render-pipelines.universal/ShaderLibrary/Shadows.hlsl"
struct InputData
{
    float3 positionWS;
    float4 positionCS;
    float3 normalWS;
    half3 viewDirectionWS;
    float4 shadowCoord;
    half fogCoord;
    half3 vertexLighting;
    half3 bakedGI;
    float2 normalizedScreenSpaceUV;
    half4 shadowMask;
};
struct SurfaceData
{
    half3 albedo;
    half3 specular;
    half metallic;
    half smoothness;
    half3 normalTS;
    half3 emission;
    half occlusion;
    half alpha;
    half clearCoatMask;
    half clearCoatSmoothness;
};
half3 VertexLighting(float3 positionWS, half3 normalWS) { return normalWS; }
half3 SampleSH(half3 normalWS) { return normalWS; }
half4 UniversalFragmentPBR(InputData inputData, SurfaceData surfaceData)
{
    return half4(surfaceData.albedo * inputData.bakedGI + surfaceData.emission, surfaceData.alpha);
}
#endif
