// Reads the static mesh of a bake, NAME_vat.glb, and turns it into Unity's axes. It reads what such a mesh holds: no node transforms,
// no sparse accessors, buffers and images within the file.
#if UNITY_EDITOR
using System;
using System.Collections.Generic;
using System.Text;
using UnityEngine;

namespace Vatbake
{
    /// <summary>A GLB: its JSON and its bytes.</summary>
    internal sealed class VatGlb
    {
        const uint Magic = 0x46546C67; // "glTF"
        const uint JsonChunk = 0x4E4F534A;
        const uint BinChunk = 0x004E4942;

        /// <summary>The JSON chunk.</summary>
        public readonly VatJson Root;
        readonly byte[] file;
        readonly int binary; // first byte of the binary chunk
        readonly int binaryLength;

        /// <summary>Takes the container apart.</summary>
        public VatGlb(byte[] file)
        {
            this.file = file;
            if (file.Length < 12 || Word(0) != Magic || Word(4) != 2 || Word(8) != file.Length)
            {
                throw new FormatException("this is no GLB 2 of the length that it names");
            }
            long at = 12;
            while (at < file.Length)
            {
                if (at + 8 > file.Length)
                {
                    throw new FormatException("the GLB ends within a chunk's header");
                }
                long length = Word((int)at);
                uint kind = Word((int)at + 4);
                if (at + 8 + length > file.Length)
                {
                    throw new FormatException("a chunk of the GLB runs over its end");
                }
                if (kind == JsonChunk && Root == null)
                {
                    Root = VatJson.Parse(Encoding.UTF8.GetString(file, (int)at + 8, (int)length));
                }
                else if (kind == BinChunk && binaryLength == 0)
                {
                    binary = (int)at + 8;
                    binaryLength = (int)length;
                }
                at += 8 + length;
            }
            if (Root == null)
            {
                throw new FormatException("the GLB has no JSON");
            }
        }

        /// <summary>The primitives that the scene shows, in order. Nodes have no transform: positions are those of the scene.</summary>
        public List<VatJson> Primitives()
        {
            var shown = new List<VatJson>();
            var scene = Root["scenes"][Root.Whole("scene", 0)];
            foreach (var node in scene["nodes"].Items())
            {
                var json = Root["nodes"][node.Whole()];
                if (json.Has("mesh"))
                {
                    shown.AddRange(Root["meshes"][json["mesh"].Whole()]["primitives"].Items());
                }
            }
            return shown;
        }

        /// <summary>Bytes of a buffer view.</summary>
        public byte[] View(int index)
        {
            int first;
            int length;
            Find(index, out first, out length);
            var bytes = new byte[length];
            Buffer.BlockCopy(file, first, bytes, 0, length);
            return bytes;
        }

        /// <summary>An accessor's elements as floats, so many each; what is normalised is divided. An accessor may have fewer.</summary>
        public float[] Floats(int index, int width, float missing)
        {
            var accessor = Root["accessors"][index];
            bool normalized = accessor.Flag("normalized");
            int has = Components(accessor);
            int count;
            int stride;
            int size;
            int first = Elements(accessor, has, out count, out stride, out size);
            int component = accessor["componentType"].Whole();
            var all = new float[count * width];
            for (int i = 0; i < count; i++)
            {
                for (int c = 0; c < width; c++)
                {
                    all[i * width + c] = c < has ? Component(first + i * stride + c * size, component, normalized) : missing;
                }
            }
            return all;
        }

        /// <summary>Indices; each must be below a number.</summary>
        public int[] Indices(int index, int below)
        {
            var accessor = Root["accessors"][index];
            int count;
            int stride;
            int size;
            int first = Elements(accessor, 1, out count, out stride, out size);
            var all = new int[count];
            for (int i = 0; i < count; i++)
            {
                int at = first + i * stride;
                uint value = size == 1 ? file[at] : size == 2 ? BitConverter.ToUInt16(file, at) : BitConverter.ToUInt32(file, at);
                if (value >= below)
                {
                    throw accessor.Fault("has the index " + value + " where there are " + below + " vertices");
                }
                all[i] = (int)value;
            }
            return all;
        }

        float Component(int at, int component, bool normalized)
        {
            switch (component)
            {
                case 5120:
                    return normalized ? Mathf.Max((sbyte)file[at] / 127f, -1f) : (sbyte)file[at];
                case 5121:
                    return normalized ? file[at] / 255f : file[at];
                case 5122:
                    return normalized ? Mathf.Max(BitConverter.ToInt16(file, at) / 32767f, -1f) : BitConverter.ToInt16(file, at);
                case 5123:
                    return normalized ? BitConverter.ToUInt16(file, at) / 65535f : BitConverter.ToUInt16(file, at);
                case 5125:
                    return BitConverter.ToUInt32(file, at);
                default:
                    return BitConverter.ToSingle(file, at);
            }
        }

