// From the box to the screen.

const FLAT = { xy: [0, 1, 2], xz: [0, 2, 1], yz: [1, 2, 0] };
const VIEW_ANGLE = Math.PI / 6;
// A picture of a plane has its scales in these margins: left, right, top, bottom.
const MARGIN = { flat: [80, 18, 28, 46], '3d': [0, 0, 0, 0] };
const ZOOM = [0.2, 200];

const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const plus = (a, b, k) => a.map((value, axis) => value + k * b[axis]);

const camera = { view: '3d', azimuth: -0.9, elevation: 0.45, zoom: 1, target: [0, 0, 0], equal: true, moved: false };

const center = [0, 1, 2].map((axis) => (head.domain[0][axis] + head.domain[1][axis]) / 2);
const halves = [0, 1, 2].map((axis) => (head.domain[1][axis] - head.domain[0][axis]) / 2);

// Units of the drawing for a unit of length, along each axis: the longest side of the box becomes 2,
// and all of them where scales need not be equal.
function stretch() {
  const longest = Math.max(...halves) || 1;
  return halves.map((half) => 1 / ((!camera.equal && half) || longest));
}
const toScene = (place) => {
  const scale = stretch();
  return place.map((value, axis) => (value - center[axis]) * scale[axis]);
};
// How codes become places of the drawing.
function codeScale() {
  const scale = stretch();
  return {
    low: head.position.map(({ low }, axis) => (low - center[axis]) * scale[axis]),
    step: head.position.map(({ step }, axis) => step * scale[axis]),
  };
}

// The part of the canvas that is drawn on, in pixels of the page.
function plotArea() {
  const { clientWidth, clientHeight } = $('scene');
  const [left, right, top, bottom] = MARGIN[camera.view === '3d' ? '3d' : 'flat'];
  const [width, height] = [clientWidth - left - right, clientHeight - top - bottom];
  return { left, top, width: Math.max(width, 1), height: Math.max(height, 1), bottom };
}

// Right, up and back of the one who looks.
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

// Half the height of what is seen at the target, in units of the drawing.
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

// All that is needed to draw: the matrix by columns, and what a pixel is at the target.
function look() {
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
  // From -1 at the near plane to 1 at the far one, in front of w.
  const [a, b] = perspective
    ? [-(far + near) / (far - near) / distance, (-2 * far * near) / (far - near) / distance]
    : [-2 / (far - near), -(far + near) / (far - near)];
  const z = rows[2].map((value, k) => a * value + (k === 3 ? b : 0));
  const all = [rows[0].map((v) => v * sx), rows[1].map((v) => v * sy), z, w];
  const matrix = Float32Array.from({ length: 16 }, (_, at) => all[at % 4][at >> 2]);
  return { area, right, up, back, eye, perspective, matrix, all, pixel: (2 * height) / area.height };
}

// How far from the middle of the box anything is.
function sceneRadius() {
  const { low, step } = codeScale();
  const corner = toScene(head.domain[1]);
  const reach = corner.map((c, k) => Math.max(Math.abs(c), Math.abs(low[k]), Math.abs(low[k] + TOP * step[k])));
  return 1.05 * (Math.hypot(...reach) || 1);
}

// A place of the drawing in pixels of the page; depth grows with the distance, NaN behind the eye.
function project(view, place) {
  const [x, y, z, w] = view.all.map((row) => dot(row, place) + row[3]);
  if (w <= 0) return { x: NaN, y: NaN, depth: NaN };
  const { left, top, width, height } = view.area;
  return { x: left + ((x / w + 1) / 2) * width, y: top + ((1 - y / w) / 2) * height, depth: z / w };
}

// Changes what is seen. Places on the screen are in pixels from the middle of the drawing, y up.
function turn(dx, dy) {
  if (camera.view !== '3d') return move(dx, dy);
  camera.moved = true;
  camera.azimuth -= dx * 0.008;
  const limit = Math.PI / 2 - 0.001;
  camera.elevation = Math.min(Math.max(camera.elevation - dy * 0.008, -limit), limit);
  return undefined;
}
function move(dx, dy) {
  const { right, up, pixel } = look();
  camera.moved = true;
  camera.target = plus(plus(camera.target, right, -dx * pixel), up, -dy * pixel);
}
function zoomBy(factor, x = 0, y = 0) {
  camera.moved = true;
  const before = camera.zoom;
  camera.zoom = Math.min(Math.max(before * factor, ZOOM[0]), ZOOM[1]);
  const kept = 1 - before / camera.zoom;
  const { right, up, pixel } = look();
  const grown = (pixel * camera.zoom) / before;
  camera.target = plus(plus(camera.target, right, x * grown * kept), up, y * grown * kept);
}
function resetCamera() {
  Object.assign(camera, { zoom: 1, target: [0, 0, 0], azimuth: -0.9, elevation: 0.45 });
  // Near corners look larger than far ones, so that the middle has to be found step by step.
  if (camera.view === '3d') for (let round = 0; round < 6; round += 1) fitBox();
  camera.moved = false;
}

// Brings the box into the middle of the drawing, as large as leaves room for its scales.
function fitBox() {
  const view = look();
  const { left, top, width, height } = view.area;
  const corners = Array.from({ length: 8 }, (_, bits) => project(view, toScene(cornerOf(bits))));
  const [xs, ys] = ['x', 'y'].map((side) => corners.map((place) => place[side]));
  const [x0, x1, y0, y1] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const [wide, high] = [Math.max(width - 130, width / 2), Math.max(height - 90, height / 2)];
  const factor = Math.min(wide / (x1 - x0 || 1), high / (y1 - y0 || 1), 3);
  if (!Number.isFinite(factor) || Math.max(...halves) === 0) return;
  // The scales are to the left and below.
  move(left + width / 2 + 15 - (x0 + x1) / 2, (y0 + y1) / 2 - (top + height / 2 - 15));
  zoomBy(factor);
}

// A corner of the box: bit k is set at its high end along axis k.
const cornerOf = (bits) => [0, 1, 2].map((axis) => head.domain[(bits >> axis) & 1][axis]);
