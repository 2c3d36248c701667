// The camera: projection from the box to the screen.

const FLAT = { xy: [0, 1, 2], xz: [0, 2, 1], yz: [1, 2, 0] };
const VIEW_ANGLE = Math.PI / 6;
// Margins of the plot area, which hold the axes in a plane view: left, right, top, bottom.
const MARGIN = { flat: [80, 18, 28, 46], '3d': [0, 0, 0, 0] };
const ZOOM = [0.2, 200];

const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const plus = (a, b, k) => a.map((value, axis) => value + k * b[axis]);

const camera = { view: '3d', azimuth: -0.9, elevation: 0.45, zoom: 1, target: [0, 0, 0], equal: true, moved: false };

const center = [0, 1, 2].map((axis) => (head.domain[0][axis] + head.domain[1][axis]) / 2);
const halves = [0, 1, 2].map((axis) => (head.domain[1][axis] - head.domain[0][axis]) / 2);

// Scale from coordinates to scene units along each axis: the longest side of the box becomes 2, or
// every side if scales need not be equal.
function stretch() {
  const longest = Math.max(...halves) || 1;
  return halves.map((half) => 1 / ((!camera.equal && half) || longest));
}
const toScene = (position) => {
  const scale = stretch();
  return position.map((value, axis) => (value - center[axis]) * scale[axis]);
};
// Conversion of codes to scene coordinates.
function codeScale() {
  const scale = stretch();
  return {
    low: head.position.map(({ low }, axis) => (low - center[axis]) * scale[axis]),
    step: head.position.map(({ step }, axis) => step * scale[axis]),
    high: head.position.map((axisScale, axis) => (valueOf(axisScale, axisScale.top) - center[axis]) * scale[axis]),
  };
}

// The plot area of the canvas, in CSS pixels.
function plotArea() {
  const { clientWidth, clientHeight } = $('scene');
  const [left, right, top, bottom] = MARGIN[camera.view === '3d' ? '3d' : 'flat'];
  const [width, height] = [clientWidth - left - right, clientHeight - top - bottom];
  return { left, top, width: Math.max(width, 1), height: Math.max(height, 1), bottom };
}

// The axes of the camera: right, up and back.
function frame() {
  if (camera.view !== '3d') {
    const unit = (axis, sign = 1) => [0, 1, 2].map((k) => (k === axis ? sign : 0));
    const [right, up] = FLAT[camera.view].map((axis) => unit(axis));
    return { right, up, back: cross(right, up) };
  }
  const [ca, sa] = [Math.cos(camera.azimuth), Math.sin(camera.azimuth)];
  const [ce, se] = [Math.cos(camera.elevation), Math.sin(camera.elevation)];
  const back = [ce * ca, ce * sa, se];
  const right = [-sa, ca, 0];
  return { right, up: cross(back, right), back };
}

// Half of the visible height at the target, in scene units.
function halfHeight(area) {
  const half = halves.map((value, axis) => value * stretch()[axis]);
  if (camera.view === '3d') {
    const radius = Math.hypot(...half) || 1;
    return (radius * 1.12) / Math.min(1, area.width / area.height) / camera.zoom;
  }
  const [across, up] = FLAT[camera.view];
  const fits = Math.max(half[up], (half[across] * area.height) / area.width) || 1;
  return (fits * 1.04) / camera.zoom;
}

// The current view: the matrix in column-major order, and the size of a pixel at the target.
function currentView() {
  const area = plotArea();
  const { right, up, back } = frame();
  const height = halfHeight(area);
  const perspective = camera.view === '3d';
  const distance = perspective ? height / Math.tan(VIEW_ANGLE / 2) : 0;
  const eye = plus(camera.target, back, distance);
  const rows = [right, up, back].map((row) => [...row, -dot(row, eye)]);
  const [sx, sy] = [area.height / area.width / height, 1 / height];
  const reach = sceneRadius() + Math.hypot(...camera.target);
  const near = perspective ? Math.max(distance - reach, distance / 500) : -reach;
  const far = distance + reach;
  const w = perspective ? rows[2].map((value) => -value / distance) : [0, 0, 0, 1];
  // Depth from -1 at the near plane to 1 at the far one, times w.
  const [a, b] = perspective
    ? [-(far + near) / (far - near) / distance, (-2 * far * near) / (far - near) / distance]
    : [-2 / (far - near), -(far + near) / (far - near)];
  const z = rows[2].map((value, k) => a * value + (k === 3 ? b : 0));
  const all = [rows[0].map((v) => v * sx), rows[1].map((v) => v * sy), z, w];
  const matrix = Float32Array.from({ length: 16 }, (_, at) => all[at % 4][at >> 2]);
  return { area, right, up, back, eye, perspective, matrix, all, pixel: (2 * height) / area.height };
}

