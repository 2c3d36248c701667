// The box, its axes and their labels.

const AXES = ['x', 'y', 'z'];
const axisName = (axis) => named(...(head.axes ? head.axes[axis] : [AXES[axis], head.length_unit]));

// Round numbers from low to high, about `count` of them.
function ticks(low, high, count) {
  if (!(high > low)) return [];
  const raw = (high - low) / Math.max(count, 1);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].find((digit) => digit * power >= raw * 0.999) * power;
  const list = [];
  const from = Math.ceil(low / step - 1e-9);
  for (let k = from; k <= high / step + 1e-9 && list.length < 50; k += 1) list.push(k * step);
  const largest = Math.max(Math.abs(low), Math.abs(high));
  return list.map((value) => ({ value, text: tickText(value, step, largest) }));
}
// A number with enough digits to distinguish it from the next tick; large ones of an axis have commas.
function tickText(value, step, largest) {
  const size = Math.max(Math.abs(value), step);
  if (size >= 1e9 || step < 1e-5) {
    const digits = Math.ceil(Math.log10(size / step) + 1e-9) + 1;
    return formatNumber(Math.abs(value) < step / 2 ? 0 : value, Math.min(digits, 15));
  }
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  if (!digits && largest >= 1e4) return grouped(value).replace('-', '−');
  return value.toFixed(digits).replace(/^-(0\.?0*)$/, '$1').replace('-', '−');
}

const bit = (bits, axis) => (bits >> axis) & 1;

// The back faces of the box: for each axis its low (0) or high (1) end.
function farFaces(view) {
  return [0, 1, 2].map((axis) => {
    const toEye = view.perspective ? view.eye[axis] : view.back[axis];
    return toEye > 0 ? 0 : 1;
  });
}

// The edges of the box, and the grid lines on the back faces.
function gridLines(view) {
  const list = [];
  const line = (from, to) => list.push(...toScene(from), 0, 0, ...toScene(to), 0, 0);
  for (let bits = 0; bits < 8; bits += 1) {
    for (let axis = 0; axis < 3; axis += 1) {
      if (!bit(bits, axis)) line(cornerOf(bits), cornerOf(bits | (1 << axis)));
    }
  }
  const far = farFaces(view);
  const shown = view.perspective ? [0, 1, 2] : [FLAT[camera.view][2]];
  for (const normal of shown) {
    for (const along of [0, 1, 2].filter((axis) => axis !== normal)) {
      const across = 3 - normal - along;
      for (const { value } of ticks(head.domain[0][across], head.domain[1][across], 5)) {
        const ends = [0, 1].map((end) => {
          const position = [0, 0, 0];
          position[normal] = head.domain[far[normal]][normal];
          position[across] = value;
          position[along] = head.domain[end][along];
          return position;
        });
        line(...ends);
      }
    }
  }
  return list;
}

// Clears the canvas of the labels and gives its context.
function labelCanvas() {
  const canvas = $('labels');
  const scale = ratio();
  canvas.width = Math.max(Math.round(canvas.clientWidth * scale), 1);
  canvas.height = Math.max(Math.round(canvas.clientHeight * scale), 1);
  const pen = canvas.getContext('2d');
  pen.scale(scale, scale);
  pen.font = '12px system-ui, sans-serif';
  const colors = themeColors();
  pen.fillStyle = colors.text;
  pen.strokeStyle = colors.text;
  return { pen, colors };
}

function drawLabels(view) {
  const { pen, colors } = labelCanvas();
  if (view.perspective) boxScales(view, pen);
  else planeScales(view, pen);
  markPicked(view, pen, colors);
}

// The axes of a plane view, at the left and lower side of the plot area.
function planeScales(view, pen) {
  const { left, top, width, height } = view.area;
  const [across, up] = FLAT[camera.view];
  const scale = stretch();
  const value = (axis, offset) => center[axis] + (camera.target[axis] + offset * view.pixel) / scale[axis];
  pen.lineWidth = 1;
  pen.strokeRect(left - 0.5, top - 0.5, width + 1, height + 1);
  pen.textAlign = 'center';
  pen.textBaseline = 'top';
  for (const { value: v, text } of ticks(value(across, -width / 2), value(across, width / 2), width / 90)) {
    const x = left + width / 2 + ((v - value(across, 0)) * scale[across]) / view.pixel;
    stroke(pen, x, top + height, x, top + height + 5);
    pen.fillText(text, x, top + height + 8);
  }
  pen.fillText(axisName(across), left + width / 2, top + height + 26);
  pen.textAlign = 'right';
  pen.textBaseline = 'middle';
  for (const { value: v, text } of ticks(value(up, -height / 2), value(up, height / 2), height / 70)) {
    const y = top + height / 2 - ((v - value(up, 0)) * scale[up]) / view.pixel;
    stroke(pen, left - 5, y, left, y);
    pen.fillText(text, left - 8, y);
  }
  pen.textAlign = 'left';
  pen.fillText(axisName(up), 10, 14);
}

