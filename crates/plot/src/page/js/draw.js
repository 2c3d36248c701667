// What the graphics card is given, and what it does with it.

const state = {
  now: 1, playing: false, trail: 1, lines: true, points: true, ended: true,
  width: 1.5, size: 5, opacity: 1, attribute: -1, map: 0, range: [0, 1], picked: -1,
  sliceMap: Math.max(head.maps.findIndex(([name]) => name === 'inferno'), 0),
};

// Both programs read codes from pictures whose rows are of this length: a card draws many vertices
// at once faster than many instances of a few.
const ROW = 4096;
const COMMON = `#version 300 es
precision highp float;
const int ROW = ${ROW};
uniform mat4 matrix;
uniform vec3 low, unit;
uniform vec2 range;
uniform bool ended, stepwise;
uniform highp usampler2D places, values;
uniform int first, count;
const vec4 NOWHERE = vec4(2.0, 2.0, 2.0, 1.0);
out vec2 shade;
vec4 seen(vec3 code) { return matrix * vec4(low + unit * code, 1.0); }
ivec2 texel(int at) { return ivec2(at % ROW, at / ROW); }
uvec4 place(int at) { return texelFetch(places, texel(at), 0); }
// From 0 to 1 in the map; -1 where there is no value.
float tone(int at) {
  float code = float(texelFetch(values, texel(at), 0).r);
  if (code == 65535.0) return -1.0;
  return range.y == range.x ? 0.5 : clamp((code - range.x) / (range.y - range.x), 0.0, 1.0);
}
`;
// A piece is the way from one save to the next: two triangles, or a line of two vertices. Corners 0
// and 1 are its ends, on one side; 2 and 3 on the other.
const LINE = `${COMMON}
uniform vec2 screen;
uniform float width, now, tail, faint, opacity;
uniform bool thin;
const int CORNERS[6] = int[6](0, 1, 2, 2, 1, 3);
void main() {
  int piece = gl_VertexID / (thin ? 2 : 6);
  int corner = CORNERS[gl_VertexID - piece * (thin ? 2 : 6)];
  int at0 = first * count + piece, at1 = at0 + count;
  uvec4 from = place(at0), to = place(at1);
  float save = float(first + piece / count);
  float begin = clamp(tail - save, 0.0, 1.0), end = clamp(now - save, 0.0, 1.0);
  vec4 a = seen(mix(vec3(from.xyz), vec3(to.xyz), begin));
  vec4 b = seen(mix(vec3(from.xyz), vec3(to.xyz), end));
  bool drawn = (to.w & 1u) == 1u && end > begin && a.w > 0.0 && b.w > 0.0
    && (ended || (to.w & 2u) == 2u || (from.w & 2u) == 2u);
  bool far = (corner & 1) == 1;
  float part = far ? end : begin;
  vec2 along = screen * (b.xy / b.w - a.xy / a.w);
  along = length(along) > 0.0 ? normalize(along) : vec2(1.0, 0.0);
  vec4 at = far ? b : a;
  float side = thin ? 0.0 : float(corner >> 1) * 2.0 - 1.0;
  at.xy += side * width * vec2(-along.y, along.x) / screen * at.w;
  gl_Position = drawn ? at : NOWHERE;
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
  uvec4 from = place(at0), to = place(at1);
  float way = (to.w & 1u) == 1u ? part : 0.0;
  bool moving = (from.w & 2u) == 2u;
  bool drawn = (from.w & 4u) == 4u && (ended || moving);
  gl_Position = drawn ? seen(mix(vec3(from.xyz), vec3(to.xyz), way)) + matrix * vec4(lift, 0.0) : NOWHERE;
  gl_PointSize = (moving ? size : 0.7 * size) + border;
  float t0 = tone(at0), t1 = tone(at1);
  float t = stepwise || way == 0.0 ? t0 : min(t0, t1) < 0.0 ? -1.0 : mix(t0, t1, way);
  shade = vec2(moving || stepwise ? t : -1.0, 1.0);
}`;
const FRAGMENT = `#version 300 es
precision highp float;
uniform sampler2D colors;
uniform bool disc, rim;
uniform vec3 none, ground;
in vec2 shade;
out vec4 color;
void main() {
  vec3 own = texture(colors, vec2((shade.x * 255.0 + 0.5) / 256.0, 0.5)).rgb;
  color = vec4(shade.x < 0.0 ? none : own, shade.y);
  if (disc) {
    // A pixel at the edge is soft, and one within that is of the ground.
    float away = length(gl_PointCoord - 0.5) * 2.0;
    float pixel = length(vec2(dFdx(away), dFdy(away)));
    if (away > 1.0) discard;
    color.a *= 1.0 - smoothstep(1.0 - pixel, 1.0, away);
    if (rim) color.rgb = mix(color.rgb, ground, smoothstep(1.0 - 2.2 * pixel, 1.0 - 1.2 * pixel, away));
  }
  color.rgb *= color.a;
}`;
// Planes and edges.
const PLANE = `#version 300 es
precision highp float;
uniform mat4 matrix;
layout(location = 0) in vec3 place;
layout(location = 1) in vec2 corner;
out vec2 at;
void main() { gl_Position = matrix * vec4(place, 1.0); at = corner; }`;
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
// From so many positions on, lines are a pixel wide and not smoothed: wide ones take three times the
// work.
const MANY = 500000;
let gl = null;
// Programs, buffers and pictures on the card.
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

