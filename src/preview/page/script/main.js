// The page: one state, one clock, and what is drawn from them.

class Preview {
  constructor(data) {
    const { sidecar } = data;
    const name = sidecar.mesh.file.replace(/_vat\.glb$/, '');
    Object.assign(this, { data, name, clips: sidecar.clips, unit: sidecar.space.unit ?? 'metre' });
    const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
    this.state = {
      clip: 0, time: 0, playing: !still, loop: true, blend: true, speed: 1, crowd: 1, view: 'shaded', texture: 'position', moved: false,
    };
    this.camera = { yaw: 0, pitch: 0, distance: 1, target: [0, 0, 0] };
    this.boxes = this.clips.map((clip) => this.upright_box(clip.bounds));
    this.whole = this.upright_box(sidecar.bounds);
    const size = data.rest_box.max.map((m, i) => m - data.rest_box.min[i]);
    this.size = Math.max(...size, 1e-6);
    this.spacing = Math.max(size[0], size[2], this.size * 0.3) * 1.2;
    this.views = ['shaded', 'normals', ...(data.errors ? ['error'] : []), 'texture'];
    this.base = 0; // when the shader's clock was last set back to 0
    this.changed = true;
    this.fresh = true; // the instances are to be filled anew
  }

  /** A box of the sidecar in glTF's axes and metres. */
  upright_box(box) {
    const m = this.data.upright;
    const turn = (p) => [0, 1, 2].map((row) => m[row] * p[0] + m[3 + row] * p[1] + m[6 + row] * p[2]);
    const [a, b] = [turn(box.min), turn(box.max)];
    return { min: a.map((x, i) => Math.min(x, b[i])), max: a.map((x, i) => Math.max(x, b[i])) };
  }

  get clip() {
    return this.clips[this.state.clip];
  }

  /** Seconds into the clip. */
  get local() {
    const { length } = this.clip;
    if (!(length > 0)) return 0;
    const { time, loop } = this.state;
    return loop && time > length ? time % length : Math.min(time, length);
  }

  /** Which frame of the clip that is, with its fraction. */
  get frame() {
    const intervals = this.clip.frame_count - 1;
    return this.clip.length > 0 ? Math.min((this.local / this.clip.length) * intervals, intervals) : 0;
  }

  /** Frames on both sides, counted over the bake. */
  get rows() {
    const { blend } = this.state;
    const intervals = this.clip.frame_count - 1;
    const below = Math.min(Math.floor(this.frame), Math.max(intervals - 1, 0));
    const fraction = this.frame - below;
    const mixed = blend && !this.clip.stepped ? fraction : Math.floor(fraction);
    const first = this.clip.first_frame + below;
    if (mixed === 0) return [first, first];
    return mixed === 1 ? [first + 1, first + 1] : [first, first + 1];
  }

  // ---- What can be done ----

  redraw() {
    this.changed = true;
  }

  play(on) {
    if (on && !this.state.loop && this.state.time >= this.end) this.state.time = 0;
    this.state.playing = on;
    this.show();
    announce(on ? `Playing ${clip_name(this.clip, this.state.clip)}` : `Paused at ${this.local.toFixed(2)} seconds`);
  }

  /** When nothing moves any more, where clips play once. */
  get end() {
    return this.state.crowd === 1 ? this.clip.length : Math.max(...this.clips.map((clip) => clip.length / 0.8));
  }

  seek(seconds) {
    this.state.time = Math.min(Math.max(seconds, 0), this.clip.length);
    this.fresh = true;
    this.show();
  }

  step(frames) {
    this.state.playing = false;
    const intervals = this.clip.frame_count - 1;
    if (intervals > 0) {
      let frame = frames > 0 ? Math.floor(this.frame + 1e-4) + frames : Math.ceil(this.frame - 1e-4) + frames;
      if (this.state.loop) frame = (frame + intervals + 1) % (intervals + 1);
      this.seek((frame / intervals) * this.clip.length);
    }
    this.show();
    announce(`Frame ${Math.round(this.frame)}`);
  }

  choose_clip(index) {
    this.state.clip = (index + this.clips.length) % this.clips.length;
    this.state.time = 0;
    this.fresh = true;
    this.show();
    announce(`Clip ${clip_name(this.clip, this.state.clip)}`);
  }

  choose_view(view) {
    if (!this.views.includes(view)) return;
    this.state.view = view;
    this.show();
    announce(`View: ${VIEW_NAMES[view]}`);
  }

  set(name, value) {
    this.state[name] = value;
    this.fresh = true;
    this.show();
  }

  set_speed(speed) {
    this.state.speed = Math.round(Math.min(Math.max(speed, 0), 2) * 100) / 100;
    this.show();
  }

