// Controls: what they show is what the state says, whoever changed it.

const $ = (id) => document.getElementById(id);
const VIEW_NAMES = { shaded: 'Shaded', normals: 'Normals', error: 'Error', texture: 'Texture' };

/** Radio buttons, drawn as segments or as a list. `items` are value, label and small print. */
function fill_radios(into, name, items, chosen) {
  for (const [value, label, small] of items) {
    const input = make('input', { type: 'radio', name, value: String(value) });
    input.addEventListener('change', () => chosen(value));
    const words = small === undefined ? [label] : [make('b', { textContent: label }), make('small', { textContent: small })];
    into.append(make('label', {}, input, make('span', {}, ...words)));
  }
}

function check_radio(into, value) {
  for (const input of into.querySelectorAll('input')) {
    const now = input.value === String(value);
    if (now && !input.checked) {
      // Within the list only: the page itself stays where it is.
      const { offsetTop, offsetHeight } = input.parentElement;
      into.scrollTop = Math.min(Math.max(into.scrollTop, offsetTop + offsetHeight - into.clientHeight), offsetTop);
    }
    input.checked = now;
  }
}

/** The slider counts hundredths of a power of ten; the crowd has two digits that count. */
function crowd_of(position) {
  const exact = 10 ** (position / 100);
  const step = exact < 100 ? 1 : 10 ** (Math.floor(Math.log10(exact)) - 1);
  return Math.min(Math.round(exact / step) * step, LARGEST_CROWD);
}

function announce(text) {
  $('live').textContent = text;
}

/** Text only where it changed: an unchanged node costs no layout and is not read again. */
function say(id, text) {
  if ($(id).textContent !== text) $(id).textContent = text;
}

/** One mouse or finger turns, two pinch and move. */
function watch_pointers(canvas, { turned, shifted, zoomed, framed }) {
  const down = new Map();
  const middle = () => {
    const points = [...down.values()];
    const x = points.reduce((sum, p) => sum + p.x, 0) / points.length;
    const y = points.reduce((sum, p) => sum + p.y, 0) / points.length;
    return { x, y, spread: points.length > 1 ? Math.hypot(points[0].x - points[1].x, points[0].y - points[1].y) : 0 };
  };
  canvas.addEventListener('pointerdown', (event) => {
    canvas.setPointerCapture(event.pointerId);
    down.set(event.pointerId, { x: event.clientX, y: event.clientY });
  });
  canvas.addEventListener('pointermove', (event) => {
    if (!down.has(event.pointerId)) return;
    const before = middle();
    down.set(event.pointerId, { x: event.clientX, y: event.clientY });
    const after = middle();
    const [x, y] = [after.x - before.x, after.y - before.y].map((n) => n / canvas.clientHeight);
    if (down.size > 1) {
      if (after.spread > 0) zoomed(before.spread / after.spread);
      shifted(x, y);
    } else if (event.buttons & 6 || event.shiftKey) shifted(x, y);
    else turned(-x * 4, y * 4);
  });
  for (const end of ['pointerup', 'pointercancel', 'lostpointercapture'])
    canvas.addEventListener(end, (event) => down.delete(event.pointerId));
  canvas.addEventListener('contextmenu', (event) => event.preventDefault());
  canvas.addEventListener('dblclick', framed);
  canvas.addEventListener('wheel', (event) => {
    event.preventDefault();
    const pixels = event.deltaY * (event.deltaMode === 1 ? 30 : event.deltaMode === 2 ? 300 : 1);
    zoomed(Math.exp(Math.min(Math.max(pixels, -300), 300) * 0.0015));
  }, { passive: false });
}

/** Keys: what the help shows, the keys themselves, what they do. Those of a control that has the focus stay with it. */
function watch_keys(keys) {
  const by_key = new Map(keys.flatMap(([, names, , action]) => names.map((name) => [name, action])));
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || $('help').open) return;
    const from = event.target;
    const arrows = /^(Arrow|Home|End)/.test(event.key);
    const own = from.matches?.('input[type=range], input[type=radio], select');
    if (own && !event.shiftKey && arrows) return;
    if (event.key === ' ' && from.matches?.('button, input[type=checkbox], select')) return;
    if (from.matches?.('select') && event.key.length === 1) return;
    if (event.key.length === 1 && event.key !== ' ' && !$('letters').checked) return;
    const action = by_key.get((event.shiftKey && arrows ? 'Shift+' : '') + (event.key.length === 1 ? event.key.toLowerCase() : event.key));
    if (!action) return;
    event.preventDefault();
    action();
  });
  for (const [shown, , does] of keys) {
    const caps = shown.split(' ').flatMap((key, i) => [i ? ' ' : '', make('kbd', { textContent: key })]);
    $('help-keys').append(make('tr', {}, make('th', { scope: 'row' }, ...caps), make('td', { textContent: does })));
  }
}

const ADDRESS_HELP = [
  ['t=0.5', 'seconds into the clip'],
  ['clip=Walk', 'a clip, by name or number from 0'],
  ['paused', 'stands still'],
  ['view=normals', 'shaded, normals, error, texture, or flat (white on black)'],
  ['texture=normal', 'which texture the texture view shows'],
  ['eye=1,1,3', 'where the camera is, metres, glTF’s axes (35° high)'],
  ['target=0,0.5,0', 'what it looks at'],
  ['crowd=1000', '1 to 10,000 instances'],
  ['speed=0.5', '0 to 2'],
  ['loop=off', 'plays once and holds'],
  ['blend=off', 'whole frames only'],
  ['theme=dark', 'or light, or system'],
  ['ui=off', 'the picture alone'],
];

function fill_address_help() {
  for (const [example, does] of ADDRESS_HELP) {
    const code = make('code', { textContent: example });
    $('help-hash').append(make('tr', {}, make('th', { scope: 'row' }, code), make('td', { textContent: does })));
  }
}
