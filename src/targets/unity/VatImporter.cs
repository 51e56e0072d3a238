// Imports what vatbake wrote for Unity: NAME.vatbake names the sidecar, the sidecar the texels and the mesh. The texels are read as
// they lie in the .raw files, so that no texture import touches them.
//
// Why not NAME.vat.json itself: extensions of two parts are documented for scripted importers from Unity 6 on, not for 2022.
#if UNITY_EDITOR
using System;
using System.Collections.Generic;
using System.IO;
using UnityEditor;
using UnityEditor.AssetImporters;
using UnityEngine;
using UnityEngine.Rendering;

namespace Vatbake
{
    [ScriptedImporter(1, "vatbake")]
    public sealed class VatImporter : ScriptedImporter
    {
        const string ShaderName = "Vatbake/Vat";
        static readonly string[] PositionEncodings = { "offset-unorm", "absolute-unorm", "offset-float", "absolute-float" };
        static readonly string[] NormalEncodings = { "unit-unorm", "unit-float", "alpha-octahedral" };
        const int MeshNormals = 3; // the shader's number for a bake without normals

        public override void OnImportAsset(AssetImportContext ctx)
        {
            try
            {
                Import(ctx);
            }
            catch (Exception e) when (e is FormatException || e is IOException || e is UnauthorizedAccessException)
            {
                ctx.LogImportError(ctx.assetPath + ": " + e.Message + "; bake again with --for unity", this);
            }
        }

        // The shader is imported first.
        static string[] GatherDependenciesFromSourceFile(string path)
        {
            return new[] { Beside(path, "Vat.shader") };
        }

        void Import(AssetImportContext ctx)
        {
            string sidecarPath = Beside(ctx.assetPath, FileName(File.ReadAllText(ctx.assetPath).Trim()));
            ctx.DependsOnSourceAsset(sidecarPath);
            var sidecar = VatJson.Parse(File.ReadAllText(sidecarPath));
            Check(sidecar);
            string name = Path.GetFileNameWithoutExtension(ctx.assetPath);

            string meshPath = Beside(ctx.assetPath, FileName(sidecar["mesh"]["file"].Text()));
            ctx.DependsOnSourceAsset(meshPath);
            var glb = new VatGlb(File.ReadAllBytes(meshPath));
            var geometry = new VatGeometry(glb, sidecar["mesh"]["lookup"]["texcoord"].Whole());
            var mesh = MakeMesh(geometry, name, Box(sidecar["bounds"]));
            ctx.AddObjectToAsset("mesh", mesh);

            var bake = ScriptableObject.CreateInstance<VatBake>();
            bake.name = name;
            bake.mesh = mesh;
            bake.bounds = Box(sidecar["bounds"]);
            bake.clips = ReadClips(sidecar);
            VatJson position = null;
            VatJson normal = null;
            foreach (var texture in sidecar["textures"].Items())
            {
                string role = texture["role"].Text();
                if (texture["encoding"].Text() == "alpha-octahedral")
                {
                    normal = texture; // in the alpha of the positions: no texture of its own
                    continue;
                }
                var made = ReadTexture(ctx, texture, sidecar["layout"]);
                ctx.AddObjectToAsset(role, made);
                switch (role)
                {
                    case "position":
                        position = texture;
                        bake.positions = made;
                        break;
                    case "normal":
                        normal = texture;
                        bake.normals = made;
                        break;
                    default:
                        bake.tangents = made;
                        break;
                }
            }
            if (position == null)
            {
                throw sidecar["textures"].Fault("has no texture of positions");
            }
            AddMaterials(ctx, glb, geometry, bake, material => SetTextures(material, sidecar, position, normal, bake));
            AddPrefab(ctx, bake);
        }

        static void Check(VatJson sidecar)
        {
            if (sidecar["format"].Text() != "vatbake" || sidecar["version"].Whole() != 1)
            {
                throw sidecar.Fault("is no sidecar of vatbake, version 1");
            }
            var space = sidecar["space"];
            if (space["handedness"].Text() != "left" || space["up"].Text() != "+y" || space.Text("unit", "metre") != "metre")
            {
                throw space.Fault("is not Unity's (left-handed, +Y up, metres)");
            }
            var layout = sidecar["layout"];
            if (layout["order"].Text() != "block-major" || layout["first_row"].Text() != "top")
            {
                throw layout.Fault("has an order of texels that is not read");
            }
        }