        static int Components(VatJson accessor)
        {
            switch (accessor["type"].Text())
            {
                case "SCALAR":
                    return 1;
                case "VEC2":
                    return 2;
                case "VEC3":
                    return 3;
                case "VEC4":
                    return 4;
                default:
                    throw accessor.Fault("has a type that is not read: " + accessor["type"].Text());
            }
        }

        static int Bytes(VatJson accessor)
        {
            switch (accessor["componentType"].Whole())
            {
                case 5120:
                case 5121:
                    return 1;
                case 5122:
                case 5123:
                    return 2;
                case 5125:
                case 5126:
                    return 4;
                default:
                    throw accessor.Fault("has an unknown componentType");
            }
        }

        // Where an accessor's elements begin; all of them lie within their view.
        int Elements(VatJson accessor, int components, out int count, out int stride, out int size)
        {
            int first;
            int length;
            Find(accessor["bufferView"].Whole(), out first, out length);
            size = Bytes(accessor);
            count = accessor["count"].Whole();
            stride = Root["bufferViews"][accessor["bufferView"].Whole()].Whole("byteStride", size * components);
            long offset = accessor.Whole("byteOffset", 0);
            long end = count == 0 ? offset : offset + (long)(count - 1) * stride + (long)size * components;
            if (end > length)
            {
                throw accessor.Fault("needs " + end + " bytes of a view of " + length);
            }
            return first + (int)offset;
        }

        void Find(int index, out int first, out int length)
        {
            var view = Root["bufferViews"][index];
            long offset = view.Whole("byteOffset", 0);
            length = view["byteLength"].Whole();
            if (view.Whole("buffer", 0) != 0 || offset + length > binaryLength)
            {
                throw view.Fault("is not within the file's buffer of " + binaryLength + " bytes");
            }
            first = binary + (int)offset;
        }

        uint Word(int at)
        {
            return BitConverter.ToUInt32(file, at);
        }
    }

    /// <summary>The mesh as Unity takes it: x negated, triangles turned over, v counted from the bottom.</summary>
    internal sealed class VatGeometry
    {
        public readonly List<Vector3> Positions = new List<Vector3>();
        public readonly List<Vector3> Normals = new List<Vector3>();
        public readonly List<Vector4> Tangents = new List<Vector4>();
        /// <summary>Of the pictures: the set that the material reads, its texture transform applied.</summary>
        public readonly List<Vector2> Uvs = new List<Vector2>();
        /// <summary>Which vertex each is.</summary>
        public readonly List<Vector2> Lookups = new List<Vector2>();
        public readonly List<Color> Colors = new List<Color>();
        /// <summary>Indices of a submesh, one a primitive.</summary>
        public readonly List<int[]> Triangles = new List<int[]>();
        /// <summary>Number of its material, or -1.</summary>
        public readonly List<int> Materials = new List<int>();
        public bool HasNormals = true;
        public bool HasTangents = true;
        public bool HasColors;

        /// <summary>Reads all primitives. `lookup` is the number of the UV set that names the vertices.</summary>
        public VatGeometry(VatGlb glb, int lookup)
        {
            foreach (var primitive in glb.Primitives())
            {
                if (primitive.Whole("mode", 4) != 4)
                {
                    throw primitive.Fault("shows no triangles");
                }
                Add(glb, primitive, lookup);
            }
            if (Triangles.Count == 0)
            {
                throw new FormatException("the GLB shows no triangle");
            }
        }

        void Add(VatGlb glb, VatJson primitive, int lookup)
        {
            var attributes = primitive["attributes"];
            int before = Positions.Count;
            var positions = glb.Floats(attributes["POSITION"].Whole(), 3, 0f);
            int count = positions.Length / 3;
            for (int i = 0; i < count; i++)
            {
                Positions.Add(new Vector3(-positions[i * 3], positions[i * 3 + 1], positions[i * 3 + 2]));
            }
            var normals = Attribute(glb, attributes, "NORMAL", 3, count, 0f);
            HasNormals &= normals != null;
            var tangents = Attribute(glb, attributes, "TANGENT", 4, count, 1f);
            HasTangents &= tangents != null;
            var colors = Attribute(glb, attributes, "COLOR_0", 4, count, 1f);
            HasColors |= colors != null;
            var material = primitive.Has("material") ? glb.Root["materials"][primitive["material"].Whole()] : null;
            var picture = new VatUv(material);
            var uvs = Attribute(glb, attributes, "TEXCOORD_" + picture.Set, 2, count, 0f);
            var lookups = Attribute(glb, attributes, "TEXCOORD_" + lookup, 2, count, 0f);
            if (lookups == null)
            {
                throw attributes.Fault("lacks TEXCOORD_" + lookup + ", which names the vertices");
            }
            for (int i = 0; i < count; i++)
            {
                Normals.Add(normals == null ? Vector3.up : new Vector3(-normals[i * 3], normals[i * 3 + 1], normals[i * 3 + 2]));
                // The mirror turns the cross product over, so that the sign of the bitangent changes.
                Tangents.Add(tangents == null
                    ? new Vector4(1f, 0f, 0f, 1f)
                    : new Vector4(-tangents[i * 4], tangents[i * 4 + 1], tangents[i * 4 + 2], -tangents[i * 4 + 3]));
                var uv = uvs == null ? Vector2.zero : picture.Apply(uvs[i * 2], uvs[i * 2 + 1]);
                Uvs.Add(new Vector2(uv.x, 1f - uv.y));
                Lookups.Add(new Vector2(lookups[i * 2], 1f - lookups[i * 2 + 1]));
                Colors.Add(colors == null
                    ? Color.white
                    : new Color(colors[i * 4], colors[i * 4 + 1], colors[i * 4 + 2], colors[i * 4 + 3]));
            }
            Triangles.Add(Turned(glb, primitive, count, before));
            Materials.Add(primitive.Whole("material", -1));
        }