// The maximum distance of the content from the centre of the box.
function sceneRadius() {
  const { low, high } = codeScale();
  const corner = toScene(head.domain[1]);
  const reach = corner.map((c, k) => Math.max(Math.abs(c), Math.abs(low[k]), Math.abs(high[k])));
  return 1.05 * (Math.hypot(...reach) || 1);
}

// Projects scene coordinates to CSS pixels; depth increases with the distance. NaN behind the camera.
function project(view, position) {
  const [x, y, z, w] = view.all.map((row) => dot(row, position) + row[3]);
  if (w <= 0) return { x: NaN, y: NaN, depth: NaN };
  const { left, top, width, height } = view.area;
  return { x: left + ((x / w + 1) / 2) * width, y: top + ((1 - y / w) / 2) * height, depth: z / w };
}

// The length of all lines between saves, in scene units.
function trackLength() {
  const [sx, sy, sz] = codeScale().step;
  let length = 0;
  for (let at = 4 * COUNT; at < codes.length; at += 4) {
    if (!(codes[at + 3] & JOINED)) continue;
    const from = at - 4 * COUNT;
    const [x, y, z] = [codes[at] - codes[from], codes[at + 1] - codes[from + 1], codes[at + 2] - codes[from + 2]];
    length += Math.sqrt((sx * x) ** 2 + (sy * y) ** 2 + (sz * z) ** 2);
  }
  return length;
}

// Changes of the camera. Screen coordinates are in pixels from the centre of the plot area, y up.
function rotate(dx, dy) {
  if (camera.view !== '3d') return pan(dx, dy);
  camera.moved = true;
  camera.azimuth -= dx * 0.008;
  const limit = Math.PI / 2 - 0.001;
  camera.elevation = Math.min(Math.max(camera.elevation - dy * 0.008, -limit), limit);
  return undefined;
}
function pan(dx, dy) {
  const { right, up, pixel } = currentView();
  camera.moved = true;
  camera.target = plus(plus(camera.target, right, -dx * pixel), up, -dy * pixel);
}
function zoomBy(factor, x = 0, y = 0) {
  camera.moved = true;
  const before = camera.zoom;
  camera.zoom = Math.min(Math.max(before * factor, ZOOM[0]), ZOOM[1]);
  const shift = 1 - before / camera.zoom;
  const { right, up, pixel } = currentView();
  const grown = (pixel * camera.zoom) / before;
  camera.target = plus(plus(camera.target, right, x * grown * shift), up, y * grown * shift);
}
function resetCamera() {
  Object.assign(camera, { zoom: 1, target: [0, 0, 0], azimuth: -0.9, elevation: 0.45 });
  // With perspective the fit needs a few iterations.
  if (camera.view === '3d') for (let round = 0; round < 6; round += 1) fitBox();
  camera.moved = false;
}

// Centres the box in the plot area, as large as possible with its axes.
function fitBox() {
  const view = currentView();
  const { left, top, width, height } = view.area;
  const corners = Array.from({ length: 8 }, (_, bits) => project(view, toScene(cornerOf(bits))));
  const [xs, ys] = ['x', 'y'].map((side) => corners.map((position) => position[side]));
  const [x0, x1, y0, y1] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const [wide, high] = [Math.max(width - 130, width / 2), Math.max(height - 90, height / 2)];
  const factor = Math.min(wide / (x1 - x0 || 1), high / (y1 - y0 || 1), 3);
  if (!Number.isFinite(factor) || Math.max(...halves) === 0) return;
  // The axes are to the left and below.
  pan(left + width / 2 + 15 - (x0 + x1) / 2, (y0 + y1) / 2 - (top + height / 2 - 15));
  zoomBy(factor);
}

// A corner of the box: bit k is set at the high end of axis k.
const cornerOf = (bits) => [0, 1, 2].map((axis) => head.domain[(bits >> axis) & 1][axis]);
