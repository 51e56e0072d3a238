// The material of Vatbake/Vat: its properties, and where a vertex is. Every pass of Vat.shader includes this file. A shader of your own
// may do the same: vatbake_shape(...) gives position and normal of a vertex at a time.
#ifndef VATBAKE_SURFACE_INCLUDED
#define VATBAKE_SURFACE_INCLUDED

#include "Packages/com.unity.render-pipelines.universal/ShaderLibrary/Core.hlsl"

TEXTURE2D(_BaseMap);
SAMPLER(sampler_BaseMap);
TEXTURE2D(_MetallicRoughnessMap);
SAMPLER(sampler_MetallicRoughnessMap);
TEXTURE2D(_NormalMap);
SAMPLER(sampler_NormalMap);
TEXTURE2D(_OcclusionMap);
SAMPLER(sampler_OcclusionMap);
TEXTURE2D(_EmissionMap);
SAMPLER(sampler_EmissionMap);
// Full precision on phones too, where a plain texture may be read as half floats.
TEXTURE2D_FLOAT(_VatPositions);
TEXTURE2D_FLOAT(_VatNormals);

// The same in every pass and variant: what the SRP batcher asks for.
CBUFFER_START(UnityPerMaterial)
    float4 _BaseMap_ST;
    float4 _BaseColor;
    float4 _EmissionColor;
    float4 _VatScale;   // xyz: scale of the positions; w: texels of a row
    float4 _VatBias;    // xyz: bias of the positions; w: frames of the bake
    float4 _VatLookup;  // lanes, groups, encoding of the positions, encoding of the normals (3: the mesh's normals)
    float4 _VatClock;   // now, the last frame's time, 1 where both are to be read: else Unity's own clock
    float4 _VatClip;    // first frame, intervals, frames a second, start time: what plays where no instance says otherwise
    float4 _VatFrom;    // the clip that is faded out
    float4 _VatFade;    // when the fade began, 1 / its seconds (0: none), mode of _VatClip, mode of _VatFrom
    float _EmissionStrength;
    float _Cutoff;
    float _Metallic;
    float _Roughness;
    float _NormalScale;
    float _OcclusionStrength;
    float _VertexColors;
    float _VatFlippedRows;  // rows of the textures where an image importer turned them over; 0: as vatbake wrote them
CBUFFER_END

// Of each instance, set by VatSpawner. All zeros: the material's own clip.
#if defined(UNITY_INSTANCING_ENABLED)
UNITY_INSTANCING_BUFFER_START(VatInstances)
    UNITY_DEFINE_INSTANCED_PROP(float4, _VatInstanceClip)
    UNITY_DEFINE_INSTANCED_PROP(float4, _VatInstanceFrom)
    UNITY_DEFINE_INSTANCED_PROP(float4, _VatInstanceFade)
UNITY_INSTANCING_BUFFER_END(VatInstances)
#endif

uint2 vatbake_row(uint2 at) {
    if (_VatFlippedRows > 0.0) {
        at.y = uint(_VatFlippedRows) - 1 - at.y;
    }
    return at;
}

#define VAT_FETCH_POSITION(at) LOAD_TEXTURE2D(_VatPositions, vatbake_row(at))
#define VAT_FETCH_NORMAL(at) LOAD_TEXTURE2D(_VatNormals, vatbake_row(at))
#include "VatPlayback.hlsl"

VatBake vatbake_settings() {
    VatBake bake;
    bake.scale = _VatScale.xyz;
    bake.width = uint(_VatScale.w);
    bake.bias = _VatBias.xyz;
    bake.frames = uint(_VatBias.w);
    bake.lanes = uint(_VatLookup.x);
    bake.groups = uint(_VatLookup.y);
    bake.position_encoding = uint(_VatLookup.z);
    bake.normal_encoding = uint(_VatLookup.w);
    return bake;
}

// One clip at a time. Mode: 1 where frames must not be blended, plus 2 for forth and back.
VatPose vatbake_clip(VatBake bake, float3 rest, uint vertex, float4 clip, float now, float mode) {
    VatFrames frames = vat_frames(clip, now);
    if (mode >= 2.0) {
        frames = vat_frames_ping_pong(clip, now);
        mode -= 2.0;
    }
    float blend = mode >= 1.0 ? floor(frames.blend) : frames.blend;
    return vat_mix(vat_frame(bake, rest, vertex, frames.first), vat_frame(bake, rest, vertex, frames.second), blend);
}

