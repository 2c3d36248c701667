// Buttons and sliders.

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
  followColor();
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

const isPhone = () => matchMedia('(max-width: 800px)').matches;
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
  $('size').value = isPhone() ? Math.max(0.6 * size, 1.5) : size;
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
  for (const id of ['lines', 'points', 'walls']) {
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
  setBoxTool(false);
  $('box-draw').disabled = name === '3d';
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
  buildSeries();
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
