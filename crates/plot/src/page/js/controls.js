// Buttons, sliders, pointers and keyboard.

let isRequested = false;
// Requests a redraw; requests within one frame are merged.
function refresh() {
  if (isRequested || !gl) return;
  isRequested = true;
  requestAnimationFrame(() => {
    isRequested = false;
    draw();
  });
}

function recolor() {
  if (gl) uploadColors();
  buildBars();
  refresh();
}

// Time.

function setTime(part) {
  state.now = Math.min(Math.max(part, 0), 1);
  const save = Math.round(saveAt(state.now) * 1e6) / 1e6;
  const digits = span ? Math.min(Math.max(0, 3 - Math.floor(Math.log10(Math.abs(span)))), 12) : 3;
  const date = head.dates[Math.floor(save)];
  const time = SAVES ? withUnit(timeAt(state.now).toFixed(digits).replace('-', '−'), head.time_unit) : '–';
  const number = SAVES ? `save ${Math.floor(save) + 1} of ${SAVES}` : 'no saves';
  $('clock').value = `${date ?? `t = ${time}`} · ${number}`;
  $('time').value = state.now;
  $('time').setAttribute('aria-valuetext', $('clock').value);
  showParticle();
  refresh();
}

function stepSave(by) {
  if (!SAVES) return;
  setPlaying(false);
  const save = saveAt(state.now);
  const next = by > 0 ? Math.floor(save + 1e-6) + by : Math.ceil(save - 1e-6) + by;
  setTime(partOf(Math.min(Math.max(next, 0), SAVES - 1)));
}

const RUN_SECONDS = 10;
let before = 0;
function setPlaying(playing) {
  state.playing = playing && SAVES > 1;
  if (state.playing && state.now >= 1) setTime(0);
  $('play').setAttribute('aria-label', state.playing ? 'Pause' : 'Play');
  $('play').title = state.playing ? 'Pause (space)' : 'Play (space)';
  $('play-icon').setAttribute('d', state.playing ? 'M4 2h3v12H4zM9 2h3v12H9z' : 'M4 2l10 6-10 6z');
  before = performance.now();
  if (state.playing) requestAnimationFrame(advance);
}
function advance(time) {
  if (!state.playing) return;
  const part = (Math.max(time - before, 0) / 1000 / RUN_SECONDS) * Number($('speed').value);
  before = Math.max(time, before);
  const next = state.now + part;
  if (next < 1) setTime(next);
  else if ($('repeat').checked) setTime(next % 1);
  else {
    setTime(1);
    setPlaying(false);
  }
  requestAnimationFrame(advance);
}

function connectTime() {
  $('play').addEventListener('click', () => setPlaying(!state.playing));
  $('time').addEventListener('input', () => {
    setPlaying(false);
    setTime(Number($('time').value));
  });
  const idle = SAVES < 2;
  for (const id of ['play', 'time', 'speed', 'repeat']) $(id).disabled = idle;
}

// Colour.

const option = (text, value) => new Option(text, value);

function connectColor() {
  attributes.forEach(({ name, unit }, k) => $('attribute').add(option(named(name, unit), k)));
  $('attribute').add(option('One colour', -1));
  for (const id of ['map', 'slice-map']) head.maps.forEach(([name], k) => $(id).add(option(name, k)));
  $('slice-map').value = state.sliceMap;
  $('attribute').addEventListener('change', () => setAttribute(Number($('attribute').value)));
  $('map').addEventListener('change', () => {
    state.map = Number($('map').value);
    recolor();
  });
  $('slice-map').addEventListener('change', () => {
    state.sliceMap = Number($('slice-map').value);
    recolor();
  });
  for (const [id, end] of [['low', 0], ['high', 1]]) {
    $(id).addEventListener('change', () => setRangeEnd(end, $(id).value));
  }
}

function setAttribute(k) {
  state.attribute = k;
  const attribute = attributes[k];
  const numeric = Boolean(attribute && !attribute.names);
  state.range = attribute ? [...robustRange(attribute)] : [0, 1];
  for (const id of ['low', 'high', 'map']) $(id).disabled = !numeric;
  showRange(numeric);
  recolor();
}
function showRange(numeric) {
  $('low').value = numeric ? Number(state.range[0].toPrecision(5)) : '';
  $('high').value = numeric ? Number(state.range[1].toPrecision(5)) : '';
}
// An empty field resets the end of the range to the minimum or maximum.
function setRangeEnd(end, text) {
  const value = text === '' ? NaN : Number(text);
  state.range[end] = Number.isFinite(value) ? value : attributes[state.attribute].range[end];
  showRange(true);
  recolor();
}

function setTheme(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
  $('theme').textContent = isDark() ? 'Light' : 'Dark';
  $('theme').setAttribute('aria-label', isDark() ? 'Change to light colours' : 'Change to dark colours');
  recolor();
}

// Lines and points.

