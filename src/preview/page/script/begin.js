// From the page to the first picture: controls, keys, address.

/** Fills the controls and listens to them. */
function wire(preview) {
  const { state } = preview;
  document.title = `${preview.name}: vatbake preview`;
  say('name', preview.name);
  const { sidecar } = preview.data;
  const vertices = counted(sidecar.vertex_count, 'vertex').replace('vertexs', 'vertices');
  say('summary', `${vertices}, ${counted(sidecar.frame_count, 'frame')}, ${counted(preview.clips.length, 'clip')}`);
  $('clips').className = 'list';
  const loops = { closed: 'loops', cycle: 'loops', once: 'once' };
  const small = (clip) => `${counted(clip.frame_count, 'frame')} · ${clip.length.toFixed(2)} s · ${loops[clip.loop]}`;
  fill_radios($('clips'), 'clip', preview.clips.map((clip, i) => [i, clip_name(clip, i), small(clip)]), (i) => preview.choose_clip(i));
  fill_radios($('views'), 'view', preview.views.map((view) => [view, VIEW_NAMES[view]]), (view) => preview.choose_view(view));
  const roles = ['position', ...(preview.data.normals ? ['normal'] : [])];
  $('texture').append(...roles.map((role) => make('option', { value: role, textContent: role })));
  if (preview.data.errors) {
    $('legend-bar').style.background = `linear-gradient(90deg, ${HEAT.join(', ')})`;
    say('legend-to', format_measure(preview.data.errors.largest, preview.data.errors.unit));
  }
  fill_facts($('facts'), preview.data);
  fill_address_help();
  const on = (id, event, action) => $(id).addEventListener(event, (e) => action(e.target));
  on('play', 'click', () => preview.play(!state.playing));
  on('scrub', 'input', (slider) => preview.seek(Number(slider.value)));
  $('scrub').addEventListener('keydown', (event) => {
    const by = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key];
    if (!by || event.shiftKey) return;
    event.preventDefault();
    preview.step(by);
  });
  on('loop', 'change', (box) => preview.set('loop', box.checked));
  on('blend', 'change', (box) => preview.set('blend', box.checked));
  on('speed', 'input', (slider) => preview.set_speed(Number(slider.value)));
  on('crowd', 'input', (slider) => preview.set_crowd(crowd_of(Number(slider.value))));
  on('texture', 'change', (select) => preview.set('texture', select.value));
  on('theme', 'click', () => preview.set_theme(preview.dark ? 'light' : 'dark'));
  on('help-open', 'click', () => $('help').showModal());
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => preview.set_theme(document.documentElement.dataset.theme));
  const move = (action) => (...numbers) => preview.move_camera(action, ...numbers);
  watch_pointers($('canvas'), {
    turned: move(turn),
    shifted: move(shift),
    zoomed: (factor) => preview.move_camera(approach, factor, preview.size),
    framed: () => preview.frame_scene(),
  });
  watch_keys(keys_of(preview, move(turn)));
  new ResizeObserver(() => (state.moved ? preview.redraw() : preview.frame_scene())).observe($('canvas'));
  addEventListener('hashchange', () => apply_address(preview));
  $('canvas').addEventListener('webglcontextlost', () => {
    preview.play(false);
    say('cover-text', 'The graphics device was reset. Reload the page to go on.');
    $('cover').hidden = false;
  });
}