  set_crowd(count) {
    this.state.crowd = Math.min(Math.max(Math.round(count), 1), LARGEST_CROWD);
    this.fresh = true;
    if (!this.state.moved) this.frame_scene();
    this.show();
  }

  frame_scene() {
    const { clientWidth, clientHeight } = this.scene?.canvas ?? $('canvas');
    const depth = Math.min(crowd_depth(this.state.crowd, this.spacing), this.spacing * 8);
    frame_box(this.camera, this.boxes[this.state.clip], depth, Math.max(clientWidth, 1) / Math.max(clientHeight, 1));
    this.state.moved = false;
    this.redraw();
  }

  move_camera(move, ...numbers) {
    if (this.state.view === 'texture') return;
    move(this.camera, ...numbers);
    this.state.moved = true;
    this.redraw();
  }

  set_theme(theme) {
    if (theme === 'dark' || theme === 'light') document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
    const style = getComputedStyle(document.documentElement);
    const color = (name) => color_of(style.getPropertyValue(name).trim());
    this.dark = theme ? theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
    this.colors = { stage: color('--stage'), grid: color('--grid'), mark: color('--accent') };
    say('theme', this.dark ? 'Light theme' : 'Dark theme');
    this.redraw();
  }

  // ---- What is shown ----

  /** Controls after the state changed. */
  show() {
    const { state, clip } = this;
    const { view, crowd } = state;
    this.redraw();
    say('play', state.playing ? 'Pause' : 'Play');
    $('loop').checked = state.loop;
    $('blend').checked = state.blend;
    $('speed').value = state.speed;
    say('speed-text', `${state.speed.toFixed(2)}×`);
    $('speed').setAttribute('aria-valuetext', `${state.speed} times`);
    $('scrub').max = clip.length || 1;
    $('scrub').disabled = !(clip.length > 0);
    check_radio($('clips'), state.clip);
    check_radio($('views'), view);
    $('crowd').value = Math.log10(crowd) * 100;
    $('crowd').setAttribute('aria-valuetext', counted(crowd, 'instance'));
    say('crowd-text', counted(crowd, 'instance'));
    say('crowd-note', crowd > 1 ? `in ${counted(this.data.materials.length, 'draw call')}; each has its own clip, phase and speed` : '');
    $('texture-choice').hidden = view !== 'texture' || $('texture').options.length < 2;
    $('texture').value = state.texture;
    $('legend').hidden = view !== 'error';
    say('view-note', this.note());
    $('canvas').setAttribute('aria-label', `${this.name}, ${clip_name(clip, state.clip)}, ${(VIEW_NAMES[view] ?? view).toLowerCase()}`);
    this.show_time();
  }

  note() {
    const { data, state } = this;
    const own = data.normals || data.octahedral;
    if (state.view === 'normals') return own ? 'Red is x, green y, blue z.' : 'The bake holds no normals; those of the triangles are shown.';
    if (state.view === 'error') return `How far each vertex of the written texels is from the source. Largest: ${format_measure(data.errors.largest, data.errors.unit)}.`;
    if (state.view !== 'texture') return '';
    return 'Columns are vertices, rows are frames, stretched to fit. Between the marks: the rows that play. Grey: other clips.';
  }

  /** The clock, the slider and the captions. */
  show_time() {
    const { state, clip, local } = this;
    $('scrub').value = local;
    say('clock', `${local.toFixed(2)} / ${clip.length.toFixed(2)} s`);
    if (state.playing) $('scrub').removeAttribute('aria-valuetext');
    else $('scrub').setAttribute('aria-valuetext', `${local.toFixed(2)} seconds, frame ${Math.round(this.frame)} of ${clip.frame_count - 1}`);
    const [a, b] = this.rows;
    const where = state.view === 'texture' ? `rows ${a === b ? a : `${a} and ${b}`}` : `frame ${this.frame.toFixed(1)} of ${clip.frame_count - 1}`;
    say('caption', `${clip_name(clip, state.clip)}, ${where}`);
    if (!state.playing) say('rate', '');
  }

