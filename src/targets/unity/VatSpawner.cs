// Draws a crowd of one bake without a GameObject for each: one call a material for every 1,023 instances, which is as many as a
// MaterialPropertyBlock holds. To be put on any GameObject, with the VatBake inside of an imported NAME.vatbake.
using System.Collections.Generic;
using UnityEngine;
using UnityEngine.Rendering;

namespace Vatbake
{
    public sealed class VatSpawner : MonoBehaviour
    {
        const int Most = 1023; // elements of an array in a MaterialPropertyBlock
        const double Wrap = 256.0; // seconds after which the shader's clock goes back to 0

        public VatBake bake;
        [Min(0)] public int columns = 10;
        [Min(0)] public int rows = 10;
        [Tooltip("Metres between neighbours")] public float spacing = 1.5f;
        [Tooltip("Empty: each takes one of all clips")] public string clip = "";
        public int seed = 1;
        public ShadowCastingMode shadows = ShadowCastingMode.On;
        public bool receiveShadows = true;

        // What Graphics.RenderMeshInstanced takes: the names of the fields are its own.
        struct Instance
        {
            public Matrix4x4 objectToWorld;
            public Matrix4x4 prevObjectToWorld;
        }

        struct Playing
        {
            public int clip;
            public double began;
            public bool loop;
            public bool pingPong;
        }

        struct Actor
        {
            public Playing now;
            public Playing before;
            public double fadeBegan;
            public float fadeSeconds;
        }

        sealed class Chunk
        {
            public readonly MaterialPropertyBlock block = new MaterialPropertyBlock();
            public Vector4[] clips;
            public Vector4[] from;
            public Vector4[] fades;
            public Bounds bounds;
            public bool changed = true;
        }

        static readonly int ClipsId = Shader.PropertyToID("_VatInstanceClip");
        static readonly int FromId = Shader.PropertyToID("_VatInstanceFrom");
        static readonly int FadeId = Shader.PropertyToID("_VatInstanceFade");
        static readonly int ClockId = Shader.PropertyToID("_VatClock");

        Instance[] instances = new Instance[0];
        Actor[] actors = new Actor[0];
        readonly List<Chunk> chunks = new List<Chunk>();
        double clock; // when the shader's clock was 0
        double shown; // when the last frame was
        bool moved;

        /// <summary>Number of instances.</summary>
        public int Count
        {
            get { return actors.Length; }
        }

        void OnEnable()
        {
            clock = shown = Time.timeAsDouble;
            chunks.ForEach(c => c.changed = true);
        }

        /// <summary>Places all instances. Each loops a random clip, or `clip`, from a random time.</summary>
        public void Place(Matrix4x4[] places)
        {
            instances = new Instance[places.Length];
            actors = new Actor[places.Length];
            chunks.Clear();
            var random = new System.Random(seed);
            int named = bake.Find(clip);
            double now = Time.timeAsDouble;
            for (int i = 0; i < places.Length; i++)
            {
                instances[i] = new Instance { objectToWorld = places[i], prevObjectToWorld = places[i] };
                int number = named >= 0 ? named : random.Next(bake.clips.Length);
                double began = now - random.NextDouble() * bake.clips[number].length;
                actors[i].now = actors[i].before = new Playing { clip = number, began = began, loop = true };
            }
            for (int first = 0; first < places.Length; first += Most)
            {
                int count = Mathf.Min(Most, places.Length - first);
                chunks.Add(new Chunk { clips = new Vector4[count], from = new Vector4[count], fades = new Vector4[count] });
            }
            MeasureAll();
        }

        /// <summary>Moves an instance. Motion vectors know where it was.</summary>
        public void Move(int instance, Matrix4x4 place)
        {
            instances[instance].objectToWorld = place;
            moved = true;
        }

        /// <summary>Has an instance play a clip from now on, faded in over so many seconds.</summary>
        public void Play(int instance, int clipNumber, bool loop, float fadeSeconds = 0f, bool pingPong = false)
        {
            double now = Time.timeAsDouble;
            actors[instance].before = actors[instance].now;
            actors[instance].now = new Playing { clip = clipNumber, began = now, loop = loop, pingPong = pingPong };
            actors[instance].fadeBegan = now;
            actors[instance].fadeSeconds = fadeSeconds;
            chunks[instance / Most].changed = true;
        }

