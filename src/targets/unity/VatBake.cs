// What was baked: made by the importer, beside the prefab of each NAME.vatbake.
using System;
using UnityEngine;

namespace Vatbake
{
    /// <summary>A clip of a bake.</summary>
    [Serializable]
    public struct VatClip
    {
        public string name;
        /// <summary>First frame, over the whole bake.</summary>
        public int firstFrame;
        public int frameCount;
        /// <summary>Frames a second.</summary>
        public float fps;
        /// <summary>Seconds from the first frame to the last.</summary>
        public float length;
        /// <summary>Its last pose is its first.</summary>
        public bool loops;
        /// <summary>Something jumps between frames: they are not blended.</summary>
        public bool stepped;
        /// <summary>Box of its positions.</summary>
        public Bounds bounds;
        /// <summary>The way that was taken out of the clip (--root-motion strip), by frame from zero; empty where none was. An instance
        /// turned by Quaternion.Euler(0, rootYaw * Mathf.Rad2Deg, 0) and then moved by this shows the frame as the model has it.</summary>
        public Vector3[] rootTranslation;
        /// <summary>Radians about +Y; goes on past half a turn, so that neighbours can be blended.</summary>
        public float[] rootYaw;
    }

    /// <summary>Mesh, textures, materials and clips of a bake.</summary>
    public sealed class VatBake : ScriptableObject
    {
        public Mesh mesh;
        /// <summary>One a submesh.</summary>
        public Material[] materials = new Material[0];
        public Texture2D positions;
        /// <summary>Nothing where normals are in the positions' alpha, or not baked.</summary>
        public Texture2D normals;
        /// <summary>For shaders of your own: Vatbake/Vat reads none.</summary>
        public Texture2D tangents;
        public VatClip[] clips = new VatClip[0];
        /// <summary>Box of all frames.</summary>
        public Bounds bounds;

        /// <summary>Number of the clip of that name, or -1.</summary>
        public int Find(string clip)
        {
            return Array.FindIndex(clips, c => c.name == clip);
        }

        /// <summary>What an instance carries to play a clip: first frame, intervals (negative: play once and hold), frames a second,
        /// and when it began, in seconds of the shader's clock.</summary>
        public Vector4 Play(int clip, float startTime, bool loop)
        {
            var c = clips[clip];
            int intervals = c.frameCount - 1;
            return new Vector4(c.firstFrame, loop ? intervals : -intervals, c.fps, startTime);
        }

        /// <summary>What an instance carries to show one frame of a clip; 3.5 is half way from 3 to 4.</summary>
        public Vector4 Show(int clip, float frame)
        {
            var c = clips[clip];
            return new Vector4(c.firstFrame, c.frameCount - 1, 0f, frame);
        }

        /// <summary>How the shader reads a clip: 1 where frames are not blended, plus 2 for forth and back.</summary>
        public float Mode(int clip, bool pingPong)
        {
            return (clips[clip].stepped ? 1f : 0f) + (pingPong ? 2f : 0f);
        }

        /// <summary>When a clip began by the shader's clock, which was set back to 0 at `clock`. Both are seconds of a 64-bit clock;
        /// what repeats is brought near, since 32-bit seconds jitter after hours.</summary>
        public static float StartTime(double began, double clock, double period)
        {
            double ago = clock - began;
            return (float)(period > 0.0 && ago > 0.0 ? -(ago % period) : -ago);
        }
    }
}
