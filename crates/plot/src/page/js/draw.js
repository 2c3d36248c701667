// Shaders, buffers and draw calls.

const state = {
  now: 1, playing: false, trail: 1, lines: true, points: true, ended: false, walls: true,
  width: 1.5, size: 5, opacity: 1, attribute: -1, map: 0, range: [0, 1], picked: -1,
  sliceMap: Math.max(head.maps.findIndex(([name]) => name === 'inferno'), 0),
};

// Both shader programs fetch codes from textures with rows of this length: one draw call of many
// vertices is faster than many instances of a few.
const ROW = 4096;
const COMMON = `#version 300 es
precision highp float;
const int ROW = ${ROW};
uniform mat4 matrix;
uniform vec3 low, unit;
uniform vec2 range;
uniform bool ended, stepwise;
uniform highp usampler2D positions, values;
uniform int first, count;
const vec4 CLIPPED = vec4(2.0, 2.0, 2.0, 1.0);
out vec2 shade;
vec4 seen(vec3 code) { return matrix * vec4(low + unit * code, 1.0); }
ivec2 texel(int at) { return ivec2(at % ROW, at / ROW); }
uvec4 positionAt(int at) { return texelFetch(positions, texel(at), 0); }
// The position in the colour map, 0 to 1; -1 for a missing value.
float tone(int at) {
  float code = float(texelFetch(values, texel(at), 0).r);
  if (code == 65535.0) return -1.0;
  return range.y == range.x ? 0.5 : clamp((code - range.x) / (range.y - range.x), 0.0, 1.0);
}
`;
// A piece connects two successive saves: two triangles, or a line of two vertices. Corners 0 and 1
// are its ends on one side, 2 and 3 those on the other.
const LINE = `${COMMON}
uniform vec2 screen;
uniform float width, now, tail, faint, opacity;
uniform bool thin;
const int CORNERS[6] = int[6](0, 1, 2, 2, 1, 3);
void main() {
  int piece = gl_VertexID / (thin ? 2 : 6);
  int corner = CORNERS[gl_VertexID - piece * (thin ? 2 : 6)];
  int at0 = first * count + piece, at1 = at0 + count;
  uvec4 from = positionAt(at0), to = positionAt(at1);
  float save = float(first + piece / count);
  float start = clamp(tail - save, 0.0, 1.0), end = clamp(now - save, 0.0, 1.0);
  vec4 a = seen(mix(vec3(from.xyz), vec3(to.xyz), start));
  vec4 b = seen(mix(vec3(from.xyz), vec3(to.xyz), end));
  bool drawn = (to.w & 1u) == 1u && end > start && a.w > 0.0 && b.w > 0.0
    && (ended || (to.w & 2u) == 2u || (from.w & 2u) == 2u);
  bool far = (corner & 1) == 1;
  float part = far ? end : start;
  vec2 along = screen * (b.xy / b.w - a.xy / a.w);
  along = length(along) > 0.0 ? normalize(along) : vec2(1.0, 0.0);
  vec4 at = far ? b : a;
  float side = thin ? 0.0 : float(corner >> 1) * 2.0 - 1.0;
  at.xy += side * width * vec2(-along.y, along.x) / screen * at.w;
  gl_Position = drawn ? at : CLIPPED;
  float t0 = tone(at0), t1 = tone(at1);
  float t = stepwise ? t0 : min(t0, t1) < 0.0 ? -1.0 : mix(t0, t1, part);
  float age = (save + part - tail) / max(now - tail, 1e-6);
  shade = vec2(t, opacity * mix(faint, 1.0, age));
}`;
const POINT = `${COMMON}
uniform float size, border, part;
uniform int next;
uniform vec3 lift;
void main() {
  int at0 = first * count + gl_VertexID, at1 = next * count + gl_VertexID;
  uvec4 from = positionAt(at0), to = positionAt(at1);
  float fraction = (to.w & 1u) == 1u ? part : 0.0;
  bool moving = (from.w & 2u) == 2u;
  bool drawn = (from.w & 4u) == 4u && (ended || moving);
  gl_Position = drawn ? seen(mix(vec3(from.xyz), vec3(to.xyz), fraction)) + matrix * vec4(lift, 0.0) : CLIPPED;
  gl_PointSize = (moving ? size : 0.7 * size) + border;
  float t0 = tone(at0), t1 = tone(at1);
  float t = stepwise || fraction == 0.0 ? t0 : min(t0, t1) < 0.0 ? -1.0 : mix(t0, t1, fraction);
  shade = vec2(moving || stepwise ? t : -1.0, 1.0);
}`;
const FRAGMENT = `#version 300 es
precision highp float;
uniform sampler2D colors;
uniform bool disc, outlined;
uniform vec3 none, background;
in vec2 shade;
out vec4 color;
void main() {
  vec3 own = texture(colors, vec2((shade.x * 255.0 + 0.5) / 256.0, 0.5)).rgb;
  color = vec4(shade.x < 0.0 ? none : own, shade.y);
  if (disc) {
    // The outermost pixel is antialiased, the next one has the background colour.
    float away = length(gl_PointCoord - 0.5) * 2.0;
    float pixel = length(vec2(dFdx(away), dFdy(away)));
    if (away > 1.0) discard;
    color.a *= 1.0 - smoothstep(1.0 - pixel, 1.0, away);
    if (outlined) color.rgb = mix(color.rgb, background, smoothstep(1.0 - 2.2 * pixel, 1.0 - 1.2 * pixel, away));
  }
  color.rgb *= color.a;
}`;
// Slices and the edges of the box.
const PLANE = `#version 300 es
precision highp float;
uniform mat4 matrix;
layout(location = 0) in vec3 position;
layout(location = 1) in vec2 corner;
out vec2 at;
void main() { gl_Position = matrix * vec4(position, 1.0); at = corner; }`;
const PLANE_FRAGMENT = `#version 300 es
precision highp float;
uniform sampler2D image;
uniform vec4 tint;
in vec2 at;
out vec4 color;
void main() {
  color = texture(image, at) * tint;
  color.rgb *= color.a;
}`;

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