// Seconds of this frame and of the last one.
float2 vatbake_times() {
    return _VatClock.z > 0.0 ? _VatClock.xy : float2(_Time.y, _Time.y - unity_DeltaTime.x);
}

// Where a vertex is, in the object's space. `rest` and `normal` are the mesh's, `lookup` its second UV set, as an importer of glTF
// leaves it for Unity: v counted from the bottom.
VatPose vatbake_shape(float3 rest, float3 normal, float2 lookup, float now) {
    float4 clip = _VatClip;
    float4 from = _VatFrom;
    float4 fade = _VatFade;
#if defined(UNITY_INSTANCING_ENABLED)
    float4 instance = UNITY_ACCESS_INSTANCED_PROP(VatInstances, _VatInstanceClip);
    if (any(instance != 0.0)) {
        clip = instance;
        from = UNITY_ACCESS_INSTANCED_PROP(VatInstances, _VatInstanceFrom);
        fade = UNITY_ACCESS_INSTANCED_PROP(VatInstances, _VatInstanceFade);
    }
#endif
    VatBake bake = vatbake_settings();
    uint vertex = vat_vertex(bake, float2(lookup.x, 1.0 - lookup.y));
    VatPose pose = vatbake_clip(bake, rest, vertex, clip, now, fade.z);
    float done = (now - fade.x) * fade.y;
    if (fade.y > 0.0 && done < 1.0) {
        pose = vat_mix(vatbake_clip(bake, rest, vertex, from, now, fade.w), pose, max(done, 0.0));
    }
    if (_VatLookup.w > 2.5) {
        pose.normal = normal;
    }
    return pose;
}

// The material at a pixel. `uv` is as the mesh has it.
struct VatSurface {
    half4 color;  // base colour and alpha
    half metallic;
    half smoothness;
    half occlusion;
    half3 emission;
};

half4 vatbake_color(float2 uv, half4 vertexColor) {
    half4 color = SAMPLE_TEXTURE2D(_BaseMap, sampler_BaseMap, uv) * half4(_BaseColor);
    color *= lerp(half4(1.0, 1.0, 1.0, 1.0), vertexColor, half(_VertexColors));
#if defined(_ALPHATEST_ON)
    clip(color.a - half(_Cutoff));
#endif
    return color;
}

VatSurface vatbake_surface(float2 uv, half4 vertexColor) {
    VatSurface surface;
    surface.color = vatbake_color(uv, vertexColor);
    half4 orm = SAMPLE_TEXTURE2D(_MetallicRoughnessMap, sampler_MetallicRoughnessMap, uv);  // as glTF packs it
    surface.metallic = orm.b * half(_Metallic);
    surface.smoothness = 1.0 - orm.g * half(_Roughness);
    surface.occlusion = lerp(1.0, SAMPLE_TEXTURE2D(_OcclusionMap, sampler_OcclusionMap, uv).r, half(_OcclusionStrength));
    surface.emission = SAMPLE_TEXTURE2D(_EmissionMap, sampler_EmissionMap, uv).rgb * half3(_EmissionColor.rgb * _EmissionStrength);
    return surface;
}

// The normal map without tangents: the directions in which u and v grow are found from the pixel's neighbours, so that they follow the
// motion, whatever was baked.
float3 vatbake_normal(float3 normal, float3 position, float2 uv) {
#if defined(_NORMALMAP)
    float3 across = ddx(position);
    float3 along = ddy(position);
    float2 uvAcross = ddx(uv);
    float2 uvAlong = ddy(uv);
    float3 a = cross(along, normal);
    float3 b = cross(normal, across);
    float3 u = a * uvAcross.x + b * uvAlong.x;
    float3 v = a * uvAcross.y + b * uvAlong.y;
    float size = max(dot(u, u), dot(v, v));
    if (size > 0.0) {
        float turn = dot(across, a) < 0.0 ? -1.0 : 1.0;
        float3 bump = SAMPLE_TEXTURE2D(_NormalMap, sampler_NormalMap, uv).xyz * 2.0 - 1.0;
        bump.xy *= _NormalScale;
        normal = normalize((u * bump.x + v * bump.y) * (turn * rsqrt(size)) + normal * bump.z);
    }
#endif
    return normal;
}

#endif