const SLIDERS = {
  trail: (value) => {
    // A quadratic scale gives short trails a finer resolution.
    state.trail = (value / 100) ** 2;
    if (value >= 100) return 'all';
    return withUnit(formatNumber(Math.abs(span) * state.trail, 3), head.time_unit);
  },
  opacity: (value) => {
    state.opacity = value / 100;
    return `${value} %`;
  },
  width: (value) => {
    state.width = value;
    return `${value} px`;
  },
  size: (value) => {
    state.size = value;
    return `${value} px`;
  },
};

// Part of the box that trails may cover at first, if no two of them were on top of each other.
const COVERED = 0.6;
// The area of the box on the screen, and the area of all lines of a width, in square pixels.
function areas(width) {
  const { pixel, back } = currentView();
  const sides = halves.map((half, axis) => (2 * half * stretch()[axis]) / pixel);
  const faces = sides.map((_, axis) => sides.reduce((area, side, k) => (k === axis ? area : area * Math.max(side, 1)), 1));
  return [dot(faces, back.map(Math.abs)), (width * trackLength()) / pixel];
}

// Defaults for the numbers of points and of tracks. Trails are so short that together they do not cover the picture,
// and at least as long as the interval between two saves.
function setDefaults() {
  const width = COUNT <= 500 ? 1.5 : 1;
  const least = SAVES > 1 ? 1 / (SAVES - 1) : 1;
  const [box, lines] = areas(width);
  const part = Math.min(1, Math.max((COVERED * box) / Math.max(lines, 1), 0.03, least));
  $('trail').value = Math.ceil(100 * Math.sqrt(part));
  $('opacity').value = COUNT <= 500 ? 100 : COUNT <= 3000 ? 70 : 45;
  $('width').value = width;
  const size = COUNT <= 50 ? 8 : COUNT <= 500 ? 6 : COUNT <= 2000 ? 4.5 : COUNT <= 6000 ? 3.5 : 2.5;
  // A phone has less room.
  $('size').value = matchMedia('(max-width: 800px)').matches ? Math.max(0.6 * size, 1.5) : size;
}

function connectTracks() {
  setDefaults();
  $('width').disabled = SAVES * COUNT > MAX_WIDE_POSITIONS;
  for (const [id, set] of Object.entries(SLIDERS)) {
    const show = () => {
      $(`${id}-value`).value = set(Number($(id).value));
      refresh();
    };
    $(id).addEventListener('input', show);
    show();
  }
  $('walls').parentElement.hidden = !walls.length;
  for (const id of ['lines', 'points', 'ended', 'walls']) {
    $(id).addEventListener('change', () => {
      state[id] = $(id).checked;
      refresh();
    });
  }
}

function connectSlices() {
  $('slices').hidden = !slices.length;
  slices.forEach((slice, k) => {
    const row = element('div', '', { class: 'slice' });
    const label = element('label', '', { class: 'inline' });
    const box = element('input', '', { type: 'checkbox', id: `slice-on-${k}` });
    const where = withUnit(`${AXES[slice.normal_axis]} = ${formatNumber(slice.position)}`, head.length_unit);
    label.append(box, ` ${sentence(slice.title || `${slice.name}, ${where}`)}`);
    const clear = element('input', '', { type: 'range', min: 5, max: 100, value: 80, 'aria-label': `Opacity of slice ${k + 1}` });
    const range = element('span', '', { class: 'range' });
    const output = element('output', '80 %');
    range.append(clear, output);
    row.append(label, range);
    $('slice-list').append(row);
    box.addEventListener('change', () => {
      slice.on = box.checked;
      buildBars();
      refresh();
    });
    clear.addEventListener('input', () => {
      slice.opacity = Number(clear.value) / 100;
      output.value = `${clear.value} %`;
      refresh();
    });
  });
}

// View.

function setView(name) {
  camera.view = name;
  resetCamera();
  document.querySelector(`input[name="view"][value="${name}"]`).checked = true;
  refresh();
}
function zoom(factor, x, y) {
  zoomBy(factor, x, y);
  refresh();
}

function connectView() {
  for (const choice of document.querySelectorAll('input[name="view"]')) {
    choice.addEventListener('change', () => setView(choice.value));
  }
  $('zoom-in').addEventListener('click', () => zoom(1.25));
  $('zoom-out').addEventListener('click', () => zoom(0.8));
  $('reset').addEventListener('click', () => setView(camera.view));
  $('equal').addEventListener('change', () => {
    camera.equal = $('equal').checked;
    setView(camera.view);
  });
  // A flat box is viewed along its normal.
  const flat = Math.max(...halves) ? halves.findIndex((half) => !half) : -1;
  setView(['yz', 'xz', 'xy'][flat] || '3d');
  $('theme').addEventListener('click', () => setTheme(isDark() ? 'light' : 'dark'));
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => setTheme());
}

// Particles.

