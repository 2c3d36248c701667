// The data of the page.

announceReading();
const head = JSON.parse($('header').textContent);
const SAVES = head.times.length;
const COUNT = head.particles;

// Numbers of the particles, stored as differences.
const numbers = new Uint32Array((await bytes('particles')).buffer);
for (let i = 1; i < COUNT; i += 1) numbers[i] += numbers[i - 1];
// x, y, z and flags of particle i at save s start at 4 (s COUNT + i).
const codes = new Uint16Array(4 * SAVES * COUNT);
for (const [offset, id] of ['x', 'y', 'z', 'flags'].entries()) await unpack(id, { every: 4, list: codes, offset });
const JOINED = 1;
const ACTIVE = 2;
const EXISTS = 4;

const valueOf = (scale, code) => scale.low + scale.step * code;
const highest = ({ scale }) => valueOf(scale, scale.top);
const attributes = [];
for (const [k, attribute] of head.attributes.entries()) {
  const list = await unpack(`attribute-${k}`);
  attributes.push({ ...attribute, codes: list, range: [attribute.scale.low, highest(attribute)] });
}
const valueText = (value, integers) => (integers && Number.isFinite(value) ? grouped(value) : formatNumber(value));
// Only statuses that occur are listed, in the order of their codes; without them, particles are active or inactive.
const statusOf = head.statuses ? (at) => codes[4 * at + 3] >> 8 : (at) => (codes[4 * at + 3] & ACTIVE ? 0 : 1);
const status = { names: head.statuses ?? ['active', 'inactive'], codes: new Uint16Array(SAVES * COUNT), isActive: [] };
function rankStatuses() {
  const [occurs, isActive] = [status.names.map(() => false), status.names.map(() => false)];
  for (let at = 0; at < SAVES * COUNT; at += 1) {
    const code = statusOf(at);
    status.codes[at] = code;
    occurs[code] = true;
    if (codes[4 * at + 3] & ACTIVE) isActive[code] = true;
  }
  const ranks = Uint16Array.from(occurs, (_, code) => occurs.slice(0, code).filter(Boolean).length);
  status.codes.forEach((code, at) => { status.codes[at] = ranks[code]; });
  [status.names, status.isActive] = [status.names, isActive].map((list) => list.filter((_, code) => occurs[code]));
}
rankStatuses();
if (head.statuses) {
  const scale = { low: 0, step: 1, top: 255 };
  attributes.push({ name: 'status', integers: true, unit: '', scale, names: status.names, codes: status.codes, range: [0, 255] });
}
// The source of each particle, if there are several.
const sources = head.sources ? { names: head.sources, codes: await unpack('sources') } : null;
const slices = [];
for (const [k, slice] of head.slices.entries()) {
  // One after the other: the values at each of its times.
  const list = await unpack(`slice-${k}`);
  slices.push({ ...slice, codes: list, shown: -1, range: [slice.scale.low, highest(slice)], on: false, opacity: 0.8 });
}

// Bodies and walls: triangles, and the lines of a flat boundary, three numbers for each corner.
const floats = async (id) => new Float32Array((await bytes(id)).buffer);
const walls = [];
for (const [k, { wall }] of head.surfaces.entries()) {
  walls.push({ kind: 'triangles', position: await floats(`surface-${k}`), strength: wall ? 0.08 : 0.25 });
}
// Land: two corners of each rectangle, at the top of the domain.
function landTriangles(corners) {
  const top = head.domain[1][2];
  const position = new Float32Array(corners.length * 4.5);
  for (let at = 0; at < corners.length; at += 4) {
    const [x0, y0, x1, y1] = corners.subarray(at, at + 4);
    position.set([x0, y0, top, x1, y0, top, x0, y1, top, x0, y1, top, x1, y0, top, x1, y1, top], at * 4.5);
  }
  return position;
}
if (head.land) walls.push({ kind: 'triangles', position: landTriangles(await floats('land')), strength: 0.25 });
if (head.outline) walls.push({ kind: 'lines', position: await floats('outline'), strength: 0.6 });

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
  return low < high && high - low < (2 / 3) * scale.top ? [valueOf(scale, low), valueOf(scale, high)] : range;
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