        void Grid()
        {
            var places = new Matrix4x4[columns * rows];
            for (int i = 0; i < places.Length; i++)
            {
                var at = new Vector3((i % columns - (columns - 1) * 0.5f) * spacing, 0f, (i / columns - (rows - 1) * 0.5f) * spacing);
                places[i] = transform.localToWorldMatrix * Matrix4x4.TRS(at, Quaternion.identity, Vector3.one);
            }
            Place(places);
        }

        // After all Update methods, so that what they moved is shown in this frame.
        void LateUpdate()
        {
            if (bake == null)
            {
                return;
            }
            if (actors.Length == 0)
            {
                Grid();
            }
            double now = Time.timeAsDouble;
            if (now - clock > Wrap)
            {
                clock = now;
                chunks.ForEach(c => c.changed = true);
            }
            if (moved)
            {
                MeasureAll();
            }
            for (int number = 0; number < chunks.Count; number++)
            {
                var chunk = chunks[number];
                if (chunk.changed)
                {
                    Fill(chunk, number * Most, now);
                }
                // This frame's time, the last one's for motion vectors, and that this clock is the one to read.
                chunk.block.SetVector(ClockId, new Vector4((float)(now - clock), (float)(shown - clock), 1f, 0f));
                Draw(chunk, number * Most);
            }
            shown = now;
            if (moved)
            {
                for (int i = 0; i < instances.Length; i++)
                {
                    instances[i].prevObjectToWorld = instances[i].objectToWorld;
                }
                moved = false;
            }
        }

        void Fill(Chunk chunk, int first, double now)
        {
            for (int i = 0; i < chunk.clips.Length; i++)
            {
                var actor = actors[first + i];
                bool fades = actor.fadeSeconds > 0f && now - actor.fadeBegan < actor.fadeSeconds;
                chunk.clips[i] = Vector(actor.now);
                chunk.from[i] = Vector(actor.before);
                chunk.fades[i] = new Vector4(
                    (float)(actor.fadeBegan - clock),
                    fades ? 1f / actor.fadeSeconds : 0f,
                    bake.Mode(actor.now.clip, actor.now.pingPong),
                    bake.Mode(actor.before.clip, actor.before.pingPong));
            }
            chunk.block.SetVectorArray(ClipsId, chunk.clips);
            chunk.block.SetVectorArray(FromId, chunk.from);
            chunk.block.SetVectorArray(FadeId, chunk.fades);
            chunk.changed = false;
        }

        Vector4 Vector(Playing playing)
        {
            double period = playing.loop ? bake.clips[playing.clip].length * (playing.pingPong ? 2.0 : 1.0) : 0.0;
            return bake.Play(playing.clip, VatBake.StartTime(playing.began, clock, period), playing.loop);
        }

        void Draw(Chunk chunk, int first)
        {
            for (int part = 0; part < bake.materials.Length; part++)
            {
                var parameters = new RenderParams(bake.materials[part])
                {
                    matProps = chunk.block,
                    worldBounds = chunk.bounds,
                    shadowCastingMode = shadows,
                    receiveShadows = receiveShadows,
                    layer = gameObject.layer,
                    motionVectorMode = MotionVectorGenerationMode.Object,
                };
                Graphics.RenderMeshInstanced(parameters, bake.mesh, part, instances, chunk.clips.Length, first);
            }
        }

        // The box that a chunk is culled by: that of the motion, at each place.
        void MeasureAll()
        {
            for (int number = 0; number < chunks.Count; number++)
            {
                int first = number * Most;
                var box = Around(instances[first].objectToWorld);
                for (int i = 1; i < chunks[number].clips.Length; i++)
                {
                    box.Encapsulate(Around(instances[first + i].objectToWorld));
                }
                chunks[number].bounds = box;
            }
        }

        Bounds Around(Matrix4x4 place)
        {
            var reach = bake.bounds.extents;
            var x = place.MultiplyVector(new Vector3(reach.x, 0f, 0f));
            var y = place.MultiplyVector(new Vector3(0f, reach.y, 0f));
            var z = place.MultiplyVector(new Vector3(0f, 0f, reach.z));
            var half = new Vector3(
                Mathf.Abs(x.x) + Mathf.Abs(y.x) + Mathf.Abs(z.x),
                Mathf.Abs(x.y) + Mathf.Abs(y.y) + Mathf.Abs(z.y),
                Mathf.Abs(x.z) + Mathf.Abs(y.z) + Mathf.Abs(z.z));
            return new Bounds(place.MultiplyPoint3x4(bake.bounds.center), half * 2f);
        }
    }
}
