// Buffers and draw calls.

const state = {
  now: 1, playing: false, trail: 1, lines: true, points: true, ended: false, walls: true,
  width: 1.5, size: 5, opacity: 1, attribute: -1, map: 0, range: [0, 1], picked: -1,
  sliceMap: Math.max(head.maps.findIndex(([name]) => name === 'inferno'), 0),
};

const scene = $('scene');
// Above this number of positions, lines are one pixel wide without antialiasing: wide lines cost
// three times as much.
const MAX_WIDE_POSITIONS = 500000;
let gl = null;
// Shader programs, buffers and textures.
const card = {};

function compile(vertex, fragment) {
  const program = gl.createProgram();
  for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
    const wrong = gl.getShaderInfoLog(shader);
    if (wrong && !gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(wrong);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost()) {
    throw new Error(gl.getProgramInfoLog(program) || 'a shader does not compile');
  }
  const uniforms = {};
  for (let k = 0; k < gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS); k += 1) {
    const { name } = gl.getActiveUniform(program, k);
    uniforms[name] = gl.getUniformLocation(program, name);
  }
  return { program, uniforms };
}

// Creates a texture and binds it to unit 0.
function texture(filter) {
  const made = gl.createTexture();
  gl.activeTexture(gl.TEXTURE0);
  gl.bindTexture(gl.TEXTURE_2D, made);
  for (const side of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T]) gl.texParameteri(gl.TEXTURE_2D, side, gl.CLAMP_TO_EDGE);
  for (const size of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, size, filter);
  return made;
}

// A texture of codes: four of 16 bits in a texel, one of 16 bits, or one of 8 bits.
const CODES = { positions: ['RGBA16UI', 'RGBA_INTEGER', 'UNSIGNED_SHORT', 4], values: ['R16UI', 'RED_INTEGER', 'UNSIGNED_SHORT', 1],
  mask: ['R8UI', 'RED_INTEGER', 'UNSIGNED_BYTE', 1] };
function codeTexture(list, what) {
  const [kind, format, type, each] = CODES[what].map((name) => gl[name] ?? name);
  const positions = list.length / each;
  const most = gl.getParameter(gl.MAX_TEXTURE_SIZE);
  const [rows, rest] = [Math.floor(positions / ROW), positions % ROW];
  if (rows >= most) throw new Error(`there are ${positions} positions; this graphics card supports at most ${ROW * most}`);
  const made = texture(gl.NEAREST);
  gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
  gl.texStorage2D(gl.TEXTURE_2D, 1, kind, ROW, rows + 1);
  const put = (row, width, height, part) =>
    gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, row, width, height, format, type, part);
  if (rows) put(0, ROW, rows, list.subarray(0, rows * ROW * each));
  if (rest) put(rows, rest, 1, list.subarray(rows * ROW * each));
  return made;
}

function picture(width, height, data) {
  const made = texture(gl.LINEAR);
  gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA8, width, height, 0, gl.RGBA, gl.UNSIGNED_BYTE, data);
  return made;
}

// Initializes WebGL 2; false if it is not available.
function startDrawing() {
  gl = scene.getContext('webgl2', { antialias: SAVES * COUNT <= MAX_WIDE_POSITIONS, alpha: false, powerPreference: 'high-performance' });
  if (!gl) return false;
  card.line = compile(LINE, FRAGMENT);
  card.point = compile(POINT, FRAGMENT);
  card.plane = compile(PLANE, PLANE_FRAGMENT);
  card.tracks = gl.createVertexArray();
  card.planes = gl.createVertexArray();
  card.codes = codeTexture(codes, 'positions');
  card.mask = codeTexture(selection.mask, 'mask');
  selection.isUploaded = true;
  card.vertices = gl.createBuffer();
  card.walls = new Map();
  card.white = picture(1, 1, new Uint8Array([255, 255, 255, 255]));
  gl.enable(gl.BLEND);
  gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  gl.depthFunc(gl.LEQUAL);
  return true;
}

// Uploads values and colours after a change of attribute, map or theme.
function uploadColors() {
  const attribute = attributes[state.attribute];
  for (const name of ['values', 'colors', 'picked']) gl.deleteTexture(card[name]);
  card.values = codeTexture(attribute ? attribute.codes : new Uint16Array(SAVES * COUNT), 'values');
  const table = !attribute ? oneColor(PALETTE[0]) : attribute.names ? paletteTable() : mapTable(state.map);
  card.colors = picture(256, 1, table);
  card.picked = picture(256, 1, oneColor(channels(themeColors().picked)));
  for (const slice of slices) slice.shown = -1;
}

