// Plays a vertex animation texture of vatbake in the Universal Render Pipeline (Unity 2022.3 and later). Shadows, depth, normals and
// motion vectors come from the same motion as the picture.
Shader "Vatbake/Vat"
{
    Properties
    {
        [MainTexture] _BaseMap("Base Map", 2D) = "white" {}
        [MainColor] _BaseColor("Base Color", Color) = (1, 1, 1, 1)
        [NoScaleOffset] _MetallicRoughnessMap("Metallic (B), Roughness (G)", 2D) = "white" {}
        _Metallic("Metallic", Range(0, 1)) = 0
        _Roughness("Roughness", Range(0, 1)) = 0.8
        [NoScaleOffset] _NormalMap("Normal Map (not marked as one)", 2D) = "bump" {}
        _NormalScale("Normal Scale", Float) = 1
        [NoScaleOffset] _OcclusionMap("Occlusion (R)", 2D) = "white" {}
        _OcclusionStrength("Occlusion Strength", Range(0, 1)) = 1
        [NoScaleOffset] _EmissionMap("Emission", 2D) = "white" {}
        _EmissionColor("Emission Color", Color) = (0, 0, 0, 1)
        _EmissionStrength("Emission Strength", Float) = 1
        _Cutoff("Alpha Cutoff", Range(0, 1)) = 0.5
        [ToggleUI] _VertexColors("Vertex Colors", Float) = 0
        [Enum(UnityEngine.Rendering.CullMode)] _Cull("Cull", Float) = 2
        [HideInInspector] _SrcBlend("Source Blend", Float) = 1
        [HideInInspector] _DstBlend("Destination Blend", Float) = 0
        [HideInInspector] _ZWrite("Depth Write", Float) = 1

        [Header(Animation)]
        [NoScaleOffset] _VatPositions("Positions", 2D) = "black" {}
        [NoScaleOffset] _VatNormals("Normals", 2D) = "black" {}
        _VatScale("Scale, Width", Vector) = (1, 1, 1, 4)
        _VatBias("Bias, Frames", Vector) = (0, 0, 0, 1)
        _VatLookup("Lanes, Groups, Encodings", Vector) = (1, 1, 0, 3)
        _VatClip("First Frame, Intervals, Rate, Start", Vector) = (0, 0, 0, 0)
        _VatFrom("Clip Faded Out", Vector) = (0, 0, 0, 0)
        _VatFade("Fade Start, 1 / Seconds, Modes", Vector) = (0, 0, 0, 0)
        _VatClock("Now, Before, Use", Vector) = (0, 0, 0, 0)
        _VatFlippedRows("Rows of a Flipped Texture", Float) = 0
    }

    SubShader
    {
        Tags
        {
            "RenderPipeline" = "UniversalPipeline"
            "RenderType" = "Opaque"
            "Queue" = "Geometry"
            "UniversalMaterialType" = "Lit"
            "IgnoreProjector" = "True"
            "DisableBatching" = "True" // a batch of meshes has lost the rest pose that offsets are added to
            "AlwaysRenderMotionVectors" = "true" // the vertices move though the object stands
        }
        Cull [_Cull]

        HLSLINCLUDE
        #pragma target 3.5
        #include "VatSurface.hlsl"

        struct Attributes
        {
            float4 positionOS : POSITION;
            float3 normalOS : NORMAL;
            float4 color : COLOR;
            float2 uv : TEXCOORD0;
            float2 lookup : TEXCOORD1;
            UNITY_VERTEX_INPUT_INSTANCE_ID
        };

        VatPose Shape(Attributes input, float now)
        {
            return vatbake_shape(input.positionOS.xyz, input.normalOS, input.lookup, now);
        }
        ENDHLSL

        Pass
        {
            Name "ForwardLit"
            Tags { "LightMode" = "UniversalForwardOnly" }
            Blend [_SrcBlend] [_DstBlend], One OneMinusSrcAlpha
            ZWrite [_ZWrite]

            HLSLPROGRAM
            #pragma vertex LitVertex
            #pragma fragment LitFragment
            #pragma shader_feature_local _NORMALMAP
            #pragma shader_feature_local_fragment _ALPHATEST_ON
            #pragma shader_feature_local_fragment _SURFACE_TYPE_TRANSPARENT
            #pragma shader_feature_local_fragment _UNLIT
            #pragma multi_compile _ _MAIN_LIGHT_SHADOWS _MAIN_LIGHT_SHADOWS_CASCADE _MAIN_LIGHT_SHADOWS_SCREEN
            #pragma multi_compile _ _ADDITIONAL_LIGHTS_VERTEX _ADDITIONAL_LIGHTS
            #pragma multi_compile_fragment _ _ADDITIONAL_LIGHT_SHADOWS
            #pragma multi_compile_fragment _ _REFLECTION_PROBE_BLENDING
            #pragma multi_compile_fragment _ _REFLECTION_PROBE_BOX_PROJECTION
            #pragma multi_compile_fragment _ _SHADOWS_SOFT
            #pragma multi_compile_fragment _ _SCREEN_SPACE_OCCLUSION
            #pragma multi_compile_fragment _ _LIGHT_COOKIES
            #pragma multi_compile _ _LIGHT_LAYERS
            #pragma multi_compile _ _FORWARD_PLUS _CLUSTER_LIGHT_LOOP
            #pragma multi_compile_fog
            #pragma multi_compile_instancing
            #pragma instancing_options renderinglayer
            #include "Packages/com.unity.render-pipelines.universal/ShaderLibrary/Lighting.hlsl"

            struct LitVaryings
            {
                float4 positionCS : SV_POSITION;
                float2 uv : TEXCOORD0;
                float3 positionWS : TEXCOORD1;
                float3 normalWS : TEXCOORD2;
                half4 color : TEXCOORD3;
                half4 fogAndLight : TEXCOORD4; // fog, light by vertex
                UNITY_VERTEX_INPUT_INSTANCE_ID
                UNITY_VERTEX_OUTPUT_STEREO
            };

            LitVaryings LitVertex(Attributes input)
            {
                LitVaryings output = (LitVaryings)0;
                UNITY_SETUP_INSTANCE_ID(input);
                UNITY_TRANSFER_INSTANCE_ID(input, output);
                UNITY_INITIALIZE_VERTEX_OUTPUT_STEREO(output);
                VatPose pose = Shape(input, vatbake_times().x);
                output.positionWS = TransformObjectToWorld(pose.position);
                output.positionCS = TransformWorldToHClip(output.positionWS);
                output.normalWS = TransformObjectToWorldNormal(pose.normal);
                output.uv = TRANSFORM_TEX(input.uv, _BaseMap);
                output.color = half4(input.color);
                output.fogAndLight = half4(ComputeFogFactor(output.positionCS.z), VertexLighting(output.positionWS, half3(output.normalWS)));
                return output;
            }

            half4 LitFragment(LitVaryings input, FRONT_FACE_TYPE face : FRONT_FACE_SEMANTIC) : SV_Target
            {
                UNITY_SETUP_INSTANCE_ID(input);
                UNITY_SETUP_STEREO_EYE_INDEX_POST_VERTEX(input);
                VatSurface surface = vatbake_surface(input.uv, input.color);
                float3 normalWS = normalize(input.normalWS) * IS_FRONT_VFACE(face, 1.0, -1.0);

                InputData inputData = (InputData)0;
                inputData.positionWS = input.positionWS;
                inputData.normalWS = vatbake_normal(normalWS, input.positionWS, input.uv);
                inputData.viewDirectionWS = GetWorldSpaceNormalizeViewDir(input.positionWS);
                inputData.shadowCoord = TransformWorldToShadowCoord(input.positionWS);
                inputData.fogCoord = InitializeInputDataFog(float4(input.positionWS, 1.0), input.fogAndLight.x);
                inputData.vertexLighting = input.fogAndLight.yzw;
                inputData.bakedGI = SampleSH(half3(inputData.normalWS)); // what moves has no lightmap
                inputData.normalizedScreenSpaceUV = GetNormalizedScreenSpaceUV(input.positionCS);
                inputData.shadowMask = half4(1.0, 1.0, 1.0, 1.0);

                SurfaceData surfaceData = (SurfaceData)0;
                surfaceData.albedo = surface.color.rgb;
                surfaceData.metallic = surface.metallic;
                surfaceData.smoothness = surface.smoothness;
                surfaceData.occlusion = surface.occlusion;
                surfaceData.emission = surface.emission;
                surfaceData.normalTS = half3(0.0, 0.0, 1.0);
                surfaceData.alpha = surface.color.a;
            #if defined(_UNLIT)
                half4 color = surface.color;
            #else
                half4 color = UniversalFragmentPBR(inputData, surfaceData);
            #endif
                color.rgb = MixFog(color.rgb, inputData.fogCoord);
            #if !defined(_SURFACE_TYPE_TRANSPARENT)
                color.a = 1.0;
            #endif
                return color;
            }
            ENDHLSL
        }

        Pass
        {
            Name "ShadowCaster"
            Tags { "LightMode" = "ShadowCaster" }
            ZWrite On
            ZTest LEqual
            ColorMask 0

            HLSLPROGRAM
            #pragma vertex ShadowVertex
            #pragma fragment ShadowFragment
            #pragma shader_feature_local_fragment _ALPHATEST_ON
            #pragma multi_compile_vertex _ _CASTING_PUNCTUAL_LIGHT_SHADOW
            #pragma multi_compile_instancing
            #include "Packages/com.unity.render-pipelines.universal/ShaderLibrary/Shadows.hlsl"

            float3 _LightDirection;
            float3 _LightPosition;

            struct ShadowVaryings
            {
                float4 positionCS : SV_POSITION;
                float2 uv : TEXCOORD0;
                half4 color : TEXCOORD1;
            };

            ShadowVaryings ShadowVertex(Attributes input)
            {
                ShadowVaryings output = (ShadowVaryings)0;
                UNITY_SETUP_INSTANCE_ID(input);
                VatPose pose = Shape(input, vatbake_times().x);
                float3 positionWS = TransformObjectToWorld(pose.position);
                float3 normalWS = TransformObjectToWorldNormal(pose.normal);
            #if defined(_CASTING_PUNCTUAL_LIGHT_SHADOW)
                float3 direction = normalize(_LightPosition - positionWS);
            #else
                float3 direction = _LightDirection;
            #endif
                output.positionCS = TransformWorldToHClip(ApplyShadowBias(positionWS, normalWS, direction));
            #if UNITY_REVERSED_Z
                output.positionCS.z = min(output.positionCS.z, UNITY_NEAR_CLIP_VALUE);
            #else
                output.positionCS.z = max(output.positionCS.z, UNITY_NEAR_CLIP_VALUE);
            #endif
                output.uv = TRANSFORM_TEX(input.uv, _BaseMap);
                output.color = half4(input.color);
                return output;
            }

            half4 ShadowFragment(ShadowVaryings input) : SV_Target
            {
                vatbake_color(input.uv, input.color);
                return 0;
            }
            ENDHLSL
        }

        Pass
        {
            Name "DepthOnly"
            Tags { "LightMode" = "DepthOnly" }
            ZWrite On
            ColorMask R

            HLSLPROGRAM
            #pragma vertex DepthVertex
            #pragma fragment DepthFragment
            #pragma shader_feature_local_fragment _ALPHATEST_ON
            #pragma multi_compile_instancing

            struct DepthVaryings
            {
                float4 positionCS : SV_POSITION;
                float2 uv : TEXCOORD0;
                half4 color : TEXCOORD1;
                UNITY_VERTEX_INPUT_INSTANCE_ID
                UNITY_VERTEX_OUTPUT_STEREO
            };

            DepthVaryings DepthVertex(Attributes input)
            {
                DepthVaryings output = (DepthVaryings)0;
                UNITY_SETUP_INSTANCE_ID(input);
                UNITY_TRANSFER_INSTANCE_ID(input, output);
                UNITY_INITIALIZE_VERTEX_OUTPUT_STEREO(output);
                VatPose pose = Shape(input, vatbake_times().x);
                output.positionCS = TransformWorldToHClip(TransformObjectToWorld(pose.position));
                output.uv = TRANSFORM_TEX(input.uv, _BaseMap);
                output.color = half4(input.color);
                return output;
            }

            half DepthFragment(DepthVaryings input) : SV_Target
            {
                UNITY_SETUP_STEREO_EYE_INDEX_POST_VERTEX(input);
                vatbake_color(input.uv, input.color);
                return half(input.positionCS.z);
            }
            ENDHLSL
        }

        Pass
        {
            Name "DepthNormalsOnly"
            Tags { "LightMode" = "DepthNormalsOnly" }
            ZWrite On

            HLSLPROGRAM
            #pragma vertex NormalsVertex
            #pragma fragment NormalsFragment
            #pragma shader_feature_local _NORMALMAP
            #pragma shader_feature_local_fragment _ALPHATEST_ON
            #pragma multi_compile_fragment _ _GBUFFER_NORMALS_OCT
            #pragma multi_compile_instancing

            struct NormalsVaryings
            {
                float4 positionCS : SV_POSITION;
                float2 uv : TEXCOORD0;
                float3 positionWS : TEXCOORD1;
                float3 normalWS : TEXCOORD2;
                half4 color : TEXCOORD3;
                UNITY_VERTEX_INPUT_INSTANCE_ID
                UNITY_VERTEX_OUTPUT_STEREO
            };

            NormalsVaryings NormalsVertex(Attributes input)
            {
                NormalsVaryings output = (NormalsVaryings)0;
                UNITY_SETUP_INSTANCE_ID(input);
                UNITY_TRANSFER_INSTANCE_ID(input, output);
                UNITY_INITIALIZE_VERTEX_OUTPUT_STEREO(output);
                VatPose pose = Shape(input, vatbake_times().x);
                output.positionWS = TransformObjectToWorld(pose.position);
                output.positionCS = TransformWorldToHClip(output.positionWS);
                output.normalWS = TransformObjectToWorldNormal(pose.normal);
                output.uv = TRANSFORM_TEX(input.uv, _BaseMap);
                output.color = half4(input.color);
                return output;
            }

            half4 NormalsFragment(NormalsVaryings input, FRONT_FACE_TYPE face : FRONT_FACE_SEMANTIC) : SV_Target
            {
                UNITY_SETUP_STEREO_EYE_INDEX_POST_VERTEX(input);
                vatbake_color(input.uv, input.color);
                float3 normalWS = normalize(input.normalWS) * IS_FRONT_VFACE(face, 1.0, -1.0);
                normalWS = vatbake_normal(normalWS, input.positionWS, input.uv);
            #if defined(_GBUFFER_NORMALS_OCT)
                float2 folded = saturate(PackNormalOctQuadEncode(normalWS) * 0.5 + 0.5);
                return half4(PackFloat2To888(folded), 0.0);
            #else
                return half4(normalWS, 0.0);
            #endif
            }
            ENDHLSL
        }

        Pass
        {
            Name "MotionVectors"
            Tags { "LightMode" = "MotionVectors" }
            ColorMask RG

            HLSLPROGRAM
            #pragma vertex MotionVertex
            #pragma fragment MotionFragment
            #pragma shader_feature_local_fragment _ALPHATEST_ON
            #pragma multi_compile_instancing

            struct MotionVaryings
            {
                float4 positionCS : SV_POSITION;
                float4 now : TEXCOORD0;
                float4 before : TEXCOORD1;
                float2 uv : TEXCOORD2;
                half4 color : TEXCOORD3;
                UNITY_VERTEX_INPUT_INSTANCE_ID
                UNITY_VERTEX_OUTPUT_STEREO
            };

            MotionVaryings MotionVertex(Attributes input)
            {
                MotionVaryings output = (MotionVaryings)0;
                UNITY_SETUP_INSTANCE_ID(input);
                UNITY_TRANSFER_INSTANCE_ID(input, output);
                UNITY_INITIALIZE_VERTEX_OUTPUT_STEREO(output);
                float2 times = vatbake_times();
                float3 now = Shape(input, times.x).position;
                float3 before = Shape(input, times.y).position;
                output.positionCS = TransformWorldToHClip(TransformObjectToWorld(now));
            #if UNITY_VERSION < 60000000
                // URP wanted this before Unity 6: else the picture's own depth hides parts of it on some devices.
                float bias = unity_MotionVectorsParams.z * output.positionCS.w;
                #if UNITY_REVERSED_Z
                output.positionCS.z -= bias;
                #else
                output.positionCS.z += bias;
                #endif
            #endif
                output.now = mul(_NonJitteredViewProjMatrix, mul(UNITY_MATRIX_M, float4(now, 1.0)));
                output.before = mul(_PrevViewProjMatrix, mul(UNITY_PREV_MATRIX_M, float4(before, 1.0)));
                output.uv = TRANSFORM_TEX(input.uv, _BaseMap);
                output.color = half4(input.color);
                return output;
            }

            // From where it was to where it is, in parts of the screen.
            float4 MotionFragment(MotionVaryings input) : SV_Target
            {
                UNITY_SETUP_STEREO_EYE_INDEX_POST_VERTEX(input);
                vatbake_color(input.uv, input.color);
                if (unity_MotionVectorsParams.y == 0.0) // the renderer wants none
                {
                    return 0.0;
                }
                float2 motion = (input.now.xy / input.now.w - input.before.xy / input.before.w) * 0.5;
            #if UNITY_UV_STARTS_AT_TOP
                motion.y = -motion.y;
            #endif
                return float4(motion, 0.0, 0.0);
            }
            ENDHLSL
        }
    }
    FallBack Off
}
