// Selection of a particle by a click, and its values.

// Maximum distance of a click from a particle and from a line, in pixels.
const REACH = { point: 12, line: 7 };

// Projects codes to the screen without allocating objects, as it is called for every position.
function screenOf(view) {
  const { low, step } = codeScale();
  const { left, top, width, height } = view.area;
  const rows = view.all.map((row) => [
    ...step.map((unit, axis) => row[axis] * unit),
    dot(row, low) + row[3],
  ]);
  const [rx, ry, , rw] = rows;
  const along = (row, x, y, z) => row[0] * x + row[1] * y + row[2] * z + row[3];
  return (x, y, z, into) => {
    const w = along(rw, x, y, z);
    into[0] = w > 0 ? left + ((along(rx, x, y, z) / w + 1) / 2) * width : NaN;
    into[1] = w > 0 ? top + ((1 - along(ry, x, y, z) / w) / 2) * height : NaN;
  };
}

// The particle nearest to a point on the screen; -1 if none is within reach.
function pickAt(view, x, y) {
  const { left, top, width, height } = view.area;
  if (x < left || x > left + width || y < top || y > top + height || !SAVES) return -1;
  const screen = screenOf(view);
  const point = state.points ? nearestPoint(screen, x, y) : -1;
  return point >= 0 || !state.lines ? point : nearestLine(screen, x, y);
}

function nearestPoint(screen, x, y) {
  const save = saveAt(state.now);
  const at = [0, 0];
  let [best, nearest] = [-1, REACH.point];
  for (let i = 0; i < COUNT; i += 1) {
    const here = positionAt(i, save);
    if (!(here.flags & EXISTS) || !isShown(i, here.flags)) continue;
    screen(here.x, here.y, here.z, at);
    const away = Math.hypot(at[0] - x, at[1] - y);
    if (away < nearest) [best, nearest] = [i, away];
  }
  return best;
}

function nearestLine(screen, x, y) {
  const [tail, now] = [trailStart(), saveAt(state.now)];
  const [a, b] = [[0, 0], [0, 0]];
  let [best, nearest] = [-1, REACH.line];
  for (let s = Math.floor(tail); s < Math.min(Math.ceil(now), SAVES - 1); s += 1) {
    for (let i = 0; i < COUNT; i += 1) {
      const from = 4 * (s * COUNT + i);
      const to = from + 4 * COUNT;
      const flags = codes[to + 3];
      if (!(flags & JOINED) || !isShown(i, flags | codes[from + 3])) continue;
      endOf(screen, from, to, Math.max(tail - s, 0), a);
      endOf(screen, from, to, Math.min(now - s, 1), b);
      const away = distance(x, y, a, b);
      if (away < nearest) [best, nearest] = [i, away];
    }
  }
  return best;
}

// An interpolated point between two positions.
function endOf(screen, from, to, part, into) {
  const mix = (k) => codes[from + k] + part * (codes[to + k] - codes[from + k]);
  screen(mix(0), mix(1), mix(2), into);
}

// The distance from a point to a line segment.
function distance(x, y, a, b) {
  const [dx, dy] = [b[0] - a[0], b[1] - a[1]];
  const long = dx * dx + dy * dy;
  const part = long ? Math.min(Math.max(((x - a[0]) * dx + (y - a[1]) * dy) / long, 0), 1) : 0;
  return Math.hypot(x - a[0] - part * dx, y - a[1] - part * dy);
}

// Names and values of a particle at the current time.
function propertiesOf(i) {
  const here = positionAt(i, saveAt(state.now));
  if (!(here.flags & EXISTS)) return [['Number', String(numbers[i])], ['Status', 'does not exist at this time']];
  const coordinates = [here.x, here.y, here.z].map((code, axis) => formatNumber(valueOf(head.position[axis], code), 5));
  const active = here.flags & ACTIVE ? 'active' : 'inactive';
  const properties = [
    ['Number', String(numbers[i])],
    ['Status', head.statuses ? head.statuses[here.flags >> 8] : active],
    [named('Position', head.axes ? head.axes[0][1] : head.length_unit), coordinates.join(', ')],
  ];
  // The seed is the number, which is exact.
  for (const attribute of attributes.filter(({ names, name }) => !names && name !== 'seed')) {
    properties.push([sentence(attribute.name), withUnit(valueText(valueAt(attribute, here), attribute.integers), attribute.unit)]);
  }
  return properties;
}

// The value of an attribute, linearly interpolated between saves.
function valueAt({ codes: list, scale, integers }, { at, part }) {
  if (integers) return list[at] === NONE ? NaN : valueOf(scale, list[at]);
  const [from, to] = [list[at], part ? list[at + COUNT] : 0];
  if (from === NONE || to === NONE) return NaN;
  return valueOf(scale, from + (part ? part * (to - from) : 0));
}