// Uploads the frame of a slice at the current time, if it is not the one that is on the card.
function uploadSlice(slice) {
  const frame = frameOf(slice, timeAt(state.now));
  if (slice.shown === frame) return;
  gl.deleteTexture(slice.picture);
  slice.picture = picture(...slice.counts, sliceImage(slice, state.sliceMap, frame));
  slice.shown = frame;
  if (slice.bar) slice.bar.firstChild.textContent = sliceTitle(slice);
}

// Uploads the track of the selected particle, as a run of one particle.
function uploadPicked() {
  gl.deleteTexture(card.track);
  card.track = null;
  if (state.picked < 0) return;
  const track = new Uint16Array(4 * SAVES);
  for (let s = 0; s < SAVES; s += 1) {
    const at = 4 * (s * COUNT + state.picked);
    track.set(codes.subarray(at, at + 4), 4 * s);
  }
  card.track = codeTexture(track, 'positions');
}

// The mask is uploaded when it has changed.
function uploadMask() {
  if (selection.isUploaded) return;
  gl.deleteTexture(card.mask);
  card.mask = codeTexture(selection.mask, 'mask');
  selection.isUploaded = true;
}

function useTracks({ program, uniforms }, view, { from, values, colors, count, chosen = -1 }) {
  const attribute = attributes[state.attribute];
  gl.useProgram(program);
  const { low, step } = codeScale();
  gl.uniformMatrix4fv(uniforms.matrix, false, view.matrix);
  gl.uniform3fv(uniforms.low, low);
  gl.uniform3fv(uniforms.unit, step);
  gl.uniform3fv(uniforms.none, GRAY.map((value) => value / 255));
  gl.uniform1i(uniforms.ended, selection.isMixed ? chosen === 1 : state.ended);
  gl.uniform1i(uniforms.chosen, chosen);
  gl.uniform1i(uniforms.stepwise, Boolean(attribute && (attribute.names || attribute.integers)));
  const inCodes = (value) => (attribute.scale.step ? (value - attribute.scale.low) / attribute.scale.step : 0);
  gl.uniform2fv(uniforms.range, attribute ? state.range.map(inCodes) : [0, 1]);
  gl.uniform1i(uniforms.count, count);
  Object.entries({ colors, positions: from, values, mask: card.mask }).forEach(([name, picked], unit) => {
    gl.uniform1i(uniforms[name], unit);
    gl.activeTexture(gl.TEXTURE0 + unit);
    gl.bindTexture(gl.TEXTURE_2D, picked);
  });
  gl.activeTexture(gl.TEXTURE0);
  gl.bindVertexArray(card.tracks);
}

// The save, with fraction, at which trails start.
const trailStart = () => saveAt(Math.max(state.now - state.trail, 0));

function drawLines(view, { tracks, width, opacity, tail, faint, now }) {
  const first = Math.floor(tail);
  const pieces = (Math.min(Math.ceil(now), SAVES - 1) - first) * tracks.count;
  if (pieces <= 0) return;
  const thin = SAVES * tracks.count > MAX_WIDE_POSITIONS;
  useTracks(card.line, view, tracks);
  const { uniforms } = card.line;
  gl.uniform1i(uniforms.disc, false);
  gl.uniform1i(uniforms.thin, thin);
  gl.uniform1f(uniforms.opacity, opacity);
  gl.uniform1f(uniforms.width, width * ratio());
  gl.uniform2f(uniforms.screen, view.area.width * ratio(), view.area.height * ratio());
  gl.uniform1f(uniforms.now, now);
  gl.uniform1f(uniforms.tail, tail);
  gl.uniform1f(uniforms.faint, faint);
  gl.uniform1i(uniforms.first, first);
  gl.drawArrays(thin ? gl.LINES : gl.TRIANGLES, 0, (thin ? 2 : 6) * pieces);
}

function drawPoints(view, tracks) {
  const save = saveAt(state.now);
  const first = Math.floor(save);
  useTracks(card.point, view, tracks);
  const { uniforms } = card.point;
  // The smallest points are squares; larger ones have an edge to stand out from lines of the same colour.
  const outlined = state.size >= 4 && state.lines && SAVES > 1;
  gl.uniform1i(uniforms.disc, state.size * ratio() >= 2.5);
  gl.uniform1i(uniforms.outlined, outlined);
  gl.uniform3fv(uniforms.background, channels(themeColors().background).map((value) => value / 255));
  gl.uniform1f(uniforms.size, state.size * ratio());
  gl.uniform1f(uniforms.border, outlined ? 2 : 0);
  gl.uniform1f(uniforms.part, save - first);
  gl.uniform1f(uniforms.opacity, tracks.strength);
  // Points are moved towards the camera by their size, so that their own line does not cover them.
  gl.uniform3fv(uniforms.lift, view.back.map((value) => value * view.pixel * state.size));
  gl.uniform1i(uniforms.first, first);
  gl.uniform1i(uniforms.next, Math.min(first + 1, SAVES - 1));
  gl.drawArrays(gl.POINTS, 0, COUNT);
}

