// WebGL 2: what is uploaded once, and what a picture takes. The decode is vat.glsl, put before the shaders here.

const VIEWS = { shaded: 0, normals: 1, error: 2, flat: 3 };
const HEAT = ['#160b39', '#6a176e', '#bc3754', '#f37819', '#fcffa4'];
const ENCODINGS = {
  'offset-unorm': 0, 'absolute-unorm': 1, 'offset-float': 2, 'absolute-float': 3,
  'unit-unorm': 0, 'unit-float': 1, 'alpha-octahedral': 2,
};
const UNITS = { positions: 0, normals: 1, errors: 2, base_map: 3 };

function color_of(hex) {
  return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255);
}

/** Declares a texture and the macro of vat.glsl that reads it; without a texture, a direction that the shaders do not use. */
function fetch_of(macro, sampler, kind) {
  if (!kind) return `#define ${macro}(at) vec4(0.5, 0.5, 1.0, 1.0)\n`;
  const whole = kind === 'u16';
  const texel = whole ? `(vec4(texelFetch(${sampler}, at, 0)) / 65535.0)` : `texelFetch(${sampler}, at, 0)`;
  return `uniform highp ${whole ? 'usampler2D' : 'sampler2D'} ${sampler};\n#define ${macro}(at) ${texel}\n`;
}

class Scene {
  constructor(canvas, data) {
    const gl = canvas.getContext('webgl2', { antialias: true, alpha: false, powerPreference: 'high-performance' });
    if (!gl) throw new Error('This browser has no WebGL 2, or it is turned off.');
    const { layout } = data.sidecar;
    const largest = gl.getParameter(gl.MAX_TEXTURE_SIZE);
    if (Math.max(layout.width, layout.height) > largest)
      throw new Error(
        `The texture is ${layout.width} by ${layout.height}, and this device takes ${largest} a side; bake with --max-size ${largest}.`,
      );
    Object.assign(this, { gl, canvas, data, programs: {}, pictures: [], instances: new Float32Array(8), count: 0 });
    this.largest_picture = Math.min(largest, 4096);
    const source = (id) => document.getElementById(id).textContent;
    const head = '#version 300 es\nprecision highp float;\nprecision highp int;\n';
    const error = data.errors
      ? 'uniform highp sampler2D errors;\nfloat error_at(ivec2 at) { return texelFetch(errors, at, 0).r; }\n'
      : 'float error_at(ivec2 at) { return 0.0; }\n';
    const decode =
      fetch_of('VAT_FETCH_POSITION', 'positions', data.positions.blob.kind) +
      fetch_of('VAT_FETCH_NORMAL', 'normals', data.normals?.blob.kind) + source('decode');
    this.program('scene', head + decode + error + source('scene-vertex'), head + source('scene-fragment'));
    this.program('ground', head + source('ground-vertex'), head + source('ground-fragment'));
    const everywhere = 'void main() { gl_Position = vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0, 0.0, 1.0); }';
    this.program('texture', head + everywhere, head + decode + source('texture-fragment'));
  }

