// Words and tables. Whatever comes from the bake becomes text, never markup.

const format_number = (n, digits = 0) => n.toLocaleString('en', { maximumFractionDigits: digits, minimumFractionDigits: 0 });
const counted = (n, noun) => `${format_number(n)} ${noun}${n === 1 ? '' : 's'}`;

function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

function format_bytes(n) {
  if (n < 1024) return counted(n, 'byte');
  return n < 2 ** 20 ? `${format_number(n / 1024, 1)} KiB` : `${format_number(n / 2 ** 20, 1)} MiB`;
}

/** A length or an angle with three digits that count. */
function format_measure(value, unit) {
  const short = (n) => String(Number(n.toPrecision(3)));
  if (unit === 'degree') return `${short(value)}°`;
  const metres = unit === 'centimetre' ? value / 100 : value;
  if (unit !== 'centimetre' && unit !== 'metre') return `${short(value)} ${unit}`;
  if (metres === 0) return '0';
  for (const [factor, name] of [[1, 'm'], [1e3, 'mm'], [1e6, 'µm']]) if (metres * factor >= 1) return `${short(metres * factor)} ${name}`;
  return `${short(metres * 1e9)} nm`;
}

const clip_name = (clip, index) => clip.name || `Clip ${index + 1}`;

/** Rows of a heading and a text; those without a text are left out. */
function table_of(caption, rows) {
  const body = make('tbody');
  for (const [name, text] of rows) {
    if (text === undefined || text === null || text === '') continue;
    body.append(make('tr', {}, make('th', { scope: 'row', textContent: name }), make('td', { textContent: text })));
  }
  return make('table', {}, make('caption', { textContent: caption }), body);
}

function fill_facts(into, data) {
  const { sidecar } = data;
  const { layout, space, mesh, bounds, source } = sidecar;
  const unit = space.unit ?? 'metre';
  const metres = unit === 'centimetre' ? 0.01 : 1;
  const size = bounds.max.map((m, i) => format_number((m - bounds.min[i]) * metres, 3)).join(' × ');
  const loops = { closed: 'loops', cycle: 'loops, closed by one more frame', once: 'plays once' };
  into.append(
    table_of('Bake', [
      ['Source', source.file], ['Source’s SHA-256', source.sha256], ['Made by', sidecar.generator],
      ['Vertices', format_number(sidecar.vertex_count)],
      ['Triangles', format_number(data.materials.reduce((sum, m) => sum + m.count, 0) / 3)],
      ['Draw calls', format_number(data.materials.length)],
      ['Frames', `${format_number(sidecar.frame_count)} in ${counted(sidecar.clips.length, 'clip')}`],
      ['Texture', `${layout.width} × ${layout.height}, ${counted(layout.blocks, 'block')}`],
      ['On the GPU', format_bytes(sidecar.textures.reduce((sum, t) => sum + t.gpu_bytes, 0))],
      ['In this page', `${format_bytes(data.unpacked)}, deflated`],
      ['Axes', `up ${space.up}, forward ${space.forward}, ${space.handedness}-handed, ${unit}s`],
      ['Scale', space.scale === 1 ? '' : format_number(space.scale, 6)],
      ['Size, moving', `${size} m`], ['Rest pose', sidecar.rest],
      ['Mesh', `${mesh.file}, lookup in TEXCOORD_${mesh.lookup.texcoord}, ${mesh.lookup.lanes} × ${mesh.lookup.groups}`],
      ['Parts', format_number(mesh.parts.length)],
    ]),
  );
  for (const texture of sidecar.textures) {
    into.append(
      table_of(`Texture: ${texture.role}`, [
        ['File', texture.file], ['Pixels', `${texture.pixel}, upload as ${texture.upload}`], ['Encoding', texture.encoding],
        ['Scale', texture.scale?.join(', ')], ['Bias', texture.bias?.join(', ')], ['CRC-32', texture.crc32],
        ['Largest error', format_measure(texture.error.max, texture.error.unit)],
        ['Error, rms', format_measure(texture.error.rms, texture.error.unit)],
      ]),
    );
  }
  sidecar.clips.forEach((clip, index) => {
    into.append(
      table_of(`Clip: ${clip_name(clip, index)}`, [
        ['Frames', `${clip.frame_count}, from row ${clip.first_frame}`], ['Frames a second', format_number(clip.fps, 3)],
        ['Length', `${format_number(clip.length, 4)} s, from ${format_number(clip.start, 4)} s`], ['Repeats', loops[clip.loop]],
        ['Jumps', clip.stepped ? 'yes: neighbouring frames are not blended' : ''],
        ['Moves by', format_measure(clip.largest_displacement, unit)], ['Other file', clip.source?.file],
        ['Root motion', clip.root_motion ? `taken out, of ${clip.root_motion.node_name ?? `node ${clip.root_motion.node}`}` : ''],
      ]),
    );
  });
  const warnings = sidecar.warnings.map((w) => [`${w.level ?? 'warning'}: ${w.code}`, w.message]);
  if (warnings.length) into.append(table_of('Found while baking', warnings));
}
