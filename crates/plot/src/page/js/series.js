// The values of the selected particle against time: a chart and a table.

const SERIES = { width: 300, height: 160, left: 52, right: 10, top: 10, bottom: 36 };
// The quantities of a chart: attributes that are numbers, and coordinates. The seed is the number of the particle.
const quantities = attributes.filter(({ names, name }) => !names && name !== 'seed')
  .map(({ name, unit, codes: list, scale, integers }) => ({
    name, unit, valueAt: (at) => (list[at] === NONE ? NaN : valueOf(scale, list[at])), integers,
  }))
  .concat(AXES.map((axis, k) => ({
    name: head.axes ? head.axes[k][0] : axis, unit: head.axes ? head.axes[k][1] : head.length_unit, integers: false,
    valueAt: (at) => (codes[4 * at + 3] & EXISTS ? valueOf(head.position[k], codes[4 * at + k]) : NaN),
  })));
const series = { shown: null, isOwn: false };

// The quantity that colours the tracks, until another one is chosen.
function followColor() {
  const name = attributes[state.attribute]?.name;
  const k = quantities.findIndex((quantity) => quantity.name === name);
  if (!series.isOwn && k >= 0) $('series-of').value = k;
  buildSeries();
}

// The values at all saves, and whether a line connects each with the one before it.
function valuesOf(i, { valueAt }) {
  return head.times.map((time, s) => {
    const at = s * COUNT + i;
    const flags = codes[4 * at + 3];
    const isJoined = s > 0 && flags & JOINED && (flags | codes[4 * (at - COUNT) + 3]) & ACTIVE;
    return { time, value: flags & EXISTS ? valueAt(at) : NaN, isJoined: Boolean(isJoined) };
  });
}

function buildSeries() {
  $('series').hidden = state.picked < 0 || !SAVES;
  if ($('series').hidden) return;
  const quantity = quantities[Number($('series-of').value)];
  const values = valuesOf(state.picked, quantity);
  const finite = values.map(({ value }) => value).filter(Number.isFinite);
  const [low, high] = finite.length ? [Math.min(...finite), Math.max(...finite)] : [0, 1];
  const { left, right, top, bottom, width, height } = SERIES;
  const pad = low === high ? Math.abs(low) || 1 : 0;
  const y = (value) => height - bottom - ((value - low + pad) / (high - low + 2 * pad)) * (height - top - bottom);
  const x = (time) => left + ((time - head.times[0]) / (span || 1)) * (width - left - right);
  series.shown = { quantity, low, high, x, y };
  const picture = shape('svg', { class: 'chart', viewBox: `0 0 ${width} ${height}`, role: 'img' });
  drawSeriesAxes(picture, { low: low - pad, high: high + pad, x, y, quantity });
  const path = values.map(({ time, value, isJoined }, s) => seriesStep(x(time), y(value), isJoined && Number.isFinite(values[s - 1].value)));
  picture.append(shape('path', { class: 'line', d: path.join('') }));
  series.cursor = shape('line', { class: 'cursor', y1: top, y2: height - bottom });
  series.dot = shape('circle', { class: 'dot', r: 3.5 });
  picture.append(series.cursor, series.dot);
  picture.addEventListener('pointerdown', seekInChart);
  picture.addEventListener('pointermove', (event) => { if (event.buttons & 1) seekInChart(event); });
  $('series-chart').replaceChildren(picture);
  followSeries();
  buildSeriesTable();
}
// A single value is a short stroke.
const seriesStep = (x, y, isJoined) => (Number.isFinite(y) ? `${isJoined ? 'L' : 'M'}${x.toFixed(1)} ${y.toFixed(1)}${isJoined ? '' : 'h0.1'}` : '');

