// Tables and charts beside the picture.

function element(name, content = '', attributesOf = {}) {
  const made = document.createElement(name);
  made.textContent = content;
  for (const [key, value] of Object.entries(attributesOf)) made.setAttribute(key, value);
  return made;
}

function tableOfRows(rows) {
  const table = element('table');
  for (const [name, value] of rows) {
    const row = element('tr');
    row.append(element('th', name, { scope: 'row' }), element('td', value));
    table.append(row);
  }
  return table;
}

function buildSummary() {
  for (const { title, rows } of head.sections) {
    const section = element('section');
    section.append(element('h2', title), tableOfRows(rows));
    $('summary').append(section);
  }
  for (const histogram of head.histograms) {
    const section = element('section');
    section.append(element('h2', sentence(histogram.title || histogram.axis.name)), chart(histogram), keys(histogram));
    $('summary').append(section);
  }
}

const CHART = { width: 300, height: 150, left: 44, right: 8, top: 8, bottom: 36 };

function shape(name, numbersOf, content = '') {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(numbersOf)) made.setAttribute(key, value);
  made.textContent = content;
  return made;
}

// A histogram with stacked series.
function chart({ title, axis, edges, series, log }) {
  const { width, height, left, right, top, bottom } = CHART;
  const sums = edges.slice(1).map((_, bin) => series.reduce((sum, [, counts]) => sum + counts[bin], 0));
  const total = sums.reduce((sum, count) => sum + count, 0);
  const most = Math.max(...sums, 1);
  const [low, high] = [edges[0], edges[edges.length - 1]];
  const along = log ? Math.log : (value) => value;
  const x = (value) => left + ((along(value) - along(low)) / (along(high) - along(low) || 1)) * (width - left - right);
  const y = (count) => height - bottom - (count / most) * (height - top - bottom);
  const label = `Histogram of ${axis.name || title}: ${total} values from ${formatNumber(low)} to ${formatNumber(high)}`;
  const picture = shape('svg', { class: 'chart', viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': label });
  for (const { value, text } of ticks(0, most, 3).filter((tick) => Number.isInteger(tick.value))) {
    picture.append(shape('line', { x1: left, x2: width - right, y1: y(value), y2: y(value) }));
    picture.append(shape('text', { x: left - 6, y: y(value) + 4, 'text-anchor': 'end' }, text));
  }
  const below = sums.map(() => 0);
  series.forEach(([, counts], k) => counts.forEach((count, bin) => {
    const [from, to] = [x(edges[bin]), x(edges[bin + 1])];
    const [foot, roof] = [y(below[bin]), y(below[bin] + count)];
    below[bin] += count;
    const fill = `rgb(${PALETTE[k % PALETTE.length]})`;
    if (count) picture.append(shape('rect', { x: from, y: roof, width: Math.max(to - from - 0.5, 0.5), height: foot - roof, fill }));
  }));
  for (const { value, text } of log ? decades(low, high) : ticks(low, high, 4)) {
    picture.append(shape('text', { x: x(value), y: height - bottom + 15, 'text-anchor': 'middle' }, text));
  }
  const middle = (left + width - right) / 2;
  picture.append(shape('text', { x: middle, y: height - 4, 'text-anchor': 'middle' }, named(axis.name, axis.unit)));
  return picture;
}

// Ticks at 1, 2 and 5 times powers of ten, or at powers of ten if there are many.
function decades(low, high) {
  const list = [];
  const steps = Math.log10(high / low) > 2 ? [1] : [1, 2, 5];
  for (let power = Math.floor(Math.log10(low)); 10 ** power <= high; power += 1) {
    for (const step of steps) list.push(Number((step * 10 ** power).toPrecision(1)));
  }
  return list.filter((value) => low <= value && value <= high).map((value) => ({ value, text: formatNumber(value) }));
}

// The legend of a chart.
function keys({ series }) {
  return keyList(series.length > 1 ? series.map(([name]) => name) : []);
}
function keyList(names) {
  const list = element('div', '', { class: 'keys' });
  names.forEach((name, k) => {
    const key = element('span', sentence(name), { class: 'key' });
    key.style.setProperty('--key', `rgb(${PALETTE[k % PALETTE.length]})`);
    list.append(key);
  });
  return list;
}

// A colour bar for the attribute of the tracks, and one for each visible slice.
function buildBars() {
  const bars = [];
  const attribute = attributes[state.attribute];
  if (attribute && attribute.names) {
    const bar = element('div', '', { class: 'bar' });
    bar.append(element('div', sentence(attribute.name), { class: 'name' }), keyList(attribute.names));
    bars.push(bar);
  } else if (attribute) {
    bars.push(bar(named(attribute.name, attribute.unit), state.range, mapTable(state.map), attribute));
  }
  for (const slice of slices.filter(({ on }) => on)) {
    slice.bar = bar(sliceTitle(slice), slice.range, sliceTable(state.sliceMap));
    bars.push(slice.bar);
  }
  $('bars').replaceChildren(...bars);
}

// The title of a slice, with the time of the values that it shows if there are several.
function sliceTitle(slice) {
  const title = named(slice.title || slice.name, slice.unit);
  if (!slice.times.length) return title;
  const time = formatNumber(slice.times[frameOf(slice, timeAt(state.now))]);
  return `${title}, t = ${withUnit(time, head.time_unit)}`;
}

function bar(name, [low, high], table, { integers = false, range = [low, high] } = {}) {
  const made = element('div', '', { class: 'bar' });
  const canvas = element('canvas', '', { width: 256, height: 1, 'aria-hidden': 'true' });
  const pen = canvas.getContext('2d');
  const image = pen.createImageData(256, 1);
  // A constant has the colour in the middle of the map.
  image.data.set(low === high ? oneColor([...table.subarray(512, 515)]) : table);
  pen.putImageData(image, 0, 0);
  const ends = element('div', '', { class: 'ends' });
  const shown = low === high ? [low] : [low, (low + high) / 2, high];
  const texts = shown.map((value) => valueText(value, integers));
  // Values beyond the ends have their colours.
  if (range[0] < low) texts[0] = `≤ ${texts[0]}`;
  if (range[1] > high) texts[texts.length - 1] = `≥ ${texts[texts.length - 1]}`;
  ends.append(...texts.map((text) => element('span', text)));
  made.append(element('div', name, { class: 'name' }), canvas, ends);
  return made;
}
