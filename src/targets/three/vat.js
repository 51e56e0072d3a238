// Plays the bakes of vatbake in three.js: whole crowds, one draw call a material, no skeletons. The same file serves every bake.
//
//   import { loadVat } from './vat.js';
//
//   const vat = await loadVat('bun.vat.json', renderer);      // mesh and textures lie beside it
//   const crowd = vat.createCrowd(200);                       // a THREE.Group: scene.add(crowd)
//   crowd.setMatrixAt(7, matrix);                             // where instance 7 stands
//   crowd.play(7, 'Walk', { at: 0.4 });                       // its clip, 0.4 seconds in
//   crowd.play(7, 'Wave', { fade: 0.25, once: true });        // fades over, plays once, holds the last frame
//   crowd.update(seconds);                                    // before each frame; any clock, no need to wrap it
//
// Shadows, culling and the model's own materials are taken care of. What a texel means is in vat.glsl.js.
import {
  Box3, BufferGeometry, FloatType, Group, HalfFloatType, InstancedBufferAttribute, InstancedMesh, MeshDepthMaterial, MeshDistanceMaterial,
  NearestFilter, NoColorSpace, Sphere, TextureLoader, Vector3,
} from 'three';
import { EXRLoader } from 'three/addons/loaders/EXRLoader.js';
import { GLTFLoader } from 'three/addons/loaders/GLTFLoader.js';
import { KTX2Loader } from 'three/addons/loaders/KTX2Loader.js';
import decode from './vat.glsl.js';

const POSITION_ENCODINGS = ['offset-unorm', 'absolute-unorm', 'offset-float', 'absolute-float'];
const DIRECTION_ENCODINGS = ['unit-unorm', 'unit-float', 'alpha-octahedral'];
const ktx2 = new KTX2Loader(); // needs no transcoder for half floats
const REBASE = 300; // seconds after which the shader's clock goes back to 0: 32-bit seconds jitter after hours

/** Loads a bake: NAME.vat.json, and the mesh and textures that it names. */
export async function loadVat(url, renderer) {
  const base = new URL(url, document.baseURI);
  const response = await fetch(base);
  if (!response.ok) throw new Error(`${base}: status ${response.status}`);
  const sidecar = await response.json();
  if (sidecar.format !== 'vatbake' || sidecar.version !== 1) {
    throw new Error(`${base}: format ${sidecar.format}, version ${sidecar.version}; vatbake, version 1, is played here`);
  }
  const at = file => new URL(encodeURIComponent(file), base).href;
  ktx2.detectSupport(renderer);
  const texture = role => {
    const entry = sidecar.textures.find(t => t.role === role);
    return entry && entry.encoding !== 'alpha-octahedral' ? loadTexture(entry, at(entry.file), renderer) : null;
  };
  const [gltf, position, normal, tangent] = await Promise.all([
    new GLTFLoader().setKTX2Loader(ktx2).loadAsync(at(sidecar.mesh.file)),
    texture('position'), texture('normal'), texture('tangent'),
  ]);
  const meshes = [];
  gltf.scene.traverse(object => { if (object.isMesh) meshes.push(object); });
  return new Vat(sidecar, meshes, { position, normal, tangent });
}

async function loadTexture({ file, pixel }, href, renderer) {
  let texture;
  if (file.endsWith('.ktx2')) {
    texture = await ktx2.loadAsync(href);
  } else if (file.endsWith('.exr')) {
    texture = await new EXRLoader().setDataType(pixel === 'rgba32float' ? FloatType : HalfFloatType).loadAsync(href);
    texture.flipY = true; // EXRLoader puts the image's top row last; row 0 has to be the top
  } else if (pixel === 'rgba8unorm') {
    texture = await new TextureLoader().loadAsync(href);
    texture.flipY = false;
  } else {
    throw new Error(`${file}: browsers cut a 16-bit PNG to 8 bits; bake with --for three`);
  }
  // Data, not a picture: no colour space, filter or mip maps.
  texture.colorSpace = NoColorSpace;
  texture.minFilter = texture.magFilter = NearestFilter;
  texture.generateMipmaps = false;
  texture.needsUpdate = true;
  const { width, height } = texture.image, most = renderer.capabilities.maxTextureSize;
  if (Math.max(width, height) > most) {
    throw new Error(`${file}: ${width} x ${height} texels, this device takes ${most}; bake fewer --clips, or with a smaller --max-size or --fps`);
  }
  return texture;
}

