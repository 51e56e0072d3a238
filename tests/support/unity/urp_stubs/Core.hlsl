// Stands in for URP's Core.hlsl where the kit's HLSL is compiled by glslang, with the names and signatures of URP 14 to 17. With
// VATBAKE_RUN the textures, the material and the instances are buffers of a test.
#ifndef STUB_CORE
#define STUB_CORE

#define half float
#define half2 float2
#define half3 float3
#define half4 float4
#define real float
#define UNITY_VERSION 202230
#define UNITY_REVERSED_Z 1
#define UNITY_UV_STARTS_AT_TOP 1
#define UNITY_NEAR_CLIP_VALUE (1.0)

#define SAMPLER(name) SamplerState name
#define TEXTURE2D(name) Texture2D name
#define SAMPLE_TEXTURE2D(name, sampler_name, uv) name.Sample(sampler_name, uv)
#define TRANSFORM_TEX(uv, name) ((uv.xy) * name##_ST.xy + name##_ST.zw)

#if defined(VATBAKE_RUN)
#define REGISTER_VatPositions t1
#define REGISTER_VatNormals t2
#define TEXTURE2D_FLOAT(name) StructuredBuffer<float4> name : register(REGISTER##name)
#define LOAD_TEXTURE2D(name, at) name[(at).y * uint(_VatScale.w) + (at).x]
#define CBUFFER_START(name) cbuffer name : register(b0) {
#define UNITY_INSTANCING_ENABLED
#define UNITY_INSTANCING_BUFFER_START(buf) struct buf##Struct {
#define UNITY_INSTANCING_BUFFER_END(arr) }; StructuredBuffer<arr##Struct> arr##Array : register(t3);
#else
#define TEXTURE2D_FLOAT(name) Texture2D name
#define LOAD_TEXTURE2D(name, at) name.Load(int3(at, 0))
#define CBUFFER_START(name) cbuffer name {
#if defined(INSTANCING_ON)
#define UNITY_INSTANCING_ENABLED
#define UNITY_INSTANCING_BUFFER_START(buf) cbuffer UnityInstancing_##buf { struct buf##Struct {
#define UNITY_INSTANCING_BUFFER_END(arr) } arr##Array[2]; }
#else
#define UNITY_INSTANCING_BUFFER_START(buf) CBUFFER_START(buf)
#define UNITY_INSTANCING_BUFFER_END(arr) CBUFFER_END
#endif
#endif
#define CBUFFER_END }
#define UNITY_DEFINE_INSTANCED_PROP(type, var) type var;
#if defined(UNITY_INSTANCING_ENABLED)
static uint unity_InstanceID;
#define UNITY_ACCESS_INSTANCED_PROP(arr, var) arr##Array[unity_InstanceID].var
#define UNITY_VERTEX_INPUT_INSTANCE_ID uint instanceID : SV_InstanceID;
#define UNITY_SETUP_INSTANCE_ID(input) unity_InstanceID = input.instanceID
#define UNITY_TRANSFER_INSTANCE_ID(input, output) output.instanceID = input.instanceID
#else
#define UNITY_ACCESS_INSTANCED_PROP(arr, var) var
#define UNITY_VERTEX_INPUT_INSTANCE_ID
#define UNITY_SETUP_INSTANCE_ID(input)
#define UNITY_TRANSFER_INSTANCE_ID(input, output)
#endif
#define UNITY_VERTEX_OUTPUT_STEREO
#define UNITY_INITIALIZE_VERTEX_OUTPUT_STEREO(output)
#define UNITY_SETUP_STEREO_EYE_INDEX_POST_VERTEX(input)
#define FRONT_FACE_TYPE bool
#define FRONT_FACE_SEMANTIC SV_IsFrontFace
#define IS_FRONT_VFACE(VAL, FRONT, BACK) ((VAL) ? (FRONT) : (BACK))

#if defined(VATBAKE_RUN)
static float4 _Time;
static float4 unity_DeltaTime;
#else
cbuffer StubGlobals {
    float4 _Time;
    float4 unity_DeltaTime;
    float4 unity_MotionVectorsParams;
    float4x4 unity_ObjectToWorld;
    float4x4 unity_MatrixPreviousM;
    float4x4 unity_MatrixVP;
    float4x4 _PrevViewProjMatrix;
    float4x4 _NonJitteredViewProjMatrix;
    float3 _WorldSpaceCameraPos;
}
#define UNITY_MATRIX_M unity_ObjectToWorld
#define UNITY_PREV_MATRIX_M unity_MatrixPreviousM

float3 TransformObjectToWorld(float3 positionOS) { return mul(unity_ObjectToWorld, float4(positionOS, 1.0)).xyz; }
float4 TransformWorldToHClip(float3 positionWS) { return mul(unity_MatrixVP, float4(positionWS, 1.0)); }
float3 TransformObjectToWorldNormal(float3 normalOS) { return normalize(mul((float3x3)unity_ObjectToWorld, normalOS)); }
half3 GetWorldSpaceNormalizeViewDir(float3 positionWS) { return normalize(_WorldSpaceCameraPos - positionWS); }
float2 GetNormalizedScreenSpaceUV(float4 positionCS) { return positionCS.xy; }
real ComputeFogFactor(float zPositionCS) { return zPositionCS; }
real InitializeInputDataFog(float4 positionWS, real vertFogFactor) { return vertFogFactor; }
half3 MixFog(half3 fragColor, half fogFactor) { return fragColor * fogFactor; }
float2 PackNormalOctQuadEncode(float3 n) { return n.xy; }
half3 PackFloat2To888(float2 f) { return half3(f, 0.0); }
#endif
#endif