  program(name, vertex, fragment) {
    const { gl } = this;
    const program = gl.createProgram();
    for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS) && !gl.isContextLost())
        throw new Error(`The ${name} shader does not compile here: ${gl.getShaderInfoLog(shader)}`);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost())
      throw new Error(`The ${name} shaders do not link here: ${gl.getProgramInfoLog(program)}`);
    const places = new Map();
    const place = (uniform) => {
      if (!places.has(uniform)) places.set(uniform, gl.getUniformLocation(program, uniform));
      return places.get(uniform);
    };
    this.programs[name] = { program, place };
  }

  /** Makes a program current and sets uniforms: booleans and whole numbers by `ints`, the rest by their length. */
  use(name, ints, floats) {
    const { gl } = this;
    const { program, place } = this.programs[name];
    gl.useProgram(program);
    for (const [uniform, value] of Object.entries(ints)) gl.uniform1i(place(uniform), value);
    for (const [uniform, value] of Object.entries(floats)) {
      const numbers = [value].flat();
      gl[`uniform${numbers.length}fv`](place(uniform), numbers);
    }
    return place;
  }

  /** The uniforms of VatBake, and which unit holds which texture. */
  bake_uniforms() {
    const { sidecar, positions, normals } = this.data;
    const { layout, mesh, frame_count } = sidecar;
    const ints = {
      'vat_bake.width': layout.width, 'vat_bake.frames': frame_count,
      'vat_bake.lanes': mesh.lookup.lanes, 'vat_bake.groups': mesh.lookup.groups,
      'vat_bake.position_encoding': ENCODINGS[positions.encoding],
      'vat_bake.normal_encoding': ENCODINGS[normals?.encoding ?? (this.data.octahedral ? 'alpha-octahedral' : 'unit-unorm')],
    };
    for (const [name, unit] of Object.entries(UNITS)) ints[name] = unit;
    return [ints, { 'vat_bake.scale': positions.scale ?? [1, 1, 1], 'vat_bake.bias': positions.bias ?? [0, 0, 0] }];
  }

  texture(unit, format, width, height, texels) {
    const { gl } = this;
    const [internal, external, type] = {
      u16: [gl.RGBA16UI, gl.RGBA_INTEGER, gl.UNSIGNED_SHORT],
      u8: [gl.RGBA8, gl.RGBA, gl.UNSIGNED_BYTE],
      f16: [gl.RGBA16F, gl.RGBA, gl.HALF_FLOAT],
      f32: [gl.RGBA32F, gl.RGBA, gl.FLOAT],
      one: [gl.R8, gl.RED, gl.UNSIGNED_BYTE],
    }[format];
    gl.activeTexture(gl.TEXTURE0 + unit);
    gl.bindTexture(gl.TEXTURE_2D, gl.createTexture());
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
    gl.texStorage2D(gl.TEXTURE_2D, 1, internal, width, height);
    gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, width, height, external, type, texels);
    for (const filter of ['MIN', 'MAG']) gl.texParameteri(gl.TEXTURE_2D, gl[`TEXTURE_${filter}_FILTER`], gl.NEAREST);
  }

  picture(bitmap) {
    const { gl } = this;
    const texture = gl.createTexture();
    gl.activeTexture(gl.TEXTURE0 + UNITS.base_map);
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.SRGB8_ALPHA8, gl.RGBA, gl.UNSIGNED_BYTE, bitmap);
    gl.generateMipmap(gl.TEXTURE_2D);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.LINEAR_MIPMAP_LINEAR);
    return texture;
  }

  /** Uploads everything; returns how many pictures the browser could not read. */
  async upload() {
    const { gl, data } = this;
    const { width, height } = data.sidecar.layout;
    this.texture(UNITS.positions, data.positions.blob.kind, width, height, await unpack(data.positions.blob));
    if (data.normals) this.texture(UNITS.normals, data.normals.blob.kind, width, height, await unpack(data.normals.blob));
    if (data.errors) this.texture(UNITS.errors, 'one', width, height, await unpack(data.errors.blob));
    gl.bindVertexArray(gl.createVertexArray());
    const attribute = (place, size, stride, offset, divisor) => {
      gl.enableVertexAttribArray(place);
      gl.vertexAttribPointer(place, size, gl.FLOAT, false, stride, offset);
      gl.vertexAttribDivisor(place, divisor);
    };
    for (const [place, size, blob] of [[0, 3, data.mesh.rest], [1, 2, data.mesh.lookup], [2, 2, data.mesh.uv]]) {
      if (!blob) continue;
      gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
      gl.bufferData(gl.ARRAY_BUFFER, await unpack(blob), gl.STATIC_DRAW);
      attribute(place, size, 0, 0, 0);
    }
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, await unpack(data.mesh.indices), gl.STATIC_DRAW);
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer()); // stays bound: the instances
    attribute(3, 4, 32, 0, 1);
    attribute(4, 4, 32, 16, 1);
    this.white = this.picture(new ImageData(new Uint8ClampedArray([255, 255, 255, 255]), 1, 1));
    let unread = 0;
    for (const picture of data.pictures) {
      const bitmap = await decode_picture(picture, this.largest_picture);
      this.pictures.push(bitmap && this.picture(bitmap));
      if (!bitmap) unread++;
    }
    return unread;
  }

  /** All instances anew, or only the first. */
  set_instances(only_first) {
    const { gl, instances } = this;
    if (only_first) gl.bufferSubData(gl.ARRAY_BUFFER, 0, instances, 0, 8);
    else gl.bufferData(gl.ARRAY_BUFFER, instances, gl.DYNAMIC_DRAW);
  }

  /** Fits the canvas's pixels to its place on the page and clears it. */
  begin(color) {
    const { gl, canvas } = this;
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    const [width, height] = [canvas.clientWidth, canvas.clientHeight].map((n) => Math.max(1, Math.round(n * ratio)));
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    gl.viewport(0, 0, width, height);
    gl.clearColor(...color, 1);
    gl.depthMask(true);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
  }

  /** The instances: one call a material. */
  draw_scene({ view, eye, projection, now, blend, colors, fog, ground }) {
    const { gl, data } = this;
    this.begin(view === 'flat' ? [0, 0, 0] : colors.stage);
    gl.enable(gl.DEPTH_TEST);
    const [ints, floats] = this.bake_uniforms();
    const place = this.use(
      'scene',
      { ...ints, view: VIEWS[view], blended: blend, own_normals: !!(data.normals || data.octahedral) },
      { ...floats, eye, now, fog: [...colors.stage, fog] },
    );
    gl.uniformMatrix4fv(place('projection'), false, projection);
    gl.uniformMatrix3fv(place('upright'), false, data.upright);
    gl.uniform3fv(place('heat'), HEAT.flatMap(color_of));
    gl.activeTexture(gl.TEXTURE0 + UNITS.base_map);
    for (const through of [false, true]) {
      if (through && view !== 'flat') this.draw_ground(projection, ground, colors);
      for (const material of data.materials) {
        const see_through = material.alpha === 'blend' && view === 'shaded';
        if (see_through !== through) continue;
        const picture = this.pictures[material.picture];
        this.use(
          'scene',
          { tinted: !!picture && view !== 'flat', see_through },
          { base_color: material.color, cutoff: material.alpha === 'mask' ? material.cutoff : -1 },
        );
        gl.bindTexture(gl.TEXTURE_2D, picture ?? this.white);
        (material.two_sided ? gl.disable : gl.enable).call(gl, gl.CULL_FACE);
        (see_through ? gl.enable : gl.disable).call(gl, gl.BLEND);
        gl.depthMask(!see_through);
        gl.drawElementsInstanced(gl.TRIANGLES, material.count, gl.UNSIGNED_INT, material.first * 4, this.instances.length / 8);
      }
    }
  }

  draw_ground(projection, ground, colors) {
    const { gl } = this;
    const place = this.use('ground', {}, { ground: ground.place, pitch: ground.pitch, ink: colors.grid });
    gl.uniformMatrix4fv(place('projection'), false, projection);
    gl.disable(gl.CULL_FACE);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
    gl.depthMask(false);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
  }

  /** A texture as it is. */
  draw_texture({ role, range, rows, span, colors }) {
    const { gl, canvas } = this;
    const { layout } = this.data.sidecar;
    this.begin(colors.stage);
    for (const off of [gl.DEPTH_TEST, gl.CULL_FACE, gl.BLEND]) gl.disable(off);
    const [ints, floats] = this.bake_uniforms();
    this.use(
      'texture',
      { ...ints, role: role === 'normal' ? 1 : 0, height: layout.height, blocks: layout.blocks },
      { ...floats, canvas: [canvas.width, canvas.height], lowest: range[0], highest: range[1], rows, span },
    );
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  }
}
