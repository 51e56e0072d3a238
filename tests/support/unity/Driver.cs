// Runs the kit's C# outside of Unity, upon the stubs, and tells what came out as JSON.
//
//   import NAME.vatbake          what the importer made
//   crowd NAME.vatbake N T...    what the spawner draws for N instances at the times T, in seconds; at the second time the first
//                                instance begins to play the last clip once, faded in over two seconds
using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using System.Reflection;
using System.Text;
using UnityEditor.AssetImporters;
using UnityEngine;
using Vatbake;

static class Driver
{
    static int Main(string[] arguments)
    {
        CultureInfo.CurrentCulture = new CultureInfo(Environment.GetEnvironmentVariable("VATBAKE_CULTURE") ?? "");
        var ctx = new AssetImportContext(arguments[1]);
        var attribute = (ScriptedImporterAttribute)typeof(VatImporter).GetCustomAttribute(typeof(ScriptedImporterAttribute));
        if (!arguments[1].EndsWith("." + attribute.extension))
        {
            throw new ArgumentException("Unity would not give " + arguments[1] + " to the importer");
        }
        var before = (string[])typeof(VatImporter)
            .GetMethod("GatherDependenciesFromSourceFile", BindingFlags.Static | BindingFlags.NonPublic)
            .Invoke(null, new object[] { arguments[1] });
        new VatImporter().OnImportAsset(ctx);
        var told = new SortedDictionary<string, object>
        {
            { "errors", ctx.errors }, { "warnings", ctx.warnings }, { "dependencies", ctx.dependencies }, { "before", before },
        };
        if (ctx.errors.Count == 0)
        {
            if (arguments[0] == "import")
            {
                Import(ctx, told);
            }
            else
            {
                Crowd(ctx, told, arguments.Skip(2).Select(a => double.Parse(a, CultureInfo.InvariantCulture)).ToArray());
            }
        }
        var text = new StringBuilder();
        Write(told, text);
        Console.Out.Write(text);
        return 0;
    }

    static void Import(AssetImportContext ctx, SortedDictionary<string, object> told)
    {
        var shown = (GameObject)ctx.mainObject;
        var mesh = shown.GetComponent<MeshFilter>().sharedMesh;
        var bake = (VatBake)ctx.objects.Single(o => o.Key == "bake").Value;
        told["objects"] = ctx.objects.Select(o => o.Key).ToArray();
        told["name"] = shown.name;
        told["is_mesh_imported"] = ctx.objects.Any(o => o.Value == mesh) && bake.mesh == mesh;
        told["are_materials_imported"] = bake.materials.All(m => ctx.objects.Any(o => o.Value == m));
        told["are_materials_shown"] = shown.GetComponent<MeshRenderer>().sharedMaterials == bake.materials;
        told["mesh"] = new SortedDictionary<string, object>
        {
            { "positions", mesh.vertices }, { "normals", mesh.normals }, { "tangents", mesh.tangents }, { "colors", mesh.colors },
            { "uv", mesh.uvs[0] }, { "lookup", mesh.uvs[1] }, { "triangles", mesh.triangles }, { "bounds", mesh.bounds },
            { "indices", mesh.indexFormat.ToString() },
        };
        told["bounds"] = bake.bounds;
        told["textures"] = new[] { bake.positions, bake.normals, bake.tangents }.Where(t => t != null).ToArray();
        told["clips"] = bake.clips;
        told["play"] = Enumerable.Range(0, bake.clips.Length).Select(c => bake.Play(c, 1.5f, bake.clips[c].loops)).ToArray();
        told["materials"] = bake.materials;
    }

    static void Crowd(AssetImportContext ctx, SortedDictionary<string, object> told, double[] numbers)
    {
        var spawner = new GameObject("crowd").AddComponent<VatSpawner>();
        spawner.bake = (VatBake)ctx.objects.Single(o => o.Key == "bake").Value;
        spawner.columns = (int)numbers[0];
        spawner.rows = 1;
        Time.timeAsDouble = numbers[1];
        Call(spawner, "OnEnable");
        var frames = new List<object>();
        foreach (double time in numbers.Skip(1))
        {
            Time.timeAsDouble = time;
            if (time == numbers[2])
            {
                spawner.Play(0, spawner.bake.clips.Length - 1, false, 2f);
                spawner.Move(0, Matrix4x4.TRS(new Vector3(0, 50, 0), Quaternion.identity, Vector3.one));
            }
            Graphics.calls.Clear();
            Call(spawner, "LateUpdate");
            frames.Add(new SortedDictionary<string, object> { { "time", time }, { "calls", Graphics.calls.ToArray() } });
        }
        told["frames"] = frames;
        told["count"] = spawner.Count;
        told["materials"] = spawner.bake.materials.Length;
        told["clips"] = spawner.bake.clips;
    }