function stroke(pen, x0, y0, x1, y1) {
  pen.beginPath();
  pen.moveTo(x0, y0);
  pen.lineTo(x1, y1);
  pen.stroke();
}

// The axes of the box, at edges where labels do not cover the content.
function boxScales(view, pen) {
  const middle = project(view, [0, 0, 0]);
  const occupied = [];
  for (let axis = 0; axis < 3; axis += 1) {
    const edge = scaleEdge(view, axis);
    if (edge) edgeScale(view, pen, axis, edge, middle, occupied);
  }
}

// The edge that carries the labels of an axis: of the two silhouette edges along it, the lower one
// on the screen, or for the z axis the left one.
function scaleEdge(view, axis) {
  if (!halves[axis]) return null;
  const far = farFaces(view);
  const [a, b] = [0, 1, 2].filter((other) => other !== axis);
  const edges = [[far[a], 1 - far[b]], [1 - far[a], far[b]]].map(([ea, eb]) => {
    const bits = (ea << a) | (eb << b);
    const ends = [bits, bits | (1 << axis)].map((end) => project(view, toScene(cornerOf(end))));
    const rank = axis === 2 ? -(ends[0].x + ends[1].x) : ends[0].y + ends[1].y;
    return { bits, ends, rank };
  });
  const best = edges[0].rank >= edges[1].rank ? edges[0] : edges[1];
  return Number.isFinite(best.rank) ? best : null;
}

function edgeScale(view, pen, axis, { bits, ends }, middle, occupied) {
  const [a, b] = ends;
  const long = Math.hypot(b.x - a.x, b.y - a.y);
  if (long < 24) return;
  // The direction away from the box, perpendicular to the edge.
  let out = [-(b.y - a.y) / long, (b.x - a.x) / long];
  const [mx, my] = [(a.x + b.x) / 2, (a.y + b.y) / 2];
  if (out[0] * (mx - middle.x) + out[1] * (my - middle.y) < 0) out = out.map((value) => -value);
  const range = [head.domain[0][axis], head.domain[1][axis]];
  let wide = 0;
  for (const { value, text } of ticks(...range, Math.min(long / 48, 6))) {
    const position = cornerOf(bits);
    position[axis] = value;
    const { x, y } = project(view, toScene(position));
    stroke(pen, x, y, x + 5 * out[0], y + 5 * out[1]);
    const size = pen.measureText(text).width;
    if (label(pen, text, x, y, out, 8, size, occupied)) wide = Math.max(wide, size);
  }
  pen.save();
  pen.font = '600 12px system-ui, sans-serif';
  const name = axisName(axis);
  const away = 16 + Math.abs(out[0]) * wide + Math.abs(out[1]) * 14;
  label(pen, name, mx, my, out, away, pen.measureText(name).width, occupied);
  pen.restore();
}

// Draws a label at a distance from a point, unless it would overlap another label.
function label(pen, text, x, y, out, away, wide, occupied) {
  const far = away + (Math.abs(out[0]) * wide) / 2 + Math.abs(out[1]) * 6;
  // Keep the label on the canvas.
  const within = (at, half, end) => Math.min(Math.max(at, half + 4), end - half - 4);
  const cx = within(x + far * out[0], wide / 2, scene.clientWidth);
  const cy = within(y + far * out[1], 6, scene.clientHeight);
  const meets = (other) => Math.abs(other.cx - cx) < (other.wide + wide) / 2 + 4 && Math.abs(other.cy - cy) < 13;
  if (occupied.some(meets)) return false;
  occupied.push({ cx, cy, wide });
  pen.textAlign = 'center';
  pen.textBaseline = 'middle';
  pen.fillText(text, cx, cy);
  return true;
}

// Draws a ring around the selected particle.
function markPicked(view, pen, colors) {
  if (state.picked < 0) return;
  const { x: cx, y: cy, z: cz, flags } = positionAt(state.picked, saveAt(state.now));
  if (!(flags & EXISTS)) return;
  const { low, step } = codeScale();
  const { x, y } = project(view, [cx, cy, cz].map((code, axis) => low[axis] + step[axis] * code));
  const { left, top, width, height } = view.area;
  if (!(x >= left && x <= left + width && y >= top && y <= top + height)) return;
  pen.lineWidth = 2;
  pen.strokeStyle = colors.picked;
  pen.beginPath();
  pen.arc(x, y, state.size / 2 + 5, 0, 2 * Math.PI);
  pen.stroke();
}
