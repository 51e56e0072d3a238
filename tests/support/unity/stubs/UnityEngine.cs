// Stands in for the parts of UnityEngine that the kit uses, with the signatures of Unity's documentation (2022.3). What is set is kept,
// so that a test can ask for it; nothing is drawn. Arithmetic is Unity's: plain floats.
using System;
using System.Collections.Generic;
using System.Linq;

namespace UnityEngine
{
    public static class Mathf
    {
        public static float Max(float a, float b) { return Math.Max(a, b); }
        public static int Max(int a, int b) { return Math.Max(a, b); }
        public static int Min(int a, int b) { return Math.Min(a, b); }
        public static float Abs(float f) { return Math.Abs(f); }
        public static float Cos(float f) { return (float)Math.Cos(f); }
        public static float Sin(float f) { return (float)Math.Sin(f); }
        public static float LinearToGammaSpace(float value)
        {
            return value <= 0.0031308f ? value * 12.92f : 1.055f * (float)Math.Pow(value, 1 / 2.4) - 0.055f;
        }
    }

    public struct Vector2
    {
        public float x, y;
        public Vector2(float x, float y) { this.x = x; this.y = y; }
        public static Vector2 zero { get { return new Vector2(0, 0); } }
        public static Vector2 one { get { return new Vector2(1, 1); } }
        public static bool operator ==(Vector2 a, Vector2 b) { return a.x == b.x && a.y == b.y; }
        public static bool operator !=(Vector2 a, Vector2 b) { return !(a == b); }
        public override bool Equals(object other) { return other is Vector2 && (Vector2)other == this; }
        public override int GetHashCode() { return x.GetHashCode() ^ y.GetHashCode() << 2; }
    }

    public struct Vector3
    {
        public float x, y, z;
        public Vector3(float x, float y, float z) { this.x = x; this.y = y; this.z = z; }
        public static Vector3 zero { get { return new Vector3(0, 0, 0); } }
        public static Vector3 one { get { return new Vector3(1, 1, 1); } }
        public static Vector3 up { get { return new Vector3(0, 1, 0); } }
        public static Vector3 operator +(Vector3 a, Vector3 b) { return new Vector3(a.x + b.x, a.y + b.y, a.z + b.z); }
        public static Vector3 operator -(Vector3 a, Vector3 b) { return new Vector3(a.x - b.x, a.y - b.y, a.z - b.z); }
        public static Vector3 operator *(Vector3 a, float d) { return new Vector3(a.x * d, a.y * d, a.z * d); }
        public static Vector3 Min(Vector3 a, Vector3 b) { return new Vector3(Math.Min(a.x, b.x), Math.Min(a.y, b.y), Math.Min(a.z, b.z)); }
        public static Vector3 Max(Vector3 a, Vector3 b) { return new Vector3(Math.Max(a.x, b.x), Math.Max(a.y, b.y), Math.Max(a.z, b.z)); }
    }

    public struct Vector4
    {
        public float x, y, z, w;
        public Vector4(float x, float y, float z, float w) { this.x = x; this.y = y; this.z = z; this.w = w; }
    }

    public struct Quaternion
    {
        public float x, y, z, w;
        public static Quaternion identity { get { return new Quaternion { w = 1 }; } }
    }

    public struct Color
    {
        public float r, g, b, a;
        public Color(float r, float g, float b, float a) { this.r = r; this.g = g; this.b = b; this.a = a; }
        public static Color white { get { return new Color(1, 1, 1, 1); } }
        public Color gamma
        {
            get { return new Color(Mathf.LinearToGammaSpace(r), Mathf.LinearToGammaSpace(g), Mathf.LinearToGammaSpace(b), a); }
        }
    }

