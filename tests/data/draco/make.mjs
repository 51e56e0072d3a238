// Makes the samples beside this file and what Draco's own decoder finds in them:
//   npm install draco3dgltf@1.5.7 && node make.mjs
// A line of `expected.txt`: name, vertices, triangles, SHA-256 of the triangles' indices (u32) and, for each attribute in the order of
// the stream, its id (u32) and the values of all vertices in its own type; all little-endian.
import draco3d from 'draco3dgltf';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';

const E = await draco3d.createEncoderModule();
const D = await draco3d.createDecoderModule();

// A grid bent to a torus or a patch of one. Cells of different `patch` share positions but no vertices: seams.
function bend(width, height, closed, patch, hole) {
  const mesh = { position: [], normal: [], uv: [], colour: [], joints: [], number: [], indices: [] };
  const known = new Map();
  const vertex = (x, y, part) => {
    const [u, v] = closed ? [x % width, y % height] : [x, y];
    const key = `${u} ${v} ${part}`;
    if (!known.has(key)) {
      const n = known.size;
      known.set(key, n);
      const [a, b] = [(6 * u) / width, (6 * v) / height];
      mesh.position.push((3 + Math.cos(b)) * Math.cos(a), (3 + Math.cos(b)) * Math.sin(a), Math.sin(b) + 0.01 * n);
      mesh.normal.push(Math.cos(a) * Math.cos(b), Math.sin(a) * Math.cos(b), Math.sin(b));
      mesh.uv.push(x / width + 0.1 * part, y / height);
      mesh.colour.push((40 * x) % 256, (50 * y) % 256, 60 * part, 255);
      mesh.joints.push(x % 3, y % 4, part, 0);
      mesh.number.push(7 * n - 100);
    }
    return known.get(key);
  };
  for (let y = 0; y < (closed ? height : height - 1); y++) {
    for (let x = 0; x < (closed ? width : width - 1); x++) {
      if (hole && x === 1 && y === 1) continue;
      const part = patch ? Math.floor(x / patch) + 2 * Math.floor(y / patch) : 0;
      const [a, b, c, d] = [vertex(x, y, part), vertex(x + 1, y, part), vertex(x + 1, y + 1, part), vertex(x, y + 1, part)];
      mesh.indices.push(a, b, c, a, c, d);
    }
  }
  return mesh;
}

function encode(mesh, attributes, { method, speed, bits, metadata }) {
  const [builder, target, encoder] = [new E.MeshBuilder(), new E.Mesh(), new E.Encoder()];
  const count = mesh.position.length / 3;
  const add = {
    position: () => builder.AddFloatAttribute(target, E.POSITION, count, 3, new Float32Array(mesh.position)),
    normal: () => builder.AddFloatAttribute(target, E.NORMAL, count, 3, new Float32Array(mesh.normal)),
    uv: () => builder.AddFloatAttribute(target, E.TEX_COORD, count, 2, new Float32Array(mesh.uv)),
    colour: () => builder.AddUInt8Attribute(target, E.COLOR, count, 4, new Uint8Array(mesh.colour)),
    joints: () => builder.AddUInt16Attribute(target, E.GENERIC, count, 4, new Uint16Array(mesh.joints)),
    number: () => builder.AddInt16Attribute(target, E.GENERIC, count, 1, new Int16Array(mesh.number)),
  };
  attributes.forEach((name) => add[name]());
  builder.AddFacesToMesh(target, mesh.indices.length / 3, new Uint32Array(mesh.indices));
  if (metadata) {
    const [maker, entries] = [new E.MetadataBuilder(), new E.Metadata()];
    maker.AddStringEntry(entries, 'name', 'a torus');
    maker.AddIntEntry(entries, 'number', 7);
    builder.AddMetadata(target, entries);
    builder.SetMetadataForAttribute(target, 0, entries);
  }
  encoder.SetEncodingMethod(method === 'sequential' ? E.MESH_SEQUENTIAL_ENCODING : E.MESH_EDGEBREAKER_ENCODING);
  encoder.SetSpeedOptions(speed, speed);
  if (bits) ['POSITION', 'NORMAL', 'TEX_COORD'].forEach((type, i) => encoder.SetAttributeQuantization(E[type], bits - 2 * i));
  const data = new E.DracoInt8Array();
  const length = encoder.EncodeMeshToDracoBuffer(target, data);
  if (length <= 0) throw new Error('the encoder failed');
  return Uint8Array.from({ length }, (_, i) => data.GetValue(i));
}

function expect(data) {
  const [decoder, mesh, hash] = [new D.Decoder(), new D.Mesh(), createHash('sha256')];
  const status = decoder.DecodeArrayToMesh(new Int8Array(data.buffer), data.length, mesh);
  if (!status.ok()) throw new Error(status.error_msg());
  const fetch = (size, get) => {
    const at = D._malloc(size);
    get(at);
    hash.update(D.HEAPU8.slice(at, at + size));
    D._free(at);
  };
  const [faces, points] = [mesh.num_faces(), mesh.num_points()];
  fetch(12 * faces, (at) => decoder.GetTrianglesUInt32Array(mesh, 12 * faces, at));
  const size = new Map([[D.DT_UINT8, 1], [D.DT_INT16, 2], [D.DT_UINT16, 2], [D.DT_FLOAT32, 4]]);
  for (let i = 0; i < mesh.num_attributes(); i++) {
    const attribute = decoder.GetAttribute(mesh, i);
    hash.update(new Uint8Array(Uint32Array.of(attribute.unique_id()).buffer));
    const type = attribute.data_type();
    const bytes = points * attribute.num_components() * size.get(type);
    fetch(bytes, (at) => decoder.GetAttributeDataArrayForAllPoints(mesh, attribute, type, bytes, at));
  }
  return `${points} ${faces} ${hash.digest('hex')}`;
}

const all = ['position', 'normal', 'uv', 'colour', 'joints', 'number'];
const torus = bend(6, 5, true, 0, false);
const patch = bend(6, 6, false, 2, true);
const triangle = { position: [0, 0, 0, 1, 0, 0, 0, 1, 0], joints: [1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0], indices: [0, 1, 2] };
const samples = [
  ['torus-speed0', torus, ['position'], { speed: 0, bits: 12 }],
  ['torus-speed3', torus, ['position', 'normal'], { speed: 3, bits: 11, metadata: true }],
  ['torus-speed7', torus, ['position', 'uv'], { speed: 7, bits: 9 }],
  ['patch-speed0', patch, all, { speed: 0, bits: 14 }],
  ['patch-speed1', patch, ['uv', 'position', 'normal'], { speed: 1, bits: 12 }],
  ['patch-speed4', patch, all, { speed: 4, bits: 10 }],
  ['patch-speed6', patch, ['position', 'uv', 'normal'], { speed: 6, bits: 13 }],
  ['patch-speed10', patch, all, { speed: 10, bits: 12 }],
  ['patch-floats', patch, ['position', 'normal'], { speed: 5 }],
  ['patch-sequential', patch, all, { method: 'sequential', speed: 5, bits: 12 }],
  ['torus-sequential', torus, ['position', 'colour'], { method: 'sequential', speed: 10 }],
  ['triangle', triangle, ['position', 'joints'], { speed: 5, bits: 8 }],
];
const lines = samples.map(([name, mesh, attributes, settings]) => {
  const data = encode(mesh, attributes, settings);
  writeFileSync(new URL(`${name}.drc`, import.meta.url), data);
  return `${name} ${expect(data)}\n`;
});
writeFileSync(new URL('expected.txt', import.meta.url), lines.join(''));
