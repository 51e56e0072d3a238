// Stands in for URP's Shadows.hlsl.
#ifndef STUB_SHADOWS
#define STUB_SHADOWS
#include "Packages/com.unity.render-pipelines.universal/ShaderLibrary/Core.hlsl"
float4 TransformWorldToShadowCoord(float3 positionWS) { return float4(positionWS, 1.0); }
float3 ApplyShadowBias(float3 positionWS, float3 normalWS, float3 lightDirection) { return positionWS + normalWS - lightDirection; }
#endif