    public struct Matrix4x4
    {
        public float m00, m10, m20, m30, m01, m11, m21, m31, m02, m12, m22, m32, m03, m13, m23, m33;
        public static Matrix4x4 identity { get { return TRS(Vector3.zero, Quaternion.identity, Vector3.one); } }
        public static Matrix4x4 TRS(Vector3 pos, Quaternion q, Vector3 s)
        {
            if (q.x != 0 || q.y != 0 || q.z != 0) { throw new NotImplementedException("the stub turns nothing"); }
            return new Matrix4x4 { m00 = s.x, m11 = s.y, m22 = s.z, m33 = 1, m03 = pos.x, m13 = pos.y, m23 = pos.z };
        }
        public static Matrix4x4 operator *(Matrix4x4 a, Matrix4x4 b)
        {
            var c = new Matrix4x4();
            for (int row = 0; row < 4; row++)
            {
                for (int column = 0; column < 4; column++)
                {
                    float sum = 0;
                    for (int k = 0; k < 4; k++) { sum += a[row, k] * b[k, column]; }
                    c[row, column] = sum;
                }
            }
            return c;
        }
        public float this[int row, int column]
        {
            get { return Cell(row + column * 4); }
            set { SetCell(row + column * 4, value); }
        }
        float Cell(int i)
        {
            return new[] { m00, m10, m20, m30, m01, m11, m21, m31, m02, m12, m22, m32, m03, m13, m23, m33 }[i];
        }
        void SetCell(int i, float v)
        {
            switch (i)
            {
                case 0: m00 = v; break; case 1: m10 = v; break; case 2: m20 = v; break; case 3: m30 = v; break;
                case 4: m01 = v; break; case 5: m11 = v; break; case 6: m21 = v; break; case 7: m31 = v; break;
                case 8: m02 = v; break; case 9: m12 = v; break; case 10: m22 = v; break; case 11: m32 = v; break;
                case 12: m03 = v; break; case 13: m13 = v; break; case 14: m23 = v; break; default: m33 = v; break;
            }
        }
        public Vector3 MultiplyVector(Vector3 v)
        {
            return new Vector3(m00 * v.x + m01 * v.y + m02 * v.z, m10 * v.x + m11 * v.y + m12 * v.z, m20 * v.x + m21 * v.y + m22 * v.z);
        }
        public Vector3 MultiplyPoint3x4(Vector3 v) { return MultiplyVector(v) + new Vector3(m03, m13, m23); }
    }

    public struct Bounds
    {
        public Vector3 center, extents;
        public Bounds(Vector3 center, Vector3 size) { this.center = center; extents = size * 0.5f; }
        public Vector3 min { get { return center - extents; } }
        public Vector3 max { get { return center + extents; } }
        public void SetMinMax(Vector3 min, Vector3 max) { extents = (max - min) * 0.5f; center = min + extents; }
        public void Encapsulate(Bounds bounds) { SetMinMax(Vector3.Min(min, bounds.min), Vector3.Max(max, bounds.max)); }
    }

    public class Object
    {
        public string name { get; set; }
    }

    public class ScriptableObject : Object
    {
        public static T CreateInstance<T>() where T : ScriptableObject { return Activator.CreateInstance<T>(); }
    }

    public class Component : Object
    {
        public GameObject gameObject { get; internal set; }
        public Transform transform { get { return gameObject.transform; } }
    }

    public class Behaviour : Component { }
    public class MonoBehaviour : Behaviour { }

    public class Transform : Component
    {
        public Matrix4x4 localToWorldMatrix { get { return Matrix4x4.identity; } }
    }

    public sealed class GameObject : Object
    {
        readonly List<Component> components = new List<Component>();
        public int layer { get; set; }
        public Transform transform { get; private set; }
        public GameObject(string name) { this.name = name; transform = AddComponent<Transform>(); }
        public T AddComponent<T>() where T : Component
        {
            var made = Activator.CreateInstance<T>();
            made.gameObject = this;
            components.Add(made);
            return made;
        }
        public T GetComponent<T>() { return components.OfType<T>().FirstOrDefault(); }
    }

    public sealed class MeshFilter : Component
    {
        public Mesh sharedMesh { get; set; }
    }

    public class Renderer : Component
    {
        public Material[] sharedMaterials { get; set; }
    }
    public class MeshRenderer : Renderer { }

