// Colour maps and palettes.

// The tenth of a map that has too little contrast to the background is cut off.
const CUT = { light: [0, 0.9], dark: [0.1, 1] };
// Qualitative colours for statuses and charts: the palette of Okabe and Ito (2008,
// https://jfly.uni-koeln.de/color/) without black and yellow, then some of Tol's muted scheme
// (2021, https://sronpersonalpages.nl/~pault/).
const PALETTE = [
  [0, 114, 178], [230, 159, 0], [0, 158, 115], [204, 121, 167], [213, 94, 0], [86, 180, 233],
  [153, 153, 51], [136, 34, 85], [17, 119, 51], [170, 68, 153], [51, 34, 136],
];
const GRAY = [140, 146, 153];

const isDark = () => {
  const theme = document.documentElement.dataset.theme;
  return theme ? theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
};

// The colour of a map at t from 0 to 1.
function colorOf(map, t) {
  const [low, high] = CUT[isDark() ? 'dark' : 'light'];
  return stopColor(head.maps[map][1], low + (high - low) * t);
}
function stopColor(stops, t) {
  const at = t * (stops.length - 1);
  const from = Math.min(Math.floor(at), stops.length - 2);
  return stops[from].map((value, k) => value + (at - from) * (stops[from + 1][k] - value));
}

// A table of 256 RGBA colours.
function tableOf(color) {
  const table = new Uint8Array(4 * 256);
  for (let k = 0; k < 256; k += 1) table.set([...color(k).map(Math.round), 255], 4 * k);
  return table;
}
const mapTable = (map) => tableOf((k) => colorOf(map, k / 255));
const paletteTable = () => tableOf((k) => PALETTE[k % PALETTE.length]);
const oneColor = (color) => tableOf(() => color);

// The minimum of a slice has a colour close to the background: on a light one, the map is reversed.
function sliceTable(map) {
  const stops = head.maps[map][1];
  return tableOf((k) => stopColor(stops, isDark() ? k / 255 : 1 - k / 255));
}

// The image of a frame of a slice in RGBA, transparent where values are missing. Values below a twentieth of
// the maximum fade into the background, so that tracks are seen where there is little.
function sliceImage(slice, map, frame) {
  const table = sliceTable(map);
  const size = slice.counts[0] * slice.counts[1];
  const image = new Uint8Array(4 * size);
  slice.codes.subarray(frame * size, (frame + 1) * size).forEach((code, at) => {
    if (code === NONE) return;
    const color = 4 * Math.round((255 * code) / slice.scale.top);
    image.set(table.subarray(color, color + 3), 4 * at);
    const part = slice.scale.low < 0 ? 1 : valueOf(slice.scale, code) / (slice.range[1] || 1);
    image[4 * at + 3] = Math.round(255 * Math.min(1, 20 * part));
  });
  return image;
}

// Red, green and blue from 0 to 255 of a CSS colour, e.g. `rgb(1, 2, 3)`.
const channels = (text) => text.match(/[\d.]+/g).slice(0, 3).map(Number);
// The colours of the theme, from the style sheet.
function themeColors() {
  const [scene, labels] = [$('scene'), $('labels')].map((canvas) => getComputedStyle(canvas));
  return {
    background: scene.backgroundColor,
    text: labels.color,
    grid: labels.borderTopColor,
    picked: labels.caretColor,
  };
}