// Draws triangles or lines of vertices with texture coordinates: five numbers each.
function drawPlane(view, kind, numbers5, image, tint) {
  const { program, uniforms } = card.plane;
  gl.useProgram(program);
  gl.uniformMatrix4fv(uniforms.matrix, false, view.matrix);
  gl.uniform4fv(uniforms.tint, tint);
  gl.bindTexture(gl.TEXTURE_2D, image);
  gl.bindVertexArray(card.planes);
  gl.bindBuffer(gl.ARRAY_BUFFER, card.vertices);
  gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(numbers5), gl.DYNAMIC_DRAW);
  gl.enableVertexAttribArray(0);
  gl.vertexAttribPointer(0, 3, gl.FLOAT, false, 20, 0);
  gl.enableVertexAttribArray(1);
  gl.vertexAttribPointer(1, 2, gl.FLOAT, false, 20, 12);
  gl.drawArrays(kind, 0, numbers5.length / 5);
}

// The first sample of a raster is at the low end of its axis, in the centre of a texel.
function drawSlice(view, slice) {
  uploadSlice(slice);
  const axes = [0, 1, 2].filter((axis) => axis !== slice.normal_axis);
  const corners = [[0, 0], [1, 0], [0, 1], [1, 1]].flatMap((corner) => {
    const position = [0, 0, 0];
    position[slice.normal_axis] = slice.position;
    axes.forEach((axis, k) => { position[axis] = slice.axes[k].range[corner[k]]; });
    const inside = corner.map((end, k) => (end * (slice.counts[k] - 1) + 0.5) / slice.counts[k]);
    return [...toScene(position), ...inside];
  });
  drawPlane(view, gl.TRIANGLE_STRIP, corners, slice.picture, [1, 1, 1, slice.opacity]);
}

// The particles that are drawn one after the other: those that are not selected, if they are faint, and the others.
const FAINT = 0.15;
function trackPasses() {
  const all = { from: card.codes, values: card.values, count: COUNT, colors: card.colors };
  const { isMasked, isFaint } = selection;
  if (!isMasked) return [{ ...all, chosen: -1, strength: 1 }];
  uploadMask();
  const selected = { ...all, chosen: 1, strength: 1 };
  return isFaint ? [{ ...all, chosen: 0, strength: FAINT }, selected] : [selected];
}

function drawTracks(view, tracks) {
  const { width } = state;
  const opacity = state.opacity * tracks.strength;
  gl.depthMask(opacity === 1);
  if (state.lines) {
    const tail = trailStart();
    drawLines(view, { tracks, width, opacity, tail, faint: tail > 0 ? 0.08 : 1, now: saveAt(state.now) });
  }
  gl.depthMask(tracks.strength === 1);
  if (state.points && COUNT && SAVES) drawPoints(view, tracks);
  gl.depthMask(false);
}

function drawPicked(view) {
  if (!card.track) return;
  const tracks = { from: card.track, values: card.track, count: 1, colors: card.picked };
  const whole = { tracks, tail: 0, faint: 1 };
  gl.disable(gl.DEPTH_TEST);
  drawLines(view, { ...whole, width: 1, opacity: 0.45, now: SAVES - 1 });
  drawLines(view, { ...whole, width: Math.max(3, state.width + 1.5), opacity: 1, now: saveAt(state.now) });
  gl.enable(gl.DEPTH_TEST);
}

const ratio = () => Math.min(window.devicePixelRatio || 1, 2);

function drawScene(view) {
  const { background, grid } = themeColors();
  const scale = ratio();
  const size = [scene.clientWidth, scene.clientHeight].map((side) => Math.max(Math.round(side * scale), 1));
  if (scene.width !== size[0] || scene.height !== size[1]) [scene.width, scene.height] = size;
  const { left, bottom, width, height } = view.area;
  gl.disable(gl.SCISSOR_TEST);
  gl.clearColor(...channels(background).map((value) => value / 255), 1);
  gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
  const area = [left, bottom, width, height].map((value) => Math.round(value * scale));
  gl.viewport(...area);
  gl.scissor(...area);
  gl.enable(gl.SCISSOR_TEST);
  gl.enable(gl.DEPTH_TEST);
  gl.depthMask(false);
  const tint = [...channels(grid).map((value) => value / 255), 1];
  drawPlane(view, gl.LINES, gridLines(view), card.white, tint);
  if (state.walls) drawWalls(view);
  drawBox(view);
  for (const tracks of trackPasses()) drawTracks(view, tracks);
  slices.filter((slice) => slice.on).forEach((slice) => drawSlice(view, slice));
  drawPicked(view);
  gl.depthMask(true);
}
