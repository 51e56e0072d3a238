// The same for UnityEditor.
using System;
using System.Collections.Generic;
using System.IO;
using UnityEngine;

namespace UnityEditor
{
    public static class AssetDatabase
    {
        public static T LoadAssetAtPath<T>(string assetPath) where T : UnityEngine.Object
        {
            if (!File.Exists(assetPath) || typeof(T) != typeof(Shader)) { return null; }
            return (T)(object)new Shader { name = assetPath };
        }
    }

    public sealed class SerializedProperty
    {
        internal Action<bool> set;
        internal bool? pending;
        public bool boolValue { set { pending = value; } }
    }

    public sealed class SerializedObject
    {
        readonly UnityEngine.Object of;
        readonly List<SerializedProperty> asked = new List<SerializedProperty>();
        public SerializedObject(UnityEngine.Object obj) { of = obj; }
        public SerializedProperty FindProperty(string propertyPath)
        {
            var field = of.GetType().GetField(propertyPath);
            if (field == null) { return null; }
            var found = new SerializedProperty { set = v => field.SetValue(of, v) };
            asked.Add(found);
            return found;
        }
        public bool ApplyModifiedPropertiesWithoutUndo()
        {
            asked.ForEach(p => { if (p.pending != null) { p.set(p.pending.Value); } });
            return true;
        }
    }

    public class AssetImporter : UnityEngine.Object { }
}

namespace UnityEditor.AssetImporters
{
    public abstract class ScriptedImporter : AssetImporter
    {
        public abstract void OnImportAsset(AssetImportContext ctx);
    }

    [AttributeUsage(AttributeTargets.Class, Inherited = false)]
    public class ScriptedImporterAttribute : Attribute
    {
        public readonly string extension;
        public ScriptedImporterAttribute(int version, string ext) { extension = ext; }
    }

    public class AssetImportContext
    {
        public string assetPath { get; private set; }
        public UnityEngine.Object mainObject { get; private set; }
        public readonly List<KeyValuePair<string, UnityEngine.Object>> objects = new List<KeyValuePair<string, UnityEngine.Object>>();
        public readonly List<string> dependencies = new List<string>();
        public readonly List<string> errors = new List<string>();
        public readonly List<string> warnings = new List<string>();
        public AssetImportContext(string path) { assetPath = path; }
        public void AddObjectToAsset(string identifier, UnityEngine.Object obj)
        {
            if (obj == null || objects.Exists(o => o.Key == identifier)) { throw new ArgumentException("Unity refuses " + identifier); }
            objects.Add(new KeyValuePair<string, UnityEngine.Object>(identifier, obj));
        }
        public void SetMainObject(UnityEngine.Object obj) { mainObject = obj; }
        public void DependsOnSourceAsset(string path) { dependencies.Add(path); }
        public void DependsOnArtifact(string path) { dependencies.Add(path); }
        public void LogImportError(string msg, UnityEngine.Object obj = null) { errors.Add(msg); }
        public void LogImportWarning(string msg, UnityEngine.Object obj = null) { warnings.Add(msg); }
    }
}