// A texture on the unit 0, to be filled.
function texture(filter) {
  const made = gl.createTexture();
  gl.activeTexture(gl.TEXTURE0);
  gl.bindTexture(gl.TEXTURE_2D, made);
  for (const side of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T]) gl.texParameteri(gl.TEXTURE_2D, side, gl.CLAMP_TO_EDGE);
  for (const size of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, size, filter);
  return made;
}

// Codes in rows, `each` of them in a place.
function codePicture(list, each) {
  const places = list.length / each;
  const most = gl.getParameter(gl.MAX_TEXTURE_SIZE);
  const [rows, rest] = [Math.floor(places / ROW), places % ROW];
  if (rows >= most) throw new Error(`there are ${places} positions, and this graphics card takes ${ROW * most}`);
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

// False where there is no WebGL 2.
function startDrawing() {
  gl = scene.getContext('webgl2', { antialias: SAVES * COUNT <= MANY, alpha: false, powerPreference: 'high-performance' });
  if (!gl) return false;
  card.line = compile(LINE, FRAGMENT);
  card.point = compile(POINT, FRAGMENT);
  card.plane = compile(PLANE, PLANE_FRAGMENT);
  card.ways = gl.createVertexArray();
  card.planes = gl.createVertexArray();
  card.codes = codePicture(codes, 4);
  card.loose = gl.createBuffer();
  card.white = picture(1, 1, new Uint8Array([255, 255, 255, 255]));
  gl.enable(gl.BLEND);
  gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  gl.depthFunc(gl.LEQUAL);
  return true;
}

// After another attribute, map or theme has been chosen.
function uploadColors() {
  const attribute = attributes[state.attribute];
  for (const name of ['values', 'colors', 'picked']) gl.deleteTexture(card[name]);
  card.values = codePicture(attribute ? attribute.codes : new Uint16Array(SAVES * COUNT), 1);
  const table = !attribute ? oneColor(PALETTE[0]) : attribute.names ? paletteTable() : mapTable(state.map);
  card.colors = picture(256, 1, table);
  card.picked = picture(256, 1, oneColor(channels(themeColors().picked)));
  for (const slice of slices) {
    gl.deleteTexture(slice.picture);
    slice.picture = picture(...slice.counts, sliceImage(slice, state.sliceMap));
  }
}

// The track of what is picked, as a run of one particle.
function uploadPicked() {
  gl.deleteTexture(card.track);
  card.track = null;
  if (state.picked < 0) return;
  const track = new Uint16Array(4 * SAVES);
  for (let s = 0; s < SAVES; s += 1) {
    const at = 4 * (s * COUNT + state.picked);
    track.set(codes.subarray(at, at + 4), 4 * s);
  }
  card.track = codePicture(track, 4);
}

function useWays({ program, uniforms }, view, { from, values, colors, count }) {
  const attribute = attributes[state.attribute];
  gl.useProgram(program);
  const { low, step } = codeScale();
  gl.uniformMatrix4fv(uniforms.matrix, false, view.matrix);
  gl.uniform3fv(uniforms.low, low);
  gl.uniform3fv(uniforms.unit, step);
  gl.uniform3fv(uniforms.none, GRAY.map((value) => value / 255));
  gl.uniform1i(uniforms.ended, state.ended);
  gl.uniform1i(uniforms.stepwise, Boolean(attribute && attribute.names));
  const inCodes = (value) => (attribute.scale.step ? (value - attribute.scale.low) / attribute.scale.step : 0);
  gl.uniform2fv(uniforms.range, attribute ? state.range.map(inCodes) : [0, TOP]);
  gl.uniform1i(uniforms.count, count);
  Object.entries({ colors, places: from, values }).forEach(([name, picked], unit) => {
    gl.uniform1i(uniforms[name], unit);
    gl.activeTexture(gl.TEXTURE0 + unit);
    gl.bindTexture(gl.TEXTURE_2D, picked);
  });
  gl.activeTexture(gl.TEXTURE0);
  gl.bindVertexArray(card.ways);
}

// The save, with fraction, at which trails begin.
const trailBegin = () => saveAt(Math.max(state.now - state.trail, 0));

function drawLines(view, { ways, width, opacity, tail, faint, now }) {
  const first = Math.floor(tail);
  const pieces = (Math.min(Math.ceil(now), SAVES - 1) - first) * ways.count;
  if (pieces <= 0) return;
  const thin = SAVES * ways.count > MANY;
  useWays(card.line, view, ways);
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

function drawPoints(view, ways) {
  const save = saveAt(state.now);
  const first = Math.floor(save);
  useWays(card.point, view, ways);
  const { uniforms } = card.point;
  // Points of a few pixels are squares, and larger ones stand out from lines of the same colour.
  const rim = state.size >= 4 && state.lines && SAVES > 1;
  gl.uniform1i(uniforms.disc, state.size >= 4);
  gl.uniform1i(uniforms.rim, rim);
  gl.uniform3fv(uniforms.ground, channels(themeColors().ground).map((value) => value / 255));
  gl.uniform1f(uniforms.size, state.size * ratio());
  gl.uniform1f(uniforms.border, rim ? 2 : 0);
  gl.uniform1f(uniforms.part, save - first);
  // A particle is as thick as it is wide, so that its own line does not cover it.
  gl.uniform3fv(uniforms.lift, view.back.map((value) => value * view.pixel * state.size));
  gl.uniform1i(uniforms.first, first);
  gl.uniform1i(uniforms.next, Math.min(first + 1, SAVES - 1));
  gl.drawArrays(gl.POINTS, 0, COUNT);
}

// Triangles or lines of places with corners of a picture: five numbers each.
function drawPlane(view, kind, numbers5, image, tint) {
  const { program, uniforms } = card.plane;
  gl.useProgram(program);
  gl.uniformMatrix4fv(uniforms.matrix, false, view.matrix);
  gl.uniform4fv(uniforms.tint, tint);
  gl.bindTexture(gl.TEXTURE_2D, image);
  gl.bindVertexArray(card.planes);
  gl.bindBuffer(gl.ARRAY_BUFFER, card.loose);
  gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(numbers5), gl.DYNAMIC_DRAW);
  gl.enableVertexAttribArray(0);
  gl.vertexAttribPointer(0, 3, gl.FLOAT, false, 20, 0);
  gl.enableVertexAttribArray(1);
  gl.vertexAttribPointer(1, 2, gl.FLOAT, false, 20, 12);
  gl.drawArrays(kind, 0, numbers5.length / 5);
}

// The first sample of a raster lies at the low end of its axis, in the middle of a pixel.
function drawSlice(view, slice) {
  const axes = [0, 1, 2].filter((axis) => axis !== slice.normal_axis);
  const corners = [[0, 0], [1, 0], [0, 1], [1, 1]].flatMap((corner) => {
    const place = [0, 0, 0];
    place[slice.normal_axis] = slice.position;
    axes.forEach((axis, k) => { place[axis] = slice.axes[k].range[corner[k]]; });
    const inside = corner.map((end, k) => (end * (slice.counts[k] - 1) + 0.5) / slice.counts[k]);
    return [...toScene(place), ...inside];
  });
  drawPlane(view, gl.TRIANGLE_STRIP, corners, slice.picture, [1, 1, 1, slice.opacity]);
}

function drawPicked(view) {
  if (!card.track) return;
  const ways = { from: card.track, values: card.track, count: 1, colors: card.picked };
  const whole = { ways, tail: 0, faint: 1 };
  gl.disable(gl.DEPTH_TEST);
  drawLines(view, { ...whole, width: 1, opacity: 0.45, now: SAVES - 1 });
  drawLines(view, { ...whole, width: Math.max(3, state.width + 1.5), opacity: 1, now: saveAt(state.now) });
  gl.enable(gl.DEPTH_TEST);
}

const ratio = () => Math.min(window.devicePixelRatio || 1, 2);

function drawScene(view) {
  const { ground, grid } = themeColors();
  const scale = ratio();
  const size = [scene.clientWidth, scene.clientHeight].map((side) => Math.max(Math.round(side * scale), 1));
  if (scene.width !== size[0] || scene.height !== size[1]) [scene.width, scene.height] = size;
  const { left, bottom, width, height } = view.area;
  gl.disable(gl.SCISSOR_TEST);
  gl.clearColor(...channels(ground).map((value) => value / 255), 1);
  gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
  const area = [left, bottom, width, height].map((value) => Math.round(value * scale));
  gl.viewport(...area);
  gl.scissor(...area);
  gl.enable(gl.SCISSOR_TEST);
  gl.enable(gl.DEPTH_TEST);
  gl.depthMask(false);
  const tint = [...channels(grid).map((value) => value / 255), 1];
  drawPlane(view, gl.LINES, gridLines(view), card.white, tint);
  gl.depthMask(state.opacity === 1);
  const ways = { from: card.codes, values: card.values, count: COUNT, colors: card.colors };
  if (state.lines) {
    const tail = trailBegin();
    const { width, opacity } = state;
    drawLines(view, { ways, width, opacity, tail, faint: tail > 0 ? 0.08 : 1, now: saveAt(state.now) });
  }
  gl.depthMask(true);
  if (state.points && COUNT && SAVES) drawPoints(view, ways);
  gl.depthMask(false);
  slices.filter((slice) => slice.on).forEach((slice) => drawSlice(view, slice));
  drawPicked(view);
  gl.depthMask(true);
}