// A texture of codes, with `each` of them in a texel.
function codeTexture(list, each) {
  const positions = list.length / each;
  const most = gl.getParameter(gl.MAX_TEXTURE_SIZE);
  const [rows, rest] = [Math.floor(positions / ROW), positions % ROW];
  if (rows >= most) throw new Error(`there are ${positions} positions; this graphics card supports at most ${ROW * most}`);
  const made = texture(gl.NEAREST);
  const [kind, format] = each === 4 ? [gl.RGBA16UI, gl.RGBA_INTEGER] : [gl.R16UI, gl.RED_INTEGER];
  gl.pixelStorei(gl.UNPACK_ALIGNMENT, 2);
  gl.texStorage2D(gl.TEXTURE_2D, 1, kind, ROW, rows + 1);
  const put = (row, width, height, part) =>
    gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, row, width, height, format, gl.UNSIGNED_SHORT, part);
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
  card.codes = codeTexture(codes, 4);
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
  card.values = codeTexture(attribute ? attribute.codes : new Uint16Array(SAVES * COUNT), 1);
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
  card.track = codeTexture(track, 4);
}

function useTracks({ program, uniforms }, view, { from, values, colors, count }) {
  const attribute = attributes[state.attribute];
  gl.useProgram(program);
  const { low, step } = codeScale();
  gl.uniformMatrix4fv(uniforms.matrix, false, view.matrix);
  gl.uniform3fv(uniforms.low, low);
  gl.uniform3fv(uniforms.unit, step);
  gl.uniform3fv(uniforms.none, GRAY.map((value) => value / 255));
  gl.uniform1i(uniforms.ended, state.ended);
  gl.uniform1i(uniforms.stepwise, Boolean(attribute && (attribute.names || attribute.integers)));
  const inCodes = (value) => (attribute.scale.step ? (value - attribute.scale.low) / attribute.scale.step : 0);
  gl.uniform2fv(uniforms.range, attribute ? state.range.map(inCodes) : [0, TOP]);
  gl.uniform1i(uniforms.count, count);
  Object.entries({ colors, positions: from, values }).forEach(([name, picked], unit) => {
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
  gl.depthMask(state.opacity === 1);
  const tracks = { from: card.codes, values: card.values, count: COUNT, colors: card.colors };
  if (state.lines) {
    const tail = trailStart();
    const { width, opacity } = state;
    drawLines(view, { tracks, width, opacity, tail, faint: tail > 0 ? 0.08 : 1, now: saveAt(state.now) });
  }
  gl.depthMask(true);
  if (state.points && COUNT && SAVES) drawPoints(view, tracks);
  gl.depthMask(false);
  slices.filter((slice) => slice.on).forEach((slice) => drawSlice(view, slice));
  drawPicked(view);
  gl.depthMask(true);
}