  draw() {
    const { scene, state, camera, colors } = this;
    if (state.view === 'texture') {
      const texture = this.data[state.texture === 'normal' ? 'normals' : 'positions'];
      const { first_frame, frame_count } = this.clip;
      scene.draw_texture({ role: state.texture, range: texture.range, rows: this.rows, span: [first_frame, first_frame + frame_count], colors });
      return;
    }
    const base = Math.floor(state.time / 60) * 60;
    if (this.fresh || base !== this.base || scene.instances.length !== state.crowd * 8) {
      this.base = base;
      if (scene.instances.length !== state.crowd * 8) scene.instances = new Float32Array(state.crowd * 8);
      fill_crowd(scene.instances, this.clips, this.spacing, state.loop, base);
      fill_first(scene.instances, this.clip, this.frame, state.loop);
      scene.set_instances(false);
      this.fresh = false;
    } else {
      fill_first(scene.instances, this.clip, this.frame, state.loop);
      scene.set_instances(true);
    }
    const { clientWidth, clientHeight } = scene.canvas;
    const depth = crowd_depth(state.crowd, this.spacing);
    const away = Math.max(...this.whole.max.map(Math.abs), ...this.whole.min.map(Math.abs), ...camera.target.map(Math.abs));
    const radius = Math.max(this.size * 6, depth * 1.6, camera.distance * 1.5);
    const reach = radius + away * 2 + depth;
    const scale = 10 ** Math.round(Math.log10(this.size / 4));
    scene.draw_scene({
      view: state.view, eye: eye_of(camera), projection: projection_of(camera, clientWidth / Math.max(clientHeight, 1), reach),
      now: state.time - base, blend: state.blend, colors, fog: Math.max(camera.distance * 3, depth * 1.3 + this.size * 10),
      ground: { place: [camera.target[0], this.data.rest_box.min[1], camera.target[2], radius], pitch: scale },
    });
  }

  tick(stamp) {
    requestAnimationFrame((next) => this.tick(next));
    const { state } = this;
    const elapsed = Math.min((stamp - (this.stamp ?? stamp)) / 1000, 0.25); // a page that was hidden does not jump
    this.stamp = stamp;
    if (state.playing) {
      state.time += elapsed * state.speed;
      if (!state.loop && state.time >= this.end) {
        state.time = this.end;
        state.playing = false;
        this.show();
      }
      this.show_time();
      this.changed = true;
      this.count_pictures(stamp);
    }
    if (!this.changed) return;
    this.changed = false;
    this.draw();
  }

  count_pictures(stamp) {
    this.pictures = (this.pictures ?? 0) + 1;
    this.since ??= stamp;
    if (stamp - this.since < 500) return;
    if (stamp - this.since < 2000) say('rate', `${format_number((this.pictures * 1000) / (stamp - this.since))} frames a second`);
    this.pictures = 0;
    this.since = stamp;
  }

  // ---- Beginning ----

