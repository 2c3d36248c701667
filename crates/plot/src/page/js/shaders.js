// Shaders.

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
uniform highp usampler2D positions, values, mask;
uniform int first, count, chosen;
const vec4 CLIPPED = vec4(2.0, 2.0, 2.0, 1.0);
out vec2 shade;
vec4 seen(vec3 code) { return matrix * vec4(low + unit * code, 1.0); }
ivec2 texel(int at) { return ivec2(at % ROW, at / ROW); }
uvec4 positionAt(int at) { return texelFetch(positions, texel(at), 0); }
// Whether this draw call leaves out a particle: it draws those whose mask is 'chosen', or all if that is negative.
bool leftOut(int particle) { return chosen >= 0 && int(texelFetch(mask, texel(particle), 0).r) != chosen; }
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
    && (ended || (to.w & 2u) == 2u || (from.w & 2u) == 2u) && !leftOut(piece % count);
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
  shade = vec2(chosen == 0 ? -1.0 : t, opacity * mix(faint, 1.0, age));
}`;
const POINT = `${COMMON}
uniform float size, border, part, opacity;
uniform int next;
uniform vec3 lift;
void main() {
  int at0 = first * count + gl_VertexID, at1 = next * count + gl_VertexID;
  uvec4 from = positionAt(at0), to = positionAt(at1);
  float fraction = (to.w & 1u) == 1u ? part : 0.0;
  bool moving = (from.w & 2u) == 2u;
  bool drawn = (from.w & 4u) == 4u && (ended || moving) && !leftOut(gl_VertexID);
  gl_Position = drawn ? seen(mix(vec3(from.xyz), vec3(to.xyz), fraction)) + matrix * vec4(lift, 0.0) : CLIPPED;
  gl_PointSize = (moving ? size : 0.7 * size) + border;
  float t0 = tone(at0), t1 = tone(at1);
  float t = stepwise || fraction == 0.0 ? t0 : min(t0, t1) < 0.0 ? -1.0 : mix(t0, t1, fraction);
  shade = vec2((moving || stepwise) && chosen != 0 ? t : -1.0, opacity);
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