function setPicked(i) {
  state.picked = i;
  if (gl) uploadPicked();
  $('number').value = i < 0 ? '' : numbers[i];
  $('drop').hidden = i < 0;
  showParticle();
  refresh();
}
let shownProperties = '';
function showParticle() {
  const properties = state.picked < 0 ? [] : propertiesOf(state.picked);
  const text = JSON.stringify(properties);
  if (text === shownProperties) return;
  shownProperties = text;
  // Screen readers do not announce changes during playback.
  $('particle').setAttribute('aria-live', state.playing ? 'off' : 'polite');
  const hint = element('p', 'Click a particle or its line, or type a number.', { class: 'hint' });
  $('particle').replaceChildren(properties.length ? tableOfRows(properties) : hint);
}
function pickNumber() {
  const text = $('number').value;
  const i = text === '' ? -1 : numbers.indexOf(Number(text));
  setPicked(i);
  if (i >= 0 || text === '') return;
  $('number').value = text;
  $('particle').replaceChildren(element('p', `Particle ${text} is not on this page.`, { class: 'hint' }));
  shownProperties = '';
}

function connectParticle() {
  $('number').addEventListener('change', pickNumber);
  $('drop').addEventListener('click', () => setPicked(-1));
}

// Pressed pointers (mouse or fingers) on the picture, by their identifiers.

const down = new Map();
let travelled = 0;

function spread() {
  const [a, b] = [...down.values()];
  return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, far: Math.hypot(a.x - b.x, a.y - b.y) || 1 };
}
// The position of an event in pixels from the centre of the plot area, y up.
function fromCenter({ x, y }) {
  const { left, top, width, height } = plotArea();
  return [x - left - width / 2, top + height / 2 - y];
}
const eventPosition = (event) => {
  const corner = scene.getBoundingClientRect();
  return { x: event.clientX - corner.left, y: event.clientY - corner.top };
};

function pointerMoves(event) {
  const last = down.get(event.pointerId);
  if (!last) return;
  const now = eventPosition(event);
  const old = down.size === 2 ? spread() : null;
  down.set(event.pointerId, { ...now, moves: last.moves });
  travelled += Math.hypot(now.x - last.x, now.y - last.y);
  if (travelled < 4) return;
  if (down.size === 2) {
    const both = spread();
    pan(both.x - old.x, old.y - both.y);
    zoomBy(both.far / old.far, ...fromCenter(both));
  } else if (last.moves) pan(now.x - last.x, last.y - now.y);
  else rotate(now.x - last.x, last.y - now.y);
  refresh();
}

function connectPointers() {
  scene.addEventListener('pointerdown', (event) => {
    if (!down.size) travelled = 0;
    const moves = event.shiftKey || event.button === 2 || event.button === 1;
    down.set(event.pointerId, { ...eventPosition(event), moves });
    scene.setPointerCapture(event.pointerId);
  });
  scene.addEventListener('pointermove', pointerMoves);
  scene.addEventListener('pointerup', (event) => {
    const clicked = down.size === 1 && travelled < 4 && event.button === 0;
    down.delete(event.pointerId);
    const { x, y } = eventPosition(event);
    if (clicked && gl) setPicked(pickAt(currentView(), x, y));
  });
  scene.addEventListener('pointercancel', (event) => down.delete(event.pointerId));
  scene.addEventListener('contextmenu', (event) => event.preventDefault());
  scene.addEventListener('wheel', (event) => {
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 16 : 1;
    zoom(Math.exp(-event.deltaY * lines * 0.0015), ...fromCenter(eventPosition(event)));
  }, { passive: false });
}

// Keyboard shortcuts, unless the focused element handles the key.

const KEYS = {
  ' ': () => setPlaying(!state.playing),
  ArrowLeft: () => stepSave(-1),
  ArrowRight: () => stepSave(1),
  Home: () => { setPlaying(false); setTime(0); },
  End: () => { setPlaying(false); setTime(1); },
  '+': () => zoom(1.25),
  '=': () => zoom(1.25),
  '-': () => zoom(0.8),
  0: () => setView(camera.view),
  Escape: () => setPicked(-1),
};
const ROTATIONS = { ArrowLeft: [-20, 0], ArrowRight: [20, 0], ArrowUp: [0, 20], ArrowDown: [0, -20] };

function isHandledElsewhere({ target, key }) {
  if (target === scene || target === $('time') || target === document.body) return false;
  if (target.matches('input[type="number"], select')) return true;
  const arrows = key.startsWith('Arrow') || key === 'Home' || key === 'End';
  if (target.matches('input[type="range"], input[type="radio"]') && arrows) return true;
  return key === ' ' && target.matches('button, input');
}

function connectKeys() {
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isHandledElsewhere(event)) return;
    if (event.shiftKey && ROTATIONS[event.key]) {
      rotate(...ROTATIONS[event.key]);
      refresh();
    } else if (KEYS[event.key]) KEYS[event.key]();
    else return;
    event.preventDefault();
  });
}
