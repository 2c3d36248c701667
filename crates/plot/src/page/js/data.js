// The data of the page.

const $ = (id) => document.getElementById(id);
const head = JSON.parse($('header').textContent);
const SAVES = head.times.length;
const COUNT = head.particles;
// The code of a missing value, and the maximum code of a value.
const NONE = 65535;
const TOP = NONE - 1;

// Decodes an array from base64, and removes its element to free the text.
function bytes(id) {
  const element = $(id);
  const text = element.textContent;
  element.remove();
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const letters = atob(text);
  const list = new Uint8Array(letters.length);
  for (let i = 0; i < list.length; i += 1) list[i] = letters.charCodeAt(i);
  return list;
}
const words = (id) => new Uint16Array(bytes(id).buffer);

const numbers = new Uint32Array(bytes('particles').buffer);
// x, y, z and flags of particle i at save s start at 4 (s COUNT + i).
const codes = words('positions');
const JOINED = 1;
const ACTIVE = 2;
const EXISTS = 4;

const valueOf = (scale, code) => scale.low + scale.step * code;
const attributes = head.attributes.map((attribute, k) => ({
  ...attribute,
  codes: words(`attribute-${k}`),
  range: [attribute.scale.low, valueOf(attribute.scale, TOP)],
}));
const valueText = (value, integers) => (integers && Number.isFinite(value) ? grouped(value) : formatNumber(value));
// Only statuses that occur get colours, in the order of their codes.
if (head.statuses) {
  const all = Uint16Array.from({ length: SAVES * COUNT }, (_, at) => codes[4 * at + 3] >> 8);
  const occurs = head.statuses.map(() => false);
  all.forEach((code) => { occurs[code] = true; });
  const names = head.statuses.filter((_, code) => occurs[code]);
  const ranks = head.statuses.map((_, code) => occurs.slice(0, code).filter(Boolean).length);
  const scale = { low: 0, step: 1 };
  attributes.push({ name: 'status', integers: true, unit: '', scale, names, codes: all.map((code) => ranks[code]), range: [0, 255] });
}
const slices = head.slices.map((slice, k) => ({
  ...slice,
  // One after the other: the values at each of its times.
  codes: words(`slice-${k}`),
  shown: -1,
  range: [slice.scale.low, valueOf(slice.scale, TOP)],
  on: false,
  opacity: 0.8,
}));

// Bodies and walls: triangles, and the lines of a flat boundary, three numbers for each corner.
const floats = (id) => new Float32Array(bytes(id).buffer);
const walls = head.surfaces.map(({ wall }, k) => ({
  kind: 'triangles', position: floats(`surface-${k}`), strength: wall ? 0.08 : 0.25,
}));
// Land: two corners of each rectangle, at the top of the domain.
function landTriangles() {
  const [corners, top] = [floats('land'), head.domain[1][2]];
  const position = new Float32Array(corners.length * 4.5);
  for (let at = 0; at < corners.length; at += 4) {
    const [x0, y0, x1, y1] = corners.subarray(at, at + 4);
    position.set([x0, y0, top, x1, y0, top, x0, y1, top, x0, y1, top, x1, y0, top, x1, y1, top], at * 4.5);
  }
  return position;
}
if (head.land) walls.push({ kind: 'triangles', position: landTriangles(), strength: 0.25 });
if (head.outline) walls.push({ kind: 'lines', position: floats('outline'), strength: 0.6 });

// Conversion between a fraction of the time range, a time, and a save with a fraction of the
// interval to the next one. In a backward run, times decrease.
const span = SAVES > 1 ? head.times[SAVES - 1] - head.times[0] : 0;
const timeAt = (part) => (SAVES ? head.times[0] + span * part : 0);
const partOf = (save) => (span ? (head.times[save] - head.times[0]) / span : 0);
function saveAt(part) {
  let [low, high] = [0, Math.max(SAVES - 1, 0)];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (partOf(middle) <= part) low = middle;
    else high = middle;
  }
  if (high === low) return low;
  const fraction = (part - partOf(low)) / (partOf(high) - partOf(low));
  return low + Math.min(Math.max(fraction, 0), 1);
}

// The range of an attribute without outliers: the 2 % and 98 % quantiles of the values of active particles, if
// they are closer than two thirds of the full range.
function robustRange({ codes: list, scale, range, names, integers }) {
  if (names || integers) return range;
  const step = Math.max(1, Math.floor(list.length / 100000));
  const sample = [];
  for (let at = 0; at < list.length; at += step) {
    if (list[at] !== NONE && codes[4 * at + 3] & ACTIVE) sample.push(list[at]);
  }
  if (!sample.length) return range;
  sample.sort((a, b) => a - b);
  const [low, high] = [0.02, 0.98].map((part) => sample[Math.round(part * (sample.length - 1))]);
  return low < high && high - low < (2 / 3) * TOP ? [valueOf(scale, low), valueOf(scale, high)] : range;
}

// The number of active particles at a save.
function activeAt(save) {
  let count = 0;
  for (let i = 0; i < COUNT; i += 1) count += (codes[4 * (save * COUNT + i) + 3] & ACTIVE) >> 1;
  return count;
}
// The save to open the page at: the last one with at least half as many active particles as any.
function firstShown() {
  const counts = Array.from({ length: SAVES }, (_, save) => activeAt(save));
  const most = Math.max(0, ...counts);
  return Math.max(counts.findLastIndex((count) => count >= most / 2), 0);
}

// The frame of a slice at the current time: the last one up to it, else the first.
function frameOf(slice, time) {
  const passed = slice.times.filter((at) => (span < 0 ? at >= time : at <= time + 1e-9 * Math.abs(span)));
  return Math.max(passed.length - 1, 0);
}

// The interpolated position of particle i at a save with fraction, as codes, and its flags.
function positionAt(i, save) {
  const from = Math.min(Math.floor(save), SAVES - 1);
  const at = 4 * (from * COUNT + i);
  const next = at + 4 * COUNT;
  const moves = from + 1 < SAVES && codes[next + 3] & JOINED;
  const part = moves ? save - from : 0;
  const mix = (k) => codes[at + k] + (part ? part * (codes[next + k] - codes[at + k]) : 0);
  return { x: mix(0), y: mix(1), z: mix(2), flags: codes[at + 3], at: at / 4, part };
}

// A number as text.
function formatNumber(value, digits = 4) {
  if (!Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e6)) {
    const [number, power] = value.toExponential(digits - 1).split('e');
    return `${Number(number)}e${Number(power)}`.replace('-', '−');
  }
  return String(Number(value.toPrecision(digits))).replace('-', '−');
}
const withUnit = (text, unit) => (unit ? `${text} ${unit}` : text);
// A text with a capital first letter, unless its first word is a symbol.
const sentence = (text) => (/^[a-z-]{2,}(?![\w.])/.test(text) ? text[0].toUpperCase() + text.slice(1) : text);
const named = (name, unit) => sentence(unit ? `${name} (${unit})` : name);
const grouped = (value) => String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ',');
