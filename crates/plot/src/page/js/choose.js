// The controls of the selection.

const checkBox = (id, text, checked) => {
  const label = element('label', '', { class: 'choose' });
  const box = element('input', '', { type: 'checkbox', id });
  box.checked = checked;
  label.append(box, element('span', text));
  return { label, box };
};

// Lists of check boxes: statuses with their numbers of particles at the current time, and sources.
const chosen = { counts: [], shownSave: -1, text: '' };
function buildChoices() {
  status.names.forEach((name, rank) => {
    const { label, box } = checkBox(`status-${rank}`, sentence(name), selection.statuses[rank]);
    chosen.counts.push(element('output', '', { class: 'count' }));
    label.append(chosen.counts[rank]);
    box.addEventListener('change', () => change(() => { selection.statuses[rank] = box.checked; }));
    $('status-list').append(label);
  });
  $('status-choice').hidden = status.names.length < 2;
  $('source-choice').hidden = !sources;
  if (!sources) return;
  sources.names.forEach((name, k) => {
    const { label, box } = checkBox(`source-${k}`, name, true);
    const count = sources.codes.reduce((sum, code) => sum + (code === k), 0);
    label.append(element('span', grouped(count), { class: 'count' }));
    box.addEventListener('change', () => change(() => { selection.sources[k] = box.checked; }));
    $('source-list').append(label);
  });
}

function change(set) {
  set();
  reselect();
  showSelection();
  refresh();
}

// Shows what is selected in the controls.
function showSelection() {
  const { statuses, box } = selection;
  statuses.forEach((on, rank) => { $(`status-${rank}`).checked = on; });
  selection.sources.forEach((on, k) => { $(`source-${k}`).checked = on; });
  const inactive = statuses.filter((_, rank) => !status.isActive[rank]);
  $('ended').checked = inactive.length > 0 && inactive.every(Boolean);
  $('ended').indeterminate = inactive.some(Boolean) && !$('ended').checked;
  $('ended').disabled = !inactive.length;
  $('others').value = selection.isFaint ? 'faint' : 'hidden';
  $('box-of').value = selection.isOfRelease ? 'release' : 'now';
  ['low', 'high'].forEach((name, end) => AXES.forEach((axis, k) => {
    const value = box[end][k];
    $(`box-${name}-${axis}`).value = Number.isFinite(value) ? Number(value.toPrecision(7)) : '';
  }));
  $('box-clear').disabled = !hasBox();
  showCounts();
}

// The numbers of particles with each status, and of those selected, at the current time.
function showCounts() {
  if (!SAVES) return;
  const save = Math.floor(saveAt(state.now));
  if (save !== chosen.shownSave) {
    chosen.shownSave = save;
    chosen.counts.forEach((output, rank) => { output.value = grouped(statusCount(rank, save)); });
  }
  const text = `${grouped(selection.count)} of ${grouped(COUNT)} particles selected`;
  if (text === chosen.text) return;
  chosen.text = text;
  // Screen readers do not announce changes during playback.
  $('selected').setAttribute('aria-live', state.playing ? 'off' : 'polite');
  $('selected').textContent = text;
}

function buildBox() {
  AXES.forEach((axis, k) => {
    const unit = head.axes ? head.axes[k][1] : head.length_unit;
    const name = head.axes ? head.axes[k][0] : axis;
    const row = [element('span', withUnit(name, unit && `(${unit})`), { 'aria-hidden': 'true' })];
    ['low', 'high'].forEach((corner, end) => {
      const label = `${corner === 'low' ? 'Low' : 'High'} ${name} of the box${unit && ` in ${unit}`}`;
      const placeholder = formatNumber(head.domain[end][k]);
      const input = element('input', '', { id: `box-${corner}-${axis}`, type: 'number', step: 'any', 'aria-label': label, placeholder });
      input.addEventListener('change', () => change(() => setBoxEnd(end, k, input.value)));
      row.push(input);
    });
    $('box-ends').append(...row);
  });
}
// An empty field leaves the box unbounded.
function setBoxEnd(end, axis, text) {
  const value = text === '' ? NaN : Number(text);
  selection.box[end][axis] = Number.isFinite(value) ? value : [-Infinity, Infinity][end];
}

// The tool that draws the box in a plane view, for the next drag.
function setBoxTool(on) {
  state.boxTool = on && camera.view !== '3d';
  $('box-draw').setAttribute('aria-pressed', state.boxTool);
  scene.style.cursor = state.boxTool ? 'crosshair' : '';
}
// Sets the two axes of a plane view to the rectangle between two positions in pixels of the canvas.
function setBoxBetween(a, b) {
  const { area, pixel } = currentView();
  const scale = stretch();
  FLAT[camera.view].slice(0, 2).forEach((axis, k) => {
    const ends = [a, b].map((position) => {
      const offset = k ? area.top + area.height / 2 - position.y : position.x - area.left - area.width / 2;
      return center[axis] + (camera.target[axis] + offset * pixel) / scale[axis];
    });
    [selection.box[0][axis], selection.box[1][axis]] = [Math.min(...ends), Math.max(...ends)];
  });
  change(() => {});
}

function clearBox() {
  selection.box = [[-Infinity, -Infinity, -Infinity], [Infinity, Infinity, Infinity]];
}
// At first, and again with the button: what is active, of all sources, everywhere.
function selectAll() {
  selection.statuses = status.isActive.slice();
  selection.sources.fill(true);
  clearBox();
}

function connectSelection() {
  buildChoices();
  buildBox();
  $('ended').addEventListener('change', () => change(() => {
    selection.statuses = selection.statuses.map((on, rank) => (status.isActive[rank] ? on : $('ended').checked));
  }));
  $('others').addEventListener('change', () => change(() => { selection.isFaint = $('others').value === 'faint'; }));
  $('box-of').addEventListener('change', () => change(() => { selection.isOfRelease = $('box-of').value === 'release'; }));
  $('box-draw').addEventListener('click', () => setBoxTool(!state.boxTool));
  $('box-clear').addEventListener('click', () => change(clearBox));
  $('select-reset').addEventListener('click', () => change(selectAll));
  change(() => {});
}

// The selection in the address: what differs from that at the start.
function selectionEntries() {
  const { statuses, sources: of, box, isOfRelease, isFaint } = selection;
  const on = (list) => list.flatMap((checked, k) => (checked ? [k] : [])).join(',');
  const entries = {};
  if (statuses.some((checked, rank) => checked !== status.isActive[rank])) entries.statuses = on(statuses);
  if (hasSources()) entries.sources = on(of);
  if (hasBox()) entries.box = box.flat().map((value) => (Number.isFinite(value) ? Number(value.toPrecision(7)) : '')).join(',');
  if (isOfRelease) entries.boxof = 'release';
  if (isFaint) entries.others = 'faint';
  return entries;
}
function applySelection(entries) {
  selectAll();
  const set = (name, list) => {
    if (!entries.has(name)) return;
    const on = entries.get(name).split(',').filter(Boolean).map(Number);
    list.forEach((_, k) => { list[k] = on.includes(k); });
  };
  // Links of earlier versions.
  if ((entries.get('on') || '').split(',').includes('ended')) selection.statuses.fill(true);
  set('statuses', selection.statuses);
  set('sources', selection.sources);
  const ends = (entries.get('box') || '').split(',');
  if (ends.length === 6) ends.forEach((text, k) => setBoxEnd(Math.floor(k / 3), k % 3, text));
  selection.isOfRelease = entries.get('boxof') === 'release';
  selection.isFaint = entries.get('others') === 'faint';
  change(() => {});
}
