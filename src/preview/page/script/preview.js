// The page: one state, one clock, and what is drawn from them.


class Preview {
  constructor(data) {
    const { sidecar } = data;
    Object.assign(this, { data, name: data.name, clips: sidecar.clips, unit: sidecar.space.unit ?? 'metre' });
    const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
    this.state = {
      clip: 0, time: 0, playing: !still, loop: true, blend: true, speed: 1, crowd: 1, view: 'shaded', texture: 'position', moved: false,
    };
    this.camera = { yaw: 0, pitch: 0, distance: 1, target: [0, 0, 0] };
    this.boxes = this.clips.map((clip) => this.upright_box(clip.bounds));
    this.whole = this.upright_box(sidecar.bounds);
    const size = data.rest_box.max.map((m, i) => m - data.rest_box.min[i]);
    this.size = Math.max(...size, 1e-6);
    this.spacing = Math.max((size[0] + size[2]) * 0.75, this.size * 0.3);
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
    const whole = Math.round(this.frame);
    const frame = Math.abs(this.frame - whole) < 1e-3 ? whole : this.frame; // lengths are rounded to 32 bits
    const below = Math.min(Math.floor(frame), Math.max(intervals - 1, 0));
    const fraction = frame - below;
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
    show(this);
    announce(on ? `Playing ${clip_name(this.clip, this.state.clip)}` : `Paused at ${this.local.toFixed(2)} seconds`);
  }

  /** When nothing moves any more, where clips play once. */
  get end() {
    return this.state.crowd === 1 ? this.clip.length : Math.max(...this.clips.map((clip) => clip.length / 0.8));
  }

  seek(seconds) {
    this.state.time = Math.min(Math.max(seconds, 0), this.clip.length);
    this.fresh = true;
    show(this);
  }

  step(frames) {
    this.state.playing = false;
    const intervals = this.clip.frame_count - 1;
    if (intervals > 0) {
      let frame = frames > 0 ? Math.floor(this.frame + 1e-4) + frames : Math.ceil(this.frame - 1e-4) + frames;
      if (this.state.loop) frame = (frame + intervals + 1) % (intervals + 1);
      this.seek((frame / intervals) * this.clip.length);
    }
    show(this);
    announce(`Frame ${Math.round(this.frame)}`);
  }

  choose_clip(index) {
    this.state.clip = (index + this.clips.length) % this.clips.length;
    this.state.time = 0;
    this.fresh = true;
    if (!this.state.moved) this.frame_scene();
    show(this);
    announce(`Clip ${clip_name(this.clip, this.state.clip)}`);
  }

  choose_view(view) {
    if (!this.views.includes(view)) return;
    this.state.view = view;
    show(this);
    announce(`View: ${VIEW_NAMES[view]}`);
  }

  set(name, value) {
    this.state[name] = value;
    this.fresh = true;
    show(this);
  }

  set_speed(speed) {
    this.state.speed = Math.round(Math.min(Math.max(speed, 0), 2) * 100) / 100;
    show(this);
  }

  set_crowd(count) {
    this.state.crowd = Math.min(Math.max(Math.round(count), 1), LARGEST_CROWD);
    this.fresh = true;
    if (!this.state.moved) this.frame_scene();
    show(this);
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
    this.colors = { stage: color('--stage'), grid: color('--grid') };
    say('theme', this.dark ? 'Light theme' : 'Dark theme');
    this.redraw();
  }

  draw() {
    const { scene, state, camera, colors } = this;
    if (state.view === 'texture') {
      const texture = this.data[state.texture === 'normal' ? 'normals' : 'positions'];
      const { first_frame, frame_count } = this.clip;
      const span = [first_frame, first_frame + frame_count];
      scene.draw_texture({ role: state.texture, range: texture.range, rows: this.rows, span, colors });
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
    const scale = 10 ** Math.round(Math.log10(this.size / 4));
    const away = Math.max(...this.whole.max.map(Math.abs), ...this.whole.min.map(Math.abs), ...camera.target.map(Math.abs));
    const radius = Math.max(this.size * 6, depth * 1.6, camera.distance * 1.5);
    const reach = radius + away * 2 + depth;
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
        show(this);
      }
      show_time(this);
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
}