/** What the help shows, the keys, what they do. */
function keys_of(preview, turned) {
  const { state } = preview;
  const crowd = (by) => preview.set_crowd(crowd_of(Math.max(Math.round(Math.log10(state.crowd) * 4) * 25 + by * 25, 0)));
  return [
    ['Space', [' '], 'play or pause', () => preview.play(!state.playing)],
    ['←', ['ArrowLeft'], 'one frame back', () => preview.step(-1)],
    ['→', ['ArrowRight'], 'one frame on', () => preview.step(1)],
    ['↑', ['ArrowUp'], 'clip before', () => preview.choose_clip(state.clip - 1)],
    ['↓', ['ArrowDown'], 'next clip', () => preview.choose_clip(state.clip + 1)],
    ['Home', ['Home'], 'to the first frame', () => preview.seek(0)],
    ['End', ['End'], 'to the last frame', () => preview.seek(preview.clip.length)],
    ...preview.views.map((view, i) => {
      const key = String(i + 1);
      return [key, [key], `view: ${VIEW_NAMES[view].toLowerCase()}`, () => preview.choose_view(view)];
    }),
    ['L', ['l'], 'loop on or off', () => preview.set('loop', !state.loop)],
    ['B', ['b'], 'blend frames on or off', () => preview.set('blend', !state.blend)],
    ['[', ['['], 'slower', () => preview.set_speed(state.speed - 0.1)],
    [']', [']'], 'faster', () => preview.set_speed(state.speed + 0.1)],
    [',', [','], 'smaller crowd', () => crowd(-1)],
    ['.', ['.'], 'larger crowd', () => crowd(1)],
    ['Shift ←', ['Shift+ArrowLeft'], 'turn the camera left', () => turned(-0.1, 0)],
    ['Shift →', ['Shift+ArrowRight'], 'turn the camera right', () => turned(0.1, 0)],
    ['Shift ↑', ['Shift+ArrowUp'], 'turn the camera up', () => turned(0, 0.1)],
    ['Shift ↓', ['Shift+ArrowDown'], 'turn the camera down', () => turned(0, -0.1)],
    ['+', ['+', '='], 'nearer', () => preview.move_camera(approach, 0.9, preview.size)],
    ['-', ['-', '_'], 'farther', () => preview.move_camera(approach, 1 / 0.9, preview.size)],
    ['F', ['f'], 'frame the model', () => preview.frame_scene()],
    ['T', ['t'], 'dark or light', () => preview.set_theme(preview.dark ? 'light' : 'dark')],
    ['? H', ['?', 'h'], 'this help', () => $('help').showModal()],
  ];
}

/** Applies what the address names, and leaves the rest as it is. */
function apply_address(preview) {
  const { state } = preview;
  const given = read_address();
  if (given.clip !== undefined) {
    const named = preview.clips.findIndex((clip, i) => clip_name(clip, i) === given.clip);
    const index = named >= 0 ? named : Number(given.clip);
    if (preview.clips[index]) state.clip = index;
  }
  if (given.t !== undefined) state.time = Math.max(given.t, 0);
  if (given.paused !== undefined) state.playing = !given.paused;
  if (given.loop !== undefined) state.loop = given.loop;
  if (given.blend !== undefined) state.blend = given.blend;
  if (given.view === 'flat' || preview.views.includes(given.view)) state.view = given.view;
  if (given.texture === 'position' || (given.texture === 'normal' && preview.data.normals)) state.texture = given.texture;
  if (given.ui !== undefined) document.documentElement.toggleAttribute('data-bare', !given.ui);
  if (given.speed !== undefined) preview.set_speed(given.speed);
  if (given.theme !== undefined) preview.set_theme(given.theme);
  if (given.crowd !== undefined) preview.set_crowd(given.crowd);
  else if (!state.moved) preview.frame_scene();
  if (given.eye || given.target) {
    Object.assign(preview.camera, look_from(given.eye ?? eye_of(preview.camera), given.target ?? preview.camera.target));
    state.moved = true;
  }
  preview.fresh = true;
  show(preview);
}

async function begin() {
  const page = document.documentElement;
  try {
    const data = JSON.parse($('data').textContent);
    const preview = new Preview(data);
    preview.set_theme();
    wire(preview);
    apply_address(preview);
    preview.scene = new Scene($('canvas'), data);
    const unread = await preview.scene.upload();
    if (unread) {
      const text = `${counted(unread, 'picture')} of a format that this browser does not read: the material’s colour alone is shown.`;
      $('facts').prepend(make('p', { className: 'note', textContent: text }));
    }
    $('cover').hidden = true;
    page.dataset.state = 'ready';
    requestAnimationFrame((stamp) => preview.tick(stamp));
  } catch (error) {
    page.dataset.state = 'failed';
    say('cover-text', error.message);
  }
}

document.addEventListener('DOMContentLoaded', begin);