    static void Call(object on, string method)
    {
        on.GetType().GetMethod(method, BindingFlags.Instance | BindingFlags.NonPublic).Invoke(on, null);
    }

    static void Write(object value, StringBuilder text)
    {
        var invariant = CultureInfo.InvariantCulture;
        if (value == null) { text.Append("null"); }
        else if (value is bool) { text.Append((bool)value ? "true" : "false"); }
        else if (value is float) { text.Append(((double)(float)value).ToString("R", invariant)); }
        else if (value is double) { text.Append(((double)value).ToString("R", invariant)); }
        else if (value is int) { text.Append(((int)value).ToString(invariant)); }
        else if (value is string) { Quote((string)value, text); }
        else if (value is Vector2) { var v = (Vector2)value; Write(new[] { v.x, v.y }, text); }
        else if (value is Vector3) { var v = (Vector3)value; Write(new[] { v.x, v.y, v.z }, text); }
        else if (value is Vector4) { var v = (Vector4)value; Write(new[] { v.x, v.y, v.z, v.w }, text); }
        else if (value is Color) { var v = (Color)value; Write(new[] { v.r, v.g, v.b, v.a }, text); }
        else if (value is Bounds) { var v = (Bounds)value; Write(new[] { v.min, v.max }, text); }
        else if (value is Texture2D) { WriteTexture((Texture2D)value, text); }
        else if (value is byte[]) { Quote(Convert.ToBase64String((byte[])value), text); }
        else if (value is Material)
        {
            var m = (Material)value;
            Write(new SortedDictionary<string, object>
            {
                { "name", m.name }, { "vectors", m.vectors }, { "floats", m.floats }, { "tags", m.tags }, { "keywords", m.keywords.ToArray() },
                { "queue", m.renderQueue }, { "instanced", m.enableInstancing }, { "shader", m.shader.name },
                { "textures", m.textures.ToDictionary(t => t.Key, t => t.Value.name) },
            }, text);
        }
        else if (value is VatClip)
        {
            var c = (VatClip)value;
            Write(new SortedDictionary<string, object>
            {
                { "name", c.name }, { "first_frame", c.firstFrame }, { "frame_count", c.frameCount }, { "fps", c.fps },
                { "length", c.length }, { "loops", c.loops }, { "stepped", c.stepped }, { "bounds", c.bounds },
                { "root_translation", c.rootTranslation }, { "root_yaw", c.rootYaw },
            }, text);
        }
        else if (value is Graphics.Call)
        {
            var c = (Graphics.Call)value;
            Write(new SortedDictionary<string, object>
            {
                { "submesh", c.submesh }, { "count", c.count }, { "start", c.start }, { "bounds", c.parameters.worldBounds },
                { "values", c.values }, { "fills", c.parameters.matProps.fills }, { "material", c.parameters.material.name },
                { "motion", c.parameters.motionVectorMode.ToString() },
                { "height", c.first.m13 }, { "height_before", c.firstBefore.m13 },
            }, text);
        }
        else if (value is System.Collections.IDictionary)
        {
            var all = (System.Collections.IDictionary)value;
            string comma = "{";
            foreach (System.Collections.DictionaryEntry entry in all)
            {
                text.Append(comma);
                Quote((string)entry.Key, text);
                text.Append(':');
                Write(entry.Value, text);
                comma = ",";
            }
            text.Append(all.Count == 0 ? "{}" : "}");
        }
        else if (value is System.Collections.IEnumerable)
        {
            string comma = "";
            text.Append('[');
            foreach (var element in (System.Collections.IEnumerable)value)
            {
                text.Append(comma);
                Write(element, text);
                comma = ",";
            }
            text.Append(']');
        }
        else { throw new NotImplementedException(value.GetType().ToString()); }
    }

    static void WriteTexture(Texture2D t, StringBuilder text)
    {
        Write(new SortedDictionary<string, object>
        {
            { "name", t.name }, { "width", t.width }, { "height", t.height }, { "format", t.format.ToString() }, { "mips", t.mips },
            { "linear", t.linear }, { "filter", t.filterMode.ToString() }, { "wrap", t.wrapMode.ToString() },
            { "applied", t.applied }, { "readable", t.m_IsReadable }, { "data", t.data },
        }, text);
    }

    static void Quote(string value, StringBuilder text)
    {
        text.Append('"');
        foreach (char c in value)
        {
            if (c == '"' || c == '\\' || c < ' ') { text.AppendFormat("\\u{0:x4}", (int)c); }
            else { text.Append(c); }
        }
        text.Append('"');
    }
}