/** A loaded bake. `sidecar` is the content of NAME.vat.json; crowds share the mesh and the textures. */
export class Vat {
  constructor(sidecar, meshes, textures) {
    Object.assign(this, { sidecar, meshes, textures });
    const encoding = (role, list) => Math.max(0, list.indexOf(sidecar.textures.find(t => t.role === role)?.encoding));
    const { scale = [1, 1, 1], bias = [0, 0, 0] } = sidecar.textures.find(t => t.role === 'position');
    this.uniforms = {
      vat_bake: {
        value: {
          scale: new Vector3(...scale), width: sidecar.layout.width,
          bias: new Vector3(...bias), frames: sidecar.frame_count,
          lanes: sidecar.mesh.lookup.lanes, groups: sidecar.mesh.lookup.groups,
          position_encoding: encoding('position', POSITION_ENCODINGS), normal_encoding: encoding('normal', DIRECTION_ENCODINGS),
        },
      },
      vat_tangent_encoding: { value: encoding('tangent', DIRECTION_ENCODINGS) },
      vat_positions: { value: textures.position }, vat_normals: { value: textures.normal }, vat_tangents: { value: textures.tangent },
    };
    this.hasNormals = sidecar.textures.some(t => t.role === 'normal');
    // Where the motion goes, in all clips. The rest pose is smaller, and a crowd culled by it would vanish at the screen's edge.
    this.box = new Box3(new Vector3(...sidecar.bounds.min), new Vector3(...sidecar.bounds.max));
  }

  /** A clip of the sidecar, by its name or number. */
  clip(which) {
    const found = this.sidecar.clips.find((clip, index) => clip.name === which || index === which);
    if (found) return found;
    throw new Error(`no clip ${JSON.stringify(which)}; there are ${this.sidecar.clips.map(c => JSON.stringify(c.name)).join(', ')}`);
  }

  /** So many instances, all at the origin in the first frame of the first clip. */
  createCrowd(count) {
    return new VatCrowd(this, count);
  }

  /** Frees mesh and textures; crowds have a `dispose` of their own. */
  dispose() {
    Object.values(this.textures).forEach(texture => texture?.dispose());
    this.meshes.forEach(mesh => mesh.geometry.dispose());
  }
}

/** Instances of one bake: an InstancedMesh for each material, with one set of matrices and clips for all of them. */
export class VatCrowd extends Group {
  #now = 0; // seconds since the first update; all times below are by this clock, in 64 bits
  #zero; // the caller's clock at the first update
  #base = 0; // when the shader's clock was 0
  #clock = { value: 0 };
  #states;