    public sealed class Mesh : Object
    {
        public Vector3[] vertices;
        public Vector3[] normals;
        public Vector4[] tangents;
        public Color[] colors;
        public readonly Vector2[][] uvs = new Vector2[8][];
        public int[][] triangles = new int[1][];
        public Rendering.IndexFormat indexFormat { get; set; }
        public Bounds bounds { get; set; }
        public int subMeshCount
        {
            get { return triangles.Length; }
            set { Array.Resize(ref triangles, value); }
        }
        public void SetVertices(List<Vector3> inVertices) { vertices = inVertices.ToArray(); }
        public void SetNormals(List<Vector3> inNormals) { normals = Whole(inNormals); }
        public void SetTangents(List<Vector4> inTangents) { tangents = Whole(inTangents); }
        public void SetColors(List<Color> inColors) { colors = Whole(inColors); }
        public void SetUVs(int channel, List<Vector2> uvs) { this.uvs[channel] = Whole(uvs); }
        public void SetTriangles(int[] triangles, int submesh, bool calculateBounds = true)
        {
            if (triangles.Length % 3 != 0 || triangles.Any(i => i < 0 || i >= vertices.Length))
            {
                throw new ArgumentException("Unity refuses these triangles");
            }
            this.triangles[submesh] = triangles;
        }
        T[] Whole<T>(List<T> all)
        {
            if (all.Count != vertices.Length) { throw new ArgumentException("Unity refuses " + all.Count + " values"); }
            return all.ToArray();
        }
    }

    public enum TextureFormat { RGBA32 = 4, RGBAHalf = 17, RGBAFloat = 20, RGBA64 = 74 }
    public enum FilterMode { Point, Bilinear, Trilinear }
    public enum TextureWrapMode { Repeat, Clamp, Mirror }

    public class Texture : Object
    {
        public int width { get; protected set; }
        public int height { get; protected set; }
        public FilterMode filterMode { get; set; }
        public int anisoLevel { get; set; }
        public TextureWrapMode wrapModeU { get; set; }
        public TextureWrapMode wrapModeV { get; set; }
        public TextureWrapMode wrapMode { get { return wrapModeU; } set { wrapModeU = wrapModeV = value; } }
    }

    public sealed class Texture2D : Texture
    {
        public readonly TextureFormat format;
        public readonly bool mips;
        public readonly bool linear;
        public bool m_IsReadable = true;
        public byte[] data;
        public bool applied;
        public byte[] image;
        public Texture2D(int width, int height, TextureFormat textureFormat, bool mipChain, bool linear)
        {
            this.width = width;
            this.height = height;
            format = textureFormat;
            mips = mipChain;
            this.linear = linear;
        }
        public void LoadRawTextureData(byte[] data)
        {
            int size = format == TextureFormat.RGBAFloat ? 16 : format == TextureFormat.RGBA32 ? 4 : 8;
            if (data.Length != width * height * size) { throw new ArgumentException("Unity refuses " + data.Length + " bytes"); }
            this.data = (byte[])data.Clone();
        }
        public void Apply(bool updateMipmaps = true, bool makeNoLongerReadable = false)
        {
            applied = true;
            if (makeNoLongerReadable) { data = null; }
        }
    }

    public static class ImageConversion
    {
        public static bool LoadImage(Texture2D tex, byte[] data)
        {
            bool png = data.Length > 4 && data[1] == 'P' && data[2] == 'N' && data[3] == 'G';
            bool jpeg = data.Length > 2 && data[0] == 0xFF && data[1] == 0xD8;
            tex.image = data;
            return png || jpeg;
        }
    }

    public sealed class Shader : Object
    {
        static readonly List<string> ids = new List<string>();
        public static Shader Find(string name) { return null; }
        public static int PropertyToID(string name)
        {
            if (!ids.Contains(name)) { ids.Add(name); }
            return ids.IndexOf(name);
        }
        public static string NameOf(int id) { return ids[id]; }
    }

    public sealed class Material : Object
    {
        public readonly Shader shader;
        public readonly SortedDictionary<string, Vector4> vectors = new SortedDictionary<string, Vector4>(StringComparer.Ordinal);
        public readonly SortedDictionary<string, float> floats = new SortedDictionary<string, float>(StringComparer.Ordinal);
        public readonly SortedDictionary<string, Texture> textures = new SortedDictionary<string, Texture>(StringComparer.Ordinal);
        public readonly SortedDictionary<string, string> tags = new SortedDictionary<string, string>(StringComparer.Ordinal);
        public readonly SortedSet<string> keywords = new SortedSet<string>(StringComparer.Ordinal);
        public bool enableInstancing { get; set; }
        public int renderQueue { get; set; }
        public Material(Shader shader)
        {
            if (shader == null) { throw new ArgumentNullException("shader"); }
            this.shader = shader;
            renderQueue = -1;
        }
        public void SetColor(string name, Color value) { vectors[name] = new Vector4(value.r, value.g, value.b, value.a); }
        public void SetVector(string name, Vector4 value) { vectors[name] = value; }
        public void SetFloat(string name, float value) { floats[name] = value; }
        public void SetTexture(string name, Texture value) { textures[name] = value; }
        public void SetOverrideTag(string tag, string val) { tags[tag] = val; }
        public void EnableKeyword(string keyword) { keywords.Add(keyword); }
    }

