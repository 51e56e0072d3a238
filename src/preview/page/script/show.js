// What the controls and captions say.

/** Controls after the state changed. */
function show(preview) {
  const { state, clip } = preview;
  const { view, crowd } = state;
  preview.redraw();
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
  say('crowd-note', crowd > 1 ? `in ${counted(preview.data.materials.length, 'draw call')}; each has its own clip, phase and speed` : '');
  $('texture-choice').hidden = view !== 'texture' || $('texture').options.length < 2;
  $('texture').value = state.texture;
  $('legend').hidden = view !== 'error';
  say('view-note', note_of(preview));
  $('canvas').setAttribute('aria-label', `${preview.name}, ${clip_name(clip, state.clip)}, ${(VIEW_NAMES[view] ?? view).toLowerCase()}`);
  show_time(preview);
}

/** What a view means. */
function note_of(preview) {
  const { data, state } = preview;
  const own = data.normals || data.octahedral;
  if (state.view === 'normals') return own ? 'Red is x, green y, blue z.' : 'The bake holds no normals; those of the triangles are shown.';
  if (state.view === 'error') {
    const { largest, unit } = data.errors;
    return `How far each vertex of the written texels is from the source. Largest: ${format_measure(largest, unit)}.`;
  }
  if (state.view !== 'texture') return '';
  return 'Columns are vertices, rows are frames, stretched to fit. Between the marks: the rows that play. Grey: other clips.';
}

/** The clock, the slider and the captions. */
function show_time(preview) {
  const { state, clip, local } = preview;
  const last = clip.frame_count - 1;
  $('scrub').value = local;
  say('clock', `${local.toFixed(2)} / ${clip.length.toFixed(2)} s`);
  if (state.playing) $('scrub').removeAttribute('aria-valuetext');
  else $('scrub').setAttribute('aria-valuetext', `${local.toFixed(2)} seconds, frame ${Math.round(preview.frame)} of ${last}`);
  const [a, b] = preview.rows;
  const rows = a === b ? `row ${a}` : `rows ${a} and ${b}`;
  const where = state.view === 'texture' ? rows : `frame ${preview.frame.toFixed(1)} of ${last}`;
  say('caption', `${clip_name(clip, state.clip)}, ${where}`);
  if (!state.playing) say('rate', '');
}