        static Mesh MakeMesh(VatGeometry geometry, string name, Bounds bounds)
        {
            // It stays readable: so no vertex compression, which would make half floats of the lookup, and of positions where set.
            var mesh = new Mesh { name = name };
            mesh.indexFormat = geometry.Positions.Count > 65535 ? IndexFormat.UInt32 : IndexFormat.UInt16;
            mesh.SetVertices(geometry.Positions);
            if (geometry.HasNormals)
            {
                mesh.SetNormals(geometry.Normals);
                if (geometry.HasTangents)
                {
                    mesh.SetTangents(geometry.Tangents);
                }
            }
            if (geometry.HasColors)
            {
                mesh.SetColors(geometry.Colors);
            }
            mesh.SetUVs(0, geometry.Uvs);
            mesh.SetUVs(1, geometry.Lookups); // whatever its number in the GLB: the shader reads TEXCOORD1
            mesh.subMeshCount = geometry.Triangles.Count;
            for (int i = 0; i < geometry.Triangles.Count; i++)
            {
                mesh.SetTriangles(geometry.Triangles[i], i, false);
            }
            mesh.bounds = bounds; // of the motion: the rest pose is smaller, and what leaves its box would be culled
            return mesh;
        }

        static Texture2D ReadTexture(AssetImportContext ctx, VatJson json, VatJson layout)
        {
            string path = Beside(ctx.assetPath, FileName(json["file"].Text()));
            ctx.DependsOnSourceAsset(path);
            TextureFormat format;
            int size;
            switch (json["pixel"].Text())
            {
                case "rgba16unorm":
                    format = TextureFormat.RGBA64;
                    size = 8;
                    break;
                case "rgba16float":
                    format = TextureFormat.RGBAHalf;
                    size = 8;
                    break;
                case "rgba32float":
                    format = TextureFormat.RGBAFloat;
                    size = 16;
                    break;
                case "rgba8unorm":
                    format = TextureFormat.RGBA32;
                    size = 4;
                    break;
                default:
                    throw json.Fault("has pixels that are not read: " + json["pixel"].Text());
            }
            int width = layout["width"].Whole();
            int height = layout["height"].Whole();
            var bytes = File.ReadAllBytes(path);
            if (bytes.Length != (long)width * height * size)
            {
                throw json.Fault("names " + path + ", which has " + bytes.Length + " bytes where " + width + " x " + height + " texels of "
                    + size + " bytes are expected");
            }
            var texture = new Texture2D(width, height, format, false, true)
            {
                name = Path.GetFileNameWithoutExtension(path),
                filterMode = FilterMode.Point,
                wrapMode = TextureWrapMode.Clamp,
                anisoLevel = 0,
            };
            texture.LoadRawTextureData(bytes); // row 0 of the file is row 0 of the GPU's texture
            texture.Apply(false, false);
            DropCopy(texture);
            return texture;
        }

        // A player needs no second copy in memory. The flag of Apply would drop the texels before they are saved.
        internal static void DropCopy(Texture2D texture)
        {
            var serialized = new SerializedObject(texture);
            var readable = serialized.FindProperty("m_IsReadable");
            if (readable != null)
            {
                readable.boolValue = false;
                serialized.ApplyModifiedPropertiesWithoutUndo();
            }
        }

        static VatClip[] ReadClips(VatJson sidecar)
        {
            var clips = new List<VatClip>();
            foreach (var json in sidecar["clips"].Items())
            {
                var clip = new VatClip
                {
                    name = json.Text("name", "clip_" + clips.Count),
                    firstFrame = json["first_frame"].Whole(),
                    frameCount = json["frame_count"].Whole(),
                    fps = json["fps"].Number(),
                    length = json["length"].Number(),
                    loops = json["loop"].Text() != "once",
                    stepped = json.Flag("stepped"),
                    bounds = Box(json["bounds"]),
                    rootTranslation = new Vector3[0],
                    rootYaw = new float[0],
                };
                if (clip.frameCount < 1 || clip.firstFrame + clip.frameCount > sidecar["frame_count"].Whole())
                {
                    throw json.Fault("has frames that the bake lacks");
                }
                if (json.Has("root_motion"))
                {
                    var way = json["root_motion"]["translation"];
                    clip.rootYaw = json["root_motion"]["yaw"].Numbers(clip.frameCount);
                    clip.rootTranslation = new Vector3[clip.frameCount];
                    for (int i = 0; i < clip.frameCount; i++)
                    {
                        var at = way[i].Numbers(3);
                        clip.rootTranslation[i] = new Vector3(at[0], at[1], at[2]);
                    }
                }
                clips.Add(clip);
            }
            if (clips.Count == 0)
            {
                throw sidecar["clips"].Fault("is empty");
            }
            return clips.ToArray();
        }