  wire() {
    const { state } = this;
    document.title = `${this.name}: vatbake preview`;
    say('name', this.name);
    const { sidecar } = this.data;
    say('summary', `${counted(sidecar.vertex_count, 'vertex').replace('vertexs', 'vertices')}, ${counted(sidecar.frame_count, 'frame')}, ${counted(this.clips.length, 'clip')}`);
    $('clips').className = 'list';
    const loops = { closed: 'loops', cycle: 'loops', once: 'once' };
    const small = (clip) => `${counted(clip.frame_count, 'frame')} · ${clip.length.toFixed(2)} s · ${loops[clip.loop]}`;
    fill_radios($('clips'), 'clip', this.clips.map((clip, i) => [i, clip_name(clip, i), small(clip)]), (i) => this.choose_clip(i));
    fill_radios($('views'), 'view', this.views.map((view) => [view, VIEW_NAMES[view]]), (view) => this.choose_view(view));
    for (const role of ['position', ...(this.data.normals ? ['normal'] : [])]) $('texture').append(make('option', { value: role, textContent: role }));
    if (this.data.errors) {
      $('legend-bar').style.background = `linear-gradient(90deg, ${HEAT.join(', ')})`;
      say('legend-to', format_measure(this.data.errors.largest, this.data.errors.unit));
    }
    fill_facts($('facts'), this.data);
    fill_address_help();
    const on = (id, event, action) => $(id).addEventListener(event, (e) => action(e.target));
    on('play', 'click', () => this.play(!state.playing));
    on('scrub', 'input', (slider) => this.seek(Number(slider.value)));
    $('scrub').addEventListener('keydown', (event) => {
      const by = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key];
      if (!by || event.shiftKey) return;
      event.preventDefault();
      this.step(by);
    });
    on('loop', 'change', (box) => this.set('loop', box.checked));
    on('blend', 'change', (box) => this.set('blend', box.checked));
    on('speed', 'input', (slider) => this.set_speed(Number(slider.value)));
    on('crowd', 'input', (slider) => this.set_crowd(crowd_of(Number(slider.value))));
    on('texture', 'change', (select) => this.set('texture', select.value));
    on('theme', 'click', () => this.set_theme(this.dark ? 'light' : 'dark'));
    on('help-open', 'click', () => $('help').showModal());
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.set_theme(document.documentElement.dataset.theme));
    const move = (action) => (...numbers) => this.move_camera(action, ...numbers);
    watch_pointers($('canvas'), {
      turned: move(turn), shifted: move(shift), zoomed: (factor) => this.move_camera(approach, factor, this.size), framed: () => this.frame_scene(),
    });
    watch_keys(this.keys(move(turn)));
    new ResizeObserver(() => (state.moved ? this.redraw() : this.frame_scene())).observe($('canvas'));
    addEventListener('hashchange', () => this.read_address());
    $('canvas').addEventListener('webglcontextlost', () => location.reload());
  }

  keys(turned) {
    const { state } = this;
    const crowd = (by) => this.set_crowd(crowd_of(Math.max(Math.round(Math.log10(state.crowd) * 4) * 25 + by * 25, 0)));
    return [
      ['Space', [' '], 'play or pause', () => this.play(!state.playing)],
      ['←', ['ArrowLeft'], 'one frame back', () => this.step(-1)],
      ['→', ['ArrowRight'], 'one frame on', () => this.step(1)],
      ['↑', ['ArrowUp'], 'clip before', () => this.choose_clip(state.clip - 1)],
      ['↓', ['ArrowDown'], 'next clip', () => this.choose_clip(state.clip + 1)],
      ['Home', ['Home'], 'to the first frame', () => this.seek(0)],
      ['End', ['End'], 'to the last frame', () => this.seek(this.clip.length)],
      ...this.views.map((view, i) => [String(i + 1), [String(i + 1)], `view: ${VIEW_NAMES[view].toLowerCase()}`, () => this.choose_view(view)]),
      ['L', ['l'], 'loop on or off', () => this.set('loop', !state.loop)],
      ['B', ['b'], 'blend frames on or off', () => this.set('blend', !state.blend)],
      ['[', ['['], 'slower', () => this.set_speed(state.speed - 0.1)],
      [']', [']'], 'faster', () => this.set_speed(state.speed + 0.1)],
      [',', [','], 'smaller crowd', () => crowd(-1)],
      ['.', ['.'], 'larger crowd', () => crowd(1)],
      ['Shift ←', ['Shift+ArrowLeft'], 'turn the camera left', () => turned(-0.1, 0)],
      ['Shift →', ['Shift+ArrowRight'], 'turn the camera right', () => turned(0.1, 0)],
      ['Shift ↑', ['Shift+ArrowUp'], 'turn the camera up', () => turned(0, 0.1)],
      ['Shift ↓', ['Shift+ArrowDown'], 'turn the camera down', () => turned(0, -0.1)],
      ['+', ['+', '='], 'nearer', () => this.move_camera(approach, 0.9, this.size)],
      ['-', ['-', '_'], 'farther', () => this.move_camera(approach, 1 / 0.9, this.size)],
      ['F', ['f'], 'frame the model', () => this.frame_scene()],
      ['T', ['t'], 'dark or light', () => this.set_theme(this.dark ? 'light' : 'dark')],
      ['? H', ['?', 'h'], 'this help', () => $('help').showModal()],
    ];
  }

  /** Applies what the address names, and leaves the rest as it is. */
  read_address() {
    const { state } = this;
    const given = read_address();
    if (given.clip !== undefined) {
      const named = this.clips.findIndex((clip, i) => clip_name(clip, i) === given.clip);
      const index = named >= 0 ? named : Number(given.clip);
      if (this.clips[index]) state.clip = index;
    }
    if (given.t !== undefined) state.time = Math.max(given.t, 0);
    if (given.paused !== undefined) state.playing = !given.paused;
    if (given.loop !== undefined) state.loop = given.loop;
    if (given.blend !== undefined) state.blend = given.blend;
    if (given.view === 'flat' || this.views.includes(given.view)) state.view = given.view;
    if (given.texture === 'position' || (given.texture === 'normal' && this.data.normals)) state.texture = given.texture;
    if (given.ui !== undefined) document.documentElement.toggleAttribute('data-bare', !given.ui);
    if (given.speed !== undefined) this.set_speed(given.speed);
    if (given.theme !== undefined) this.set_theme(given.theme);
    if (given.crowd !== undefined) this.set_crowd(given.crowd);
    else if (!state.moved) this.frame_scene();
    if (given.eye || given.target) {
      Object.assign(this.camera, look_from(given.eye ?? eye_of(this.camera), given.target ?? this.camera.target));
      state.moved = true;
    }
    this.fresh = true;
    this.show();
  }
}

async function begin() {
  const page = document.documentElement;
  try {
    const data = JSON.parse($('data').textContent);
    const preview = new Preview(data);
    preview.set_theme();
    preview.wire();
    preview.read_address();
    preview.scene = new Scene($('canvas'), data);
    const unread = await preview.scene.upload();
    if (unread) $('facts').prepend(make('p', { className: 'note', textContent: `${counted(unread, 'picture')} of a format that this browser does not read: the material’s colour alone is shown.` }));
    $('cover').hidden = true;
    page.dataset.state = 'ready';
    requestAnimationFrame((stamp) => preview.tick(stamp));
  } catch (error) {
    page.dataset.state = 'failed';
    say('cover-text', error.message);
  }
}

document.addEventListener('DOMContentLoaded', begin);
