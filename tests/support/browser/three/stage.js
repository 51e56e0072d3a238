// Checks of the kit for three.js. Each draws with the kit as it is and returns numbers, which tests/three.rs judges.
//
// A silhouette is where the picture's alpha is not 0: the background is transparent, and the materials stay as they are.
import * as THREE from 'three';
import { GLTFLoader } from 'three/addons/loaders/GLTFLoader.js';
import { loadVat } from '/bake/vat.js';

const SIDE = 400;
const renderer = new THREE.WebGLRenderer({ alpha: true, antialias: false, preserveDrawingBuffer: true });
renderer.setSize(SIDE, SIDE);
renderer.setClearColor(0, 0);
document.body.append(renderer.domElement);

const load = ({ name }) => loadVat(`/bake/${encodeURIComponent(name)}.vat.json`, renderer);

function draw(scene, camera) {
  renderer.render(scene, camera);
  const gl = renderer.getContext(), pixels = new Uint8Array(SIDE * SIDE * 4);
  gl.readPixels(0, 0, SIDE, SIDE, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
  return pixels;
}

const covered = pixels => {
  let count = 0;
  for (let i = 3; i < pixels.length; i += 4) count += pixels[i] > 0;
  return count / (SIDE * SIDE);
};

// Shares of the picture: where only one of two silhouettes is, where any is; and the mean difference of colours where both are.
function compare(a, b) {
  let differ = 0, union = 0, both = 0, colour = 0;
  for (let i = 0; i < a.length; i += 4) {
    const [x, y] = [a[i + 3] > 0, b[i + 3] > 0];
    differ += x !== y;
    union += x || y;
    if (!x || !y) continue;
    both += 1;
    for (let c = 0; c < 3; c++) colour += Math.abs(a[i + c] - b[i + c]) / 3;
  }
  return { differ: differ / (SIDE * SIDE), union: union / (SIDE * SIDE), of_figure: differ / union, colour: colour / Math.max(both, 1) };
}

// Looks at a box from the front, the right and above, as near as it fits.
function cameraFor(box) {
  const camera = new THREE.PerspectiveCamera(30, 1, 0.01, 1e4), centre = box.getCenter(new THREE.Vector3());
  const away = new THREE.Vector3(0.6, 0.35, 1).normalize(), reach = box.getSize(new THREE.Vector3()).length();
  const corner = k => new THREE.Vector3(...[0, 1, 2].map(axis => (k >> axis & 1 ? box.max : box.min).getComponent(axis)));
  const corners = [0, 1, 2, 3, 4, 5, 6, 7].map(corner);
  const place = distance => {
    camera.position.copy(centre).addScaledVector(away, distance);
    camera.lookAt(centre);
    camera.near = distance / 100;
    camera.far = distance + 2 * reach;
    camera.updateProjectionMatrix();
    camera.updateMatrixWorld();
    return corners.every(p => Math.max(...p.clone().project(camera).toArray().slice(0, 2).map(Math.abs)) < 0.98);
  };
  let [near, far] = [0.5 * reach, 20 * reach];
  for (let k = 0; k < 20; k++) {
    const middle = (near + far) / 2;
    if (place(middle)) far = middle; else near = middle;
  }
  place(far);
  return camera;
}

const boxOf = ({ min, max }) => new THREE.Box3(new THREE.Vector3(...min), new THREE.Vector3(...max));

function lit(object) {
  const scene = new THREE.Scene(), light = new THREE.DirectionalLight(0xffffff, 2);
  light.position.set(1, 2, 1.5);
  scene.add(object, light, new THREE.AmbientLight(0xffffff, 0.6));
  return scene;
}

// The original model under three.js's own AnimationMixer. `pose` returns a camera for the pose as three.js measures it.
async function loadOriginal({ model_file }) {
  const gltf = await new GLTFLoader().loadAsync('/model/' + encodeURIComponent(model_file));
  const mixer = new THREE.AnimationMixer(gltf.scene);
  gltf.scene.traverse(o => { o.frustumCulled = false; }); // what it culls is not what is tested
  const pose = (clip, seconds) => {
    mixer.stopAllAction();
    mixer.clipAction(gltf.animations[clip.animation]).reset().play();
    mixer.setTime(clip.start + seconds);
    return cameraFor(new THREE.Box3().setFromObject(gltf.scene, true));
  };
  return { object: gltf.scene, pose };
}

/** The kit against the original: the same moments, a quarter of the clip later, another clip, and without the baked normals. */
export async function silhouettes(input) {
  const [vat, original] = [await load(input), await loadOriginal(input)];
  const crowd = vat.createCrowd(1), [ours, theirs] = [lit(crowd), lit(original.object)];
  const clips = vat.sidecar.clips, results = [];
  crowd.update(1000);
  for (const [index, clip] of clips.entries()) {
    for (const share of input.times) {
      const seconds = share * clip.length, camera = original.pose(clip, seconds);
      const shot = (which, at) => { crowd.play(0, which, { at, once: true }); return draw(ours, camera); };
      const wanted = draw(theirs, camera), found = shot(index, seconds);
      const other = (index + 1) % clips.length;
      results.push({
        clip: clip.name, seconds, covered: covered(wanted), ...compare(found, wanted),
        late: compare(shot(index, (seconds + clip.length / 4) % clip.length), wanted).differ,
        other: clips.length > 1 ? compare(shot(other, Math.min(seconds, clips[other].length)), wanted).differ : null,
      });
    }
  }
  // The same picture with the normals of the rest pose: how much of the shading the baked ones are.
  const clip = clips[0], seconds = input.times[2] * clip.length, camera = original.pose(clip, seconds);
  const wanted = draw(theirs, camera);
  vat.hasNormals = false;
  const plain = vat.createCrowd(1);
  plain.play(0, 0, { at: seconds, once: true });
  return { results, resting: compare(draw(lit(plain), camera), wanted).colour, primitives: crowd.children.length };
}

// Only the shadow of an object, on a white floor: the object itself writes no pixel.
function shadowOf(object, box, light, at) {
  const scene = new THREE.Scene(), size = box.getSize(new THREE.Vector3()).length(), centre = box.getCenter(new THREE.Vector3());
  object.traverse(o => {
    if (!o.isMesh) return;
    o.castShadow = true;
    for (const material of [o.material].flat()) material.colorWrite = material.depthWrite = false;
  });
  light.position.copy(centre).addScaledVector(new THREE.Vector3(...at), size);
  light.castShadow = true;
  light.shadow.mapSize.set(1024, 1024);
  const camera = light.shadow.camera;
  if (light.target) {
    light.target.position.copy(centre);
    Object.assign(camera, { left: -size, right: size, top: size, bottom: -size, near: 0.01 * size, far: 6 * size });
    scene.add(light.target);
  } else {
    Object.assign(camera, { near: 0.01 * size, far: 6 * size });
  }
  const floor = new THREE.Mesh(new THREE.PlaneGeometry(20 * size, 20 * size), new THREE.ShadowMaterial({ opacity: 1 }));
  floor.rotation.x = -Math.PI / 2;
  floor.position.y = box.min.y - 0.02 * size;
  floor.receiveShadow = true;
  scene.add(object, light, floor);
  const above = new THREE.PerspectiveCamera(40, 1, 0.01 * size, 20 * size);
  above.position.copy(centre).add(new THREE.Vector3(0, 2 * size, 0.01 * size));
  above.lookAt(centre);
  return () => draw(scene, above);
}

/** Shadows of a directional and a point light against the original's, and what they are without the kit's depth materials. */
export async function shadows(input) {
  renderer.shadowMap.enabled = true;
  renderer.shadowMap.type = THREE.BasicShadowMap;
  const results = {};
  for (const [kind, make] of [['directional', () => new THREE.DirectionalLight()], ['point', () => new THREE.PointLight(0xffffff, 1e4)]]) {
    const [vat, original] = [await load(input), await loadOriginal(input)];
    const crowd = vat.createCrowd(1), clip = vat.sidecar.clips[0], seconds = input.times[2] * clip.length, box = boxOf(clip.bounds);
    const [ours, theirs] = [shadowOf(crowd, box, make(), [0.5, 1, 0.3]), shadowOf(original.object, box, make(), [0.5, 1, 0.3])];
    const shot = at => { crowd.play(0, 0, { at, once: true }); return ours(); };
    original.pose(clip, seconds);
    const wanted = theirs();
    const late = compare(shot((seconds + clip.length / 4) % clip.length), wanted).differ;
    const result = { covered: covered(wanted), ...compare(shot(seconds), wanted), late };
    for (const mesh of crowd.children) mesh.customDepthMaterial = mesh.customDistanceMaterial = undefined;
    results[kind] = { ...result, resting: compare(shot(seconds), wanted).differ };
  }
  return results;
}

/** A look at where the motion goes and the rest pose does not, with the animated bounds and with those of the rest pose. */
export async function culling(input) {
  const vat = await load(input), crowd = vat.createCrowd(1), scene = lit(crowd);
  const camera = new THREE.PerspectiveCamera(10, 1, 0.1, 100);
  camera.position.set(...input.eye);
  camera.lookAt(...input.target);
  crowd.play(0, 0, { at: input.seconds, once: true });
  const seen = covered(draw(scene, camera)), calls = renderer.info.render.calls;
  // Moved away by its matrix it is culled, moved back it is not: the bounds follow the instances.
  crowd.setMatrixAt(0, new THREE.Matrix4().makeTranslation(0, 0, -1000));
  const away = (draw(scene, camera), renderer.info.render.calls);
  crowd.setMatrixAt(0, new THREE.Matrix4());
  const back = covered(draw(scene, camera));
  for (const mesh of crowd.children) {
    mesh.geometry.boundingBox = mesh.geometry.boundingSphere = mesh.boundingSphere = null;
    mesh.geometry.computeBoundingSphere();
  }
  return { seen, calls, away, back, rest: covered(draw(scene, camera)) };
}

/** A thousand instances: calls and triangles of one picture, and that each stands and moves by itself. */
export async function crowd(input) {
  const vat = await load(input), count = 1000, crowd = vat.createCrowd(count), scene = lit(crowd);
  const size = vat.box.getSize(new THREE.Vector3()), step = Math.max(size.x, size.z), far = step * 32;
  for (let i = 0; i < count; i++) {
    crowd.setMatrixAt(i, new THREE.Matrix4().makeTranslation((i % 32 - 16) * step, 0, (Math.floor(i / 32) - 16) * step));
  }
  const camera = new THREE.PerspectiveCamera(50, 1, 0.01 * far, 10 * far);
  camera.position.set(0, far, far);
  camera.lookAt(0, 0, 0);
  crowd.playAll(0, i => ({ at: i / count * vat.sidecar.clips[0].length, once: false }));
  crowd.update(0);
  const first = draw(scene, camera), { calls, triangles } = renderer.info.render;
  crowd.count = 1;
  draw(scene, camera);
  const alone = renderer.info.render.triangles;
  crowd.count = count;
  crowd.update(vat.sidecar.clips[0].length / 4);
  const moved = compare(draw(scene, camera), first).differ;
  return { calls, triangles, alone, primitives: crowd.children.length, covered: covered(first), moved };
}

/** Time: a clock that ran for a year, holding a frame, cross-fades, names that are not there. */
export async function time(input) {
  const vat = await load(input), [a, b] = vat.sidecar.clips, camera = cameraFor(vat.box);
  const stage = () => { const crowd = vat.createCrowd(1); return { crowd, shot: () => draw(lit(crowd), camera) }; };
  const shotOf = act => { const { crowd, shot } = stage(); act(crowd); return shot(); };
  const differ = (x, y) => compare(x, y).differ;
  const period = (a.frame_count - 1) / a.fps, part = 0.3 * period;
  const plain = shotOf(crowd => crowd.play(0, 0, { at: part, once: false }));
  // From the start, and after as many whole periods as fit a year; the clock had counted for ten years before.
  const year = period * Math.round(365 * 86400 / period), began = 3.2e8;
  const later = shotOf(crowd => {
    crowd.update(began);
    crowd.play(0, 0, { once: false });
    crowd.update(began + year + part);
  });
  const uneven = shotOf(crowd => {
    crowd.update(began);
    crowd.play(0, 0, { once: false });
    crowd.update(began + year + part + period / 4);
  });
  const frame = shotOf(crowd => crowd.show(0, 0, part * a.fps));
  const twice = shotOf(crowd => crowd.play(0, 0, { at: part, once: false, speed: 2 }));
  const held = [1.5, 40].map(times => shotOf(crowd => {
    crowd.play(0, 0, { once: true });
    crowd.update(0);
    crowd.update(times * period);
  }));
  const last = shotOf(crowd => crowd.show(0, 0, a.frame_count - 1));
  // A fade of a second from a held frame to another: at its beginning the one, at its end the other.
  const fading = at => shotOf(crowd => {
    crowd.update(0);
    crowd.show(0, 0, part * a.fps);
    crowd.play(0, 1, { fade: 1, once: true, speed: 1e-6 });
    crowd.update(at);
  });
  const fades = [0, 0.5, 1].map(fading), other = shotOf(crowd => crowd.show(0, 1, 0));
  let refused = '';
  try { vat.clip('no such clip'); } catch (error) { refused = error.message; }
  const middle = [differ(fades[1], plain), differ(fades[1], other)];
  return {
    later: differ(later, plain), uneven: differ(uneven, plain), frame: differ(frame, plain), twice: differ(twice, plain),
    held: held.map(picture => differ(picture, last)), moving: differ(plain, last),
    fade: { begin: differ(fades[0], plain), middle, end: differ(fades[2], other), apart: differ(plain, other) },
    refused,
  };
}

/** Shading by a normal map whose directions only the tangents tell, with and without the baked ones. */
export async function tangents(input) {
  const original = await loadOriginal(input), theirs = lit(original.object);
  const shade = async change => {
    const vat = await load(input), clip = vat.sidecar.clips[0], seconds = input.times[4] * clip.length;
    change(vat);
    const crowd = vat.createCrowd(1), camera = original.pose(clip, seconds);
    crowd.play(0, 0, { at: seconds, once: true });
    const wanted = draw(theirs, camera);
    return compare(draw(lit(crowd), camera), wanted);
  };
  return { baked: await shade(() => {}), without: await shade(vat => { vat.textures.tangent = null; }) };
}