  constructor(vat, count) {
    super();
    this.vat = vat;
    const attribute = size => new InstancedBufferAttribute(new Float32Array(count * size), size);
    this.matrices = attribute(16);
    // vat_clip: what plays; vat_from: what played before and fades out; vat_fade: when that began, 1 / seconds, `stepped` of both
    this.attributes = { vat_clip: attribute(4), vat_from: attribute(4), vat_fade: attribute(4) };
    for (let i = 0; i < count; i++) for (let k = 0; k < 16; k += 5) this.matrices.array[i * 16 + k] = 1;
    for (const mesh of vat.meshes) this.add(this.#instanced(mesh, count));
    this.#states = Array.from({ length: count }, () => ({ plays: { clip: vat.clip(0), frame: 0 } }));
    for (let i = 0; i < count; i++) this.#write(i);
  }

  /** Where an instance stands. */
  setMatrixAt(i, matrix) {
    matrix.toArray(this.matrices.array, i * 16);
    this.matrices.needsUpdate = true;
    for (const mesh of this.children) mesh.boundingSphere = mesh.boundingBox = null; // three.js measures them again, from `vat.box`
  }

  /** How many instances are drawn, the first ones. */
  set count(count) {
    for (const mesh of this.children) {
      mesh.count = Math.min(count, this.matrices.count);
      mesh.boundingSphere = mesh.boundingBox = null;
    }
  }

  get count() {
    return this.children[0]?.count ?? 0;
  }

  /**
   * Plays a clip, by name or number. `at`: seconds into the clip; `once`: plays once and holds (else as the clip says); `fade`: seconds
   * of cross-fade from what played before; `speed`: more than 0.
   */
  play(i, which, { at = 0, once, fade = 0, speed = 1 } = {}) {
    const clip = this.vat.clip(which), state = this.#states[i];
    if (!(speed > 0)) throw new Error(`speed ${speed}: it has to be more than 0; show() holds a frame`);
    state.from = fade > 0 ? { plays: state.plays, began: this.#now, seconds: fade } : undefined;
    state.plays = { clip, began: this.#now - at / speed, speed, once: once ?? clip.loop === 'once' };
    this.#write(i);
  }

  /** The same for all instances; `options` may be a function of the instance's number. */
  playAll(which, options = {}) {
    for (let i = 0; i < this.#states.length; i++) this.play(i, which, typeof options === 'function' ? options(i) : options);
  }

  /** Holds a frame of a clip; 3.5 is half way from the fourth to the fifth. */
  show(i, which, frame) {
    this.#states[i] = { plays: { clip: this.vat.clip(which), frame } };
    this.#write(i);
  }

  /** Sets the time, in seconds of any clock. */
  update(seconds) {
    this.#zero ??= seconds;
    this.#now = seconds - this.#zero;
    if (Math.abs(this.#now - this.#base) > REBASE) {
      this.#base = this.#now;
      for (let i = 0; i < this.#states.length; i++) this.#write(i);
    }
    this.#clock.value = this.#now - this.#base;
  }

  /** Frees what this crowd made; the bake stays. */
  dispose() {
    for (const mesh of this.children) {
      for (const part of [mesh.geometry, mesh.material, mesh.customDepthMaterial, mesh.customDistanceMaterial, mesh]) part.dispose();
    }
  }

  #write(i) {
    const { plays, from } = this.#states[i], { vat_clip, vat_from, vat_fade } = this.attributes;
    const fades = from && this.#now - from.began < from.seconds;
    vat_clip.array.set(this.#vector(plays), i * 4);
    vat_from.array.set(this.#vector(fades ? from.plays : plays), i * 4);
    const stepped = [plays.clip.stepped, fades && from.plays.clip.stepped].map(Number);
    vat_fade.array.set(fades ? [from.began - this.#base, 1 / from.seconds, ...stepped] : [0, 0, ...stepped], i * 4);
    for (const attribute of [vat_clip, vat_from, vat_fade]) attribute.needsUpdate = true;
  }

  // The vec4 of vat.glsl.js: first frame, intervals (negative: once), frames a second (0: hold), start time or frame.
  #vector({ clip, frame, began, speed, once }) {
    const intervals = clip.frame_count - 1, rate = clip.fps * speed;
    if (frame !== undefined) return [clip.first_frame, intervals, 0, frame];
    let ago = this.#base - began;
    if (!once && intervals > 0) ago %= intervals / rate; // whole cycles are left out, in 64 bits
    return [clip.first_frame, once ? -intervals : intervals, rate, -ago];
  }

  #instanced(mesh, count) {
    const source = mesh.geometry, { texcoord } = this.vat.sidecar.mesh.lookup;
    const lookup = source.getAttribute(['uv', 'uv1', 'uv2', 'uv3'][texcoord]);
    if (!lookup) throw new Error(`${this.vat.sidecar.mesh.file}: no TEXCOORD_${texcoord}, by which a vertex finds its texels`);
    const geometry = new BufferGeometry().setIndex(source.index);
    Object.assign(geometry.attributes, source.attributes, { vat_uv: lookup }, this.attributes);
    geometry.boundingBox = this.vat.box;
    geometry.boundingSphere = this.vat.box.getBoundingSphere(new Sphere());
    const material = mesh.material.clone();
    if (geometry.attributes.tangent && !this.vat.textures.tangent) {
      // Tangents of the rest pose would stand still. Without them three.js derives them from the picture, with y the other way.
      delete geometry.attributes.tangent;
      if (material.normalScale) material.normalScale.y *= -1;
    }
    const instanced = new InstancedMesh(geometry, this.#animated(material), 0);
    instanced.count = count;
    instanced.instanceMatrix = this.matrices;
    instanced.customDepthMaterial = this.#animated(new MeshDepthMaterial()); // shadows of directional and spot lights
    instanced.customDistanceMaterial = this.#animated(new MeshDistanceMaterial()); // shadows of point lights
    instanced.castShadow = instanced.receiveShadow = true;
    instanced.name = mesh.name;
    return instanced;
  }

  // Lets a material of three.js take position, normal and tangent from the textures; all else it does as before.
  #animated(material) {
    const { uniforms, hasNormals, textures } = this.vat;
    const declare = [textures.normal && '#define VAT_NORMAL_TEXTURE', textures.tangent && '#define VAT_TANGENT_TEXTURE', SHADER];
    const normal = hasNormals ? 'objectNormal = vat_shown.normal;' : '';
    const tangent = textures.tangent ? '#ifdef USE_TANGENT\nobjectTangent = vat_shown_tangent();\n#endif' : '';
    material.onBeforeCompile = shader => {
      Object.assign(shader.uniforms, uniforms, { vat_now: this.#clock });
      shader.vertexShader = shader.vertexShader
        .replace('void main() {', () => `${declare.filter(Boolean).join('\n')}\nvoid main() {\nVatPose vat_shown = vat_show();`)
        .replace('#include <beginnormal_vertex>', `$&\n${normal}\n${tangent}`)
        .replace('#include <begin_vertex>', '$&\ntransformed = vat_shown.position;');
    };
    material.customProgramCacheKey = () => `vatbake ${Boolean(textures.normal)} ${hasNormals} ${Boolean(textures.tangent)}`;
    return material;
  }
}

const SHADER = /* glsl */`
uniform highp sampler2D vat_positions;
#define VAT_FETCH_POSITION(at) texelFetch(vat_positions, at, 0)
#ifdef VAT_NORMAL_TEXTURE
uniform highp sampler2D vat_normals;
#define VAT_FETCH_NORMAL(at) texelFetch(vat_normals, at, 0)
#else
#define VAT_FETCH_NORMAL(at) vec4(0.5, 0.5, 1.0, 1.0)
#endif
${decode}
uniform VatBake vat_bake;
uniform float vat_now;
in vec2 vat_uv;
in vec4 vat_clip;
in vec4 vat_from;
in vec4 vat_fade;

// The two frames around this moment. Where something jumps between frames, they are not blended.
VatFrames vat_moment(vec4 clip, float stepped) {
    VatFrames frames = vat_frames(clip, vat_now);
    if (stepped > 0.5) {
        frames.blend = floor(frames.blend);
    }
    return frames;
}

VatPose vat_play(vec4 clip, float stepped) {
    VatFrames frames = vat_moment(clip, stepped);
    int vertex = vat_vertex(vat_bake, vat_uv);
    return vat_mix(vat_frame(vat_bake, position, vertex, frames.first), vat_frame(vat_bake, position, vertex, frames.second), frames.blend);
}

// What is left of the clip before: 1 when the cross-fade begins, 0 when it is over.
float vat_left() {
    return vat_fade.y > 0.0 ? 1.0 - clamp((vat_now - vat_fade.x) * vat_fade.y, 0.0, 1.0) : 0.0;
}

VatPose vat_show() {
    VatPose pose = vat_play(vat_clip, vat_fade.z);
    float left = vat_left();
    if (left > 0.0) {
        pose = vat_mix(pose, vat_play(vat_from, vat_fade.w), left);
    }
    return pose;
}

#ifdef VAT_TANGENT_TEXTURE
uniform highp sampler2D vat_tangents;
uniform int vat_tangent_encoding;

vec3 vat_play_tangent(vec4 clip, float stepped) {
    VatFrames frames = vat_moment(clip, stepped);
    int vertex = vat_vertex(vat_bake, vat_uv);
    vec4 first = texelFetch(vat_tangents, vat_texel(vat_bake, vertex, frames.first), 0);
    vec4 second = texelFetch(vat_tangents, vat_texel(vat_bake, vertex, frames.second), 0);
    return vat_unit(mix(vat_direction(vat_tangent_encoding, first), vat_direction(vat_tangent_encoding, second), frames.blend));
}

vec3 vat_shown_tangent() {
    return vat_unit(mix(vat_play_tangent(vat_clip, vat_fade.z), vat_play_tangent(vat_from, vat_fade.w), vat_left()));
}
#endif
`;