    public sealed class MaterialPropertyBlock
    {
        public readonly SortedDictionary<string, Vector4[]> values = new SortedDictionary<string, Vector4[]>(StringComparer.Ordinal);
        public int fills;
        public void SetVector(int nameID, Vector4 value) { values[Shader.NameOf(nameID)] = new[] { value }; }
        public void SetVectorArray(int nameID, Vector4[] values)
        {
            if (values.Length == 0 || values.Length > 1023) { throw new ArgumentException("Unity refuses " + values.Length + " vectors"); }
            this.values[Shader.NameOf(nameID)] = (Vector4[])values.Clone();
            fills++;
        }
    }

    public enum MotionVectorGenerationMode { Camera, Object, ForceNoMotion }

    public struct RenderParams
    {
        public RenderParams(Material mat) : this() { material = mat; }
        public int layer { get; set; }
        public MotionVectorGenerationMode motionVectorMode { get; set; }
        public Material material { get; set; }
        public MaterialPropertyBlock matProps { get; set; }
        public Rendering.ShadowCastingMode shadowCastingMode { get; set; }
        public bool receiveShadows { get; set; }
        public Bounds worldBounds { get; set; }
    }

    public static class Graphics
    {
        public struct Call
        {
            public RenderParams parameters;
            public Mesh mesh;
            public int submesh, count, start;
            public Matrix4x4 first, firstBefore;
            public SortedDictionary<string, Vector4[]> values;
        }
        public static readonly List<Call> calls = new List<Call>();

        public static void RenderMeshInstanced<T>(
            in RenderParams rparams, Mesh mesh, int submeshIndex, T[] instanceData, int instanceCount = -1, int startInstance = 0)
            where T : struct
        {
            if (!rparams.material.enableInstancing)
            {
                throw new InvalidOperationException("Material needs to enable instancing for use with RenderMeshInstanced.");
            }
            // The names and types that Unity looks for.
            var now = typeof(T).GetField("objectToWorld");
            var before = typeof(T).GetField("prevObjectToWorld");
            if (now == null || now.FieldType != typeof(Matrix4x4) || before == null || before.FieldType != typeof(Matrix4x4))
            {
                throw new ArgumentException("Unity finds no objectToWorld");
            }
            calls.Add(new Call
            {
                parameters = rparams, mesh = mesh, submesh = submeshIndex, count = instanceCount, start = startInstance,
                first = (Matrix4x4)now.GetValue(instanceData[startInstance]),
                firstBefore = (Matrix4x4)before.GetValue(instanceData[startInstance]),
                values = new SortedDictionary<string, Vector4[]>(rparams.matProps.values, StringComparer.Ordinal),
            });
        }
    }

    public static class Time
    {
        public static double timeAsDouble { get; set; }
    }

    [AttributeUsage(AttributeTargets.Field)]
    public sealed class MinAttribute : Attribute { public MinAttribute(float min) { } }
    [AttributeUsage(AttributeTargets.Field)]
    public sealed class TooltipAttribute : Attribute { public TooltipAttribute(string tooltip) { } }
}

namespace UnityEngine.Rendering
{
    public enum IndexFormat { UInt16, UInt32 }
    public enum CullMode { Off, Front, Back }
    public enum BlendMode { Zero, One, DstColor, SrcColor, OneMinusDstColor, SrcAlpha, OneMinusSrcColor, DstAlpha, OneMinusDstAlpha,
        SrcAlphaSaturate, OneMinusSrcAlpha }
    public enum RenderQueue { Background = 1000, Geometry = 2000, AlphaTest = 2450, GeometryLast = 2500, Transparent = 3000, Overlay = 4000 }
    public enum ShadowCastingMode { Off, On, TwoSided, ShadowsOnly }
}
