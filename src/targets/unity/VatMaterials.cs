// Makes Unity's materials of a GLB's, for the shader Vatbake/Vat.
#if UNITY_EDITOR
using System.Collections.Generic;
using UnityEngine;
using UnityEngine.Rendering;

namespace Vatbake
{
    /// <summary>Materials with their pictures. What is left out is said in <see cref="Left"/>.</summary>
    internal sealed class VatMaterials
    {
        readonly VatGlb glb;
        readonly Dictionary<string, Texture2D> pictures = new Dictionary<string, Texture2D>();
        /// <summary>Pictures by their name among the imported objects.</summary>
        public readonly List<KeyValuePair<string, Texture2D>> Pictures = new List<KeyValuePair<string, Texture2D>>();
        /// <summary>What the shader does not show, a sentence each.</summary>
        public readonly List<string> Left = new List<string>();

        public VatMaterials(VatGlb glb)
        {
            this.glb = glb;
        }

        /// <summary>The material of that number, or glTF's default for -1.</summary>
        public Material Make(int number, Shader shader)
        {
            var json = number < 0 ? VatJson.Parse("{}") : glb.Root["materials"][number];
            var material = new Material(shader) { name = json.Text("name", number < 0 ? "Default" : "Material_" + number) };
            material.enableInstancing = true; // Graphics.RenderMeshInstanced refuses others
            var surface = json.Get("pbrMetallicRoughness") ?? VatJson.Parse("{}");
            var main = new VatUv(number < 0 ? null : json);
            material.SetColor("_BaseColor", Shown(surface, "baseColorFactor", 4, 1f));
            material.SetFloat("_Metallic", surface.Number("metallicFactor", 1f));
            material.SetFloat("_Roughness", surface.Number("roughnessFactor", 1f));
            SetPicture(material, "_BaseMap", surface.Get("baseColorTexture"), true, main);
            SetPicture(material, "_MetallicRoughnessMap", surface.Get("metallicRoughnessTexture"), false, main);
            var normal = json.Get("normalTexture");
            if (SetPicture(material, "_NormalMap", normal, false, main))
            {
                material.SetFloat("_NormalScale", normal.Number("scale", 1f));
                material.EnableKeyword("_NORMALMAP");
            }
            var occlusion = json.Get("occlusionTexture");
            if (SetPicture(material, "_OcclusionMap", occlusion, false, main))
            {
                material.SetFloat("_OcclusionStrength", occlusion.Number("strength", 1f));
            }
            SetPicture(material, "_EmissionMap", json.Get("emissiveTexture"), true, main);
            var extensions = json.Get("extensions");
            var strength = extensions == null ? null : extensions.Get("KHR_materials_emissive_strength");
            material.SetColor("_EmissionColor", Shown(json, "emissiveFactor", 3, 0f));
            material.SetFloat("_EmissionStrength", strength == null ? 1f : strength.Number("emissiveStrength", 1f));
            if (extensions != null && extensions.Has("KHR_materials_unlit"))
            {
                material.EnableKeyword("_UNLIT");
            }
            material.SetFloat("_Cull", (float)(json.Flag("doubleSided") ? CullMode.Off : CullMode.Back));
            SetAlpha(material, json);
            return material;
        }

        static void SetAlpha(Material material, VatJson json)
        {
            switch (json.Text("alphaMode", "OPAQUE"))
            {
                case "MASK":
                    material.EnableKeyword("_ALPHATEST_ON");
                    material.SetFloat("_Cutoff", json.Number("alphaCutoff", 0.5f));
                    material.SetOverrideTag("RenderType", "TransparentCutout");
                    material.renderQueue = (int)RenderQueue.AlphaTest;
                    break;
                case "BLEND":
                    material.EnableKeyword("_SURFACE_TYPE_TRANSPARENT");
                    material.SetFloat("_SrcBlend", (float)BlendMode.SrcAlpha);
                    material.SetFloat("_DstBlend", (float)BlendMode.OneMinusSrcAlpha);
                    material.SetFloat("_ZWrite", 0f);
                    material.SetOverrideTag("RenderType", "Transparent");
                    material.renderQueue = (int)RenderQueue.Transparent;
                    break;
            }
        }

        // Colours of glTF are linear; a material's are given as the eye sees them, and Unity turns them back for the shader.
        static Color Shown(VatJson json, string key, int count, float otherwise)
        {
            if (!json.Has(key))
            {
                return new Color(otherwise, otherwise, otherwise, 1f);
            }
            var c = json[key].Numbers(count);
            return new Color(c[0], c[1], c[2], count == 4 ? c[3] : 1f).gamma;
        }

        // Whether the picture is there. A mesh has one UV set for all pictures of a material: another one is left out, and said.
        bool SetPicture(Material material, string property, VatJson picture, bool isColor, VatUv main)
        {
            if (picture == null)
            {
                return false;
            }
            if (!VatUv.Of(picture).Same(main))
            {
                Left.Add("material \"" + material.name + "\": " + property + " reads other UVs than the material's main picture and is left out");
                return false;
            }
            var texture = Load(picture["index"].Whole(), isColor);
            if (texture == null)
            {
                Left.Add("material \"" + material.name + "\": the picture of " + property + " is neither PNG nor JPEG and is left out");
                return false;
            }
            material.SetTexture(property, texture);
            return true;
        }

        Texture2D Load(int number, bool isColor)
        {
            var json = glb.Root["textures"][number];
            if (!json.Has("source"))
            {
                return null;
            }
            var image = glb.Root["images"][json["source"].Whole()];
            string type = image.Text("mimeType", "");
            if (!image.Has("bufferView") || (type != "image/png" && type != "image/jpeg"))
            {
                return null;
            }
            string key = "picture_" + number + (isColor ? "" : "_data"); // one picture may be colours here and numbers there
            Texture2D texture;
            if (pictures.TryGetValue(key, out texture))
            {
                return texture;
            }
            texture = new Texture2D(2, 2, TextureFormat.RGBA32, true, !isColor) { name = image.Text("name", key) };
            if (!ImageConversion.LoadImage(texture, glb.View(image["bufferView"].Whole())))
            {
                return null;
            }
            var sampler = json.Has("sampler") ? glb.Root["samplers"][json["sampler"].Whole()] : VatJson.Parse("{}");
            texture.wrapModeU = Wrap(sampler.Whole("wrapS", 10497));
            texture.wrapModeV = Wrap(sampler.Whole("wrapT", 10497));
            texture.filterMode = sampler.Whole("magFilter", 9729) == 9728 ? FilterMode.Point : FilterMode.Trilinear;
            VatImporter.DropCopy(texture);
            pictures.Add(key, texture);
            Pictures.Add(new KeyValuePair<string, Texture2D>(key, texture));
            return texture;
        }

        static TextureWrapMode Wrap(int mode)
        {
            return mode == 33071 ? TextureWrapMode.Clamp : mode == 33648 ? TextureWrapMode.Mirror : TextureWrapMode.Repeat;
        }
    }
}
#endif