        static void SetTextures(Material material, VatJson sidecar, VatJson position, VatJson normal, VatBake bake)
        {
            var scale = position.Has("scale") ? position["scale"].Numbers(3) : new[] { 1f, 1f, 1f };
            var bias = position.Has("bias") ? position["bias"].Numbers(3) : new[] { 0f, 0f, 0f };
            var lookup = sidecar["mesh"]["lookup"];
            material.SetTexture("_VatPositions", bake.positions);
            if (bake.normals != null)
            {
                material.SetTexture("_VatNormals", bake.normals);
            }
            material.SetVector("_VatScale", new Vector4(scale[0], scale[1], scale[2], sidecar["layout"]["width"].Whole()));
            material.SetVector("_VatBias", new Vector4(bias[0], bias[1], bias[2], sidecar["frame_count"].Whole()));
            int normals = normal == null ? MeshNormals : Number(normal["encoding"], NormalEncodings);
            material.SetVector("_VatLookup", new Vector4(
                lookup["lanes"].Whole(), lookup["groups"].Whole(), Number(position["encoding"], PositionEncodings), normals));
            material.SetVector("_VatClip", bake.Play(0, 0f, bake.clips[0].loops));
            material.SetVector("_VatFade", new Vector4(0f, 0f, bake.Mode(0, false), 0f));
        }

        void AddMaterials(AssetImportContext ctx, VatGlb glb, VatGeometry geometry, VatBake bake, Action<Material> setTextures)
        {
            var shader = FindShader(ctx);
            var makes = new VatMaterials(glb);
            var made = new Dictionary<int, Material>();
            bake.materials = new Material[geometry.Materials.Count];
            for (int i = 0; i < bake.materials.Length; i++)
            {
                int number = geometry.Materials[i];
                if (!made.ContainsKey(number))
                {
                    var material = makes.Make(number, shader);
                    material.SetFloat("_VertexColors", geometry.HasColors ? 1f : 0f);
                    setTextures(material);
                    made.Add(number, material);
                }
                bake.materials[i] = made[number];
            }
            foreach (var picture in makes.Pictures)
            {
                ctx.AddObjectToAsset(picture.Key, picture.Value);
            }
            foreach (var material in made)
            {
                ctx.AddObjectToAsset("material_" + material.Key, material.Value);
            }
            foreach (var left in makes.Left)
            {
                ctx.LogImportWarning(ctx.assetPath + ": " + left, this);
            }
        }

        Shader FindShader(AssetImportContext ctx)
        {
            string path = Beside(ctx.assetPath, "Vat.shader");
            ctx.DependsOnArtifact(path); // a shader that comes later has this imported again
            var shader = AssetDatabase.LoadAssetAtPath<Shader>(path);
            if (shader == null)
            {
                shader = Shader.Find(ShaderName);
            }
            if (shader == null)
            {
                ctx.LogImportWarning(ctx.assetPath + ": the shader " + ShaderName + " is not there yet; keep Vat.shader and the .hlsl files "
                    + "beside this file", this);
                shader = Shader.Find("Hidden/InternalErrorShader");
            }
            return shader;
        }

        static void AddPrefab(AssetImportContext ctx, VatBake bake)
        {
            var shown = new GameObject(bake.name);
            shown.AddComponent<MeshFilter>().sharedMesh = bake.mesh;
            shown.AddComponent<MeshRenderer>().sharedMaterials = bake.materials;
            ctx.AddObjectToAsset("bake", bake);
            ctx.AddObjectToAsset("prefab", shown);
            ctx.SetMainObject(shown);
        }

        static Bounds Box(VatJson json)
        {
            var min = json["min"].Numbers(3);
            var max = json["max"].Numbers(3);
            var box = new Bounds();
            box.SetMinMax(new Vector3(min[0], min[1], min[2]), new Vector3(max[0], max[1], max[2]));
            return box;
        }

        static int Number(VatJson encoding, string[] known)
        {
            int number = Array.IndexOf(known, encoding.Text());
            if (number < 0)
            {
                throw encoding.Fault("is an encoding that is not read: " + encoding.Text());
            }
            return number;
        }

        // A file's name alone: what lies elsewhere is not read.
        static string FileName(string name)
        {
            if (name == "" || name == "." || name == ".." || name.IndexOfAny(new[] { '/', '\\', ':', '\n', '\0' }) >= 0)
            {
                throw new FormatException("\"" + name + "\" is not the name of a file beside this one");
            }
            return name;
        }

        // Paths of assets have forward slashes on every system.
        static string Beside(string path, string name)
        {
            return path.Substring(0, path.LastIndexOf('/') + 1) + name;
        }
    }
}
#endif