        // Triangles with the second and third corner exchanged, since the mirror turns them over.
        static int[] Turned(VatGlb glb, VatJson primitive, int count, int before)
        {
            int[] indices;
            if (primitive.Has("indices"))
            {
                indices = glb.Indices(primitive["indices"].Whole(), count);
            }
            else
            {
                indices = new int[count];
                for (int i = 0; i < count; i++)
                {
                    indices[i] = i;
                }
            }
            var turned = new int[indices.Length / 3 * 3];
            for (int i = 0; i < turned.Length; i += 3)
            {
                turned[i] = before + indices[i];
                turned[i + 1] = before + indices[i + 2];
                turned[i + 2] = before + indices[i + 1];
            }
            return turned;
        }

        static float[] Attribute(VatGlb glb, VatJson attributes, string name, int width, int count, float missing)
        {
            if (!attributes.Has(name))
            {
                return null;
            }
            var all = glb.Floats(attributes[name].Whole(), width, missing);
            if (all.Length != count * width)
            {
                throw attributes.Fault("has " + all.Length / width + " elements in " + name + " for " + count + " vertices");
            }
            return all;
        }
    }

    /// <summary>Which UV set a material's pictures read, and how they move it (KHR_texture_transform).</summary>
    internal struct VatUv
    {
        public int Set;
        Vector2 offset;
        Vector2 scale;
        float rotation;

        /// <summary>That of the base colour; of another picture where there is none.</summary>
        public VatUv(VatJson material)
        {
            Set = 0;
            offset = Vector2.zero;
            scale = Vector2.one;
            rotation = 0f;
            var picture = material == null ? null : Main(material);
            if (picture != null)
            {
                this = Of(picture);
            }
        }

        /// <summary>That of one picture.</summary>
        public static VatUv Of(VatJson picture)
        {
            var uv = new VatUv(null) { Set = picture.Whole("texCoord", 0) };
            var extensions = picture.Get("extensions");
            var transform = extensions == null ? null : extensions.Get("KHR_texture_transform");
            if (transform != null)
            {
                uv.Set = transform.Whole("texCoord", uv.Set);
                uv.rotation = transform.Number("rotation", 0f);
                uv.offset = transform.Has("offset") ? Pair(transform["offset"]) : uv.offset;
                uv.scale = transform.Has("scale") ? Pair(transform["scale"]) : uv.scale;
            }
            return uv;
        }

        /// <summary>Whether another picture is read in the same way.</summary>
        public bool Same(VatUv other)
        {
            return Set == other.Set && offset == other.offset && scale == other.scale && rotation == other.rotation;
        }

        /// <summary>Scaled, then turned, then moved, in glTF's UVs, whose v runs down.</summary>
        public Vector2 Apply(float u, float v)
        {
            u *= scale.x;
            v *= scale.y;
            float c = Mathf.Cos(rotation);
            float s = Mathf.Sin(rotation);
            return new Vector2(c * u + s * v + offset.x, c * v - s * u + offset.y);
        }

        static Vector2 Pair(VatJson json)
        {
            var two = json.Numbers(2);
            return new Vector2(two[0], two[1]);
        }

        static VatJson Main(VatJson material)
        {
            var surface = material.Get("pbrMetallicRoughness");
            if (surface != null && surface.Has("baseColorTexture"))
            {
                return surface["baseColorTexture"];
            }
            if (surface != null && surface.Has("metallicRoughnessTexture"))
            {
                return surface["metallicRoughnessTexture"];
            }
            return material.Get("normalTexture") ?? material.Get("emissiveTexture") ?? material.Get("occlusionTexture");
        }
    }
}
#endif