function drawSeriesAxes(picture, { low, high, x, y, quantity }) {
  const { left, right, bottom, width, height } = SERIES;
  for (const { value, text } of ticks(low, high, 3)) {
    picture.append(shape('line', { x1: left, x2: width - right, y1: y(value), y2: y(value) }));
    picture.append(shape('text', { x: left - 6, y: y(value) + 4, 'text-anchor': 'end' }, text));
  }
  const ends = [head.times[0], head.times[SAVES - 1]];
  const below = height - bottom + 15;
  if (head.dates.length) {
    picture.append(shape('text', { x: left, y: below, 'text-anchor': 'start' }, head.dates[0]));
    picture.append(shape('text', { x: width - right, y: below, 'text-anchor': 'end' }, head.dates[SAVES - 1]));
  } else {
    for (const { value, text } of ticks(Math.min(...ends), Math.max(...ends), 4)) {
      picture.append(shape('text', { x: x(value), y: below, 'text-anchor': 'middle' }, text));
    }
  }
  const name = named('time', head.dates.length ? '' : head.time_unit);
  picture.append(shape('text', { x: (left + width - right) / 2, y: height - 4, 'text-anchor': 'middle' }, name));
  $('series-name').textContent = named(quantity.name, quantity.unit);
}

// The time at the position of the pointer in the chart.
function seekInChart(event) {
  const { left, right, width } = SERIES;
  const area = event.currentTarget.getBoundingClientRect();
  const at = ((event.clientX - area.left) / area.width) * width;
  setPlaying(false);
  setTime((at - left) / (width - left - right));
}

// Moves the cursor of the chart to the current time.
function followSeries() {
  if (state.picked < 0 || !series.shown || $('series').hidden) return;
  const { quantity, low, high, x, y } = series.shown;
  const save = saveAt(state.now);
  const here = positionAt(state.picked, save);
  const [from, to] = [quantity.valueAt(here.at), here.part ? quantity.valueAt(here.at + COUNT) : 0];
  const value = here.part ? from + here.part * (to - from) : from;
  const at = x(timeAt(state.now));
  for (const end of ['x1', 'x2']) series.cursor.setAttribute(end, at);
  series.dot.setAttribute('cx', at);
  series.dot.setAttribute('cy', Number.isFinite(value) ? y(value) : -10);
  if (state.playing) return;
  const texts = [low, high, value].map((number) => withUnit(valueText(number, quantity.integers), quantity.unit));
  $('series-chart').firstChild.setAttribute('aria-label', `${sentence(quantity.name)} of particle ${numbers[state.picked]} \
against time, from ${texts[0]} to ${texts[1]}; now ${texts[2]}`);
}

// The table of all quantities, built when it is opened.
function buildSeriesTable() {
  const place = $('series-rows');
  place.replaceChildren();
  if (!$('series-table').open || state.picked < 0) return;
  const table = element('table');
  table.append(element('caption', `Particle ${numbers[state.picked]}`));
  const heading = element('tr');
  const time = head.dates.length ? 'Time' : named('time', head.time_unit);
  for (const text of ['Save', time, 'Status', ...quantities.map(({ name, unit }) => named(name, unit))]) {
    heading.append(element('th', text, { scope: 'col' }));
  }
  table.append(heading);
  const columns = quantities.map((quantity) => valuesOf(state.picked, quantity));
  head.times.forEach((at, s) => {
    const row = element('tr');
    row.append(element('th', s + 1, { scope: 'row' }), element('td', head.dates[s] ?? formatNumber(at, 6)));
    row.append(element('td', status.names[status.codes[s * COUNT + state.picked]]));
    columns.forEach((column, k) => row.append(element('td', valueText(column[s].value, quantities[k].integers))));
    table.append(row);
  });
  place.append(table);
}

function connectSeries() {
  quantities.forEach(({ name, unit }, k) => $('series-of').add(option(named(name, unit), k)));
  $('series-of').addEventListener('change', () => {
    series.isOwn = true;
    buildSeries();
  });
  $('series-table').addEventListener('toggle', buildSeriesTable);
}
