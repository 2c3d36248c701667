// The view in the address of the page, so that a link to it opens the same view.

const CHECKED = ['lines', 'points', 'walls', 'equal'];
const SLID = ['trail', 'opacity', 'width', 'size'];

// The view as text: `time=0.5&view=3d&...`. Numbers are rounded to what is seen.
function viewText() {
  const round = (value) => Number(value.toPrecision(6));
  const entries = {
    time: round(state.now),
    view: camera.view,
    camera: [camera.azimuth, camera.elevation, camera.zoom, ...camera.target].map(round).join(','),
    color: state.attribute,
    map: state.map,
    range: state.range.map(round).join(','),
    on: [...CHECKED.filter((id) => $(id).checked), ...slices.flatMap(({ on }, k) => (on ? [`slice${k}`] : []))].join(','),
    sliders: SLID.map((id) => $(id).value).join(','),
  };
  // While a run goes on, its latest save is shown unless another time was chosen.
  if (head.reload && isAtEnd()) delete entries.time;
  Object.assign(entries, selectionEntries());
  if (state.picked >= 0) entries.particle = numbers[state.picked];
  return new URLSearchParams(entries).toString();
}

function isAtEnd() {
  return state.now === (SAVES ? partOf(SAVES - 1) : 1);
}

// Loads the page again after a while, with the view of now; not during playback.
function keepLoading() {
  setInterval(() => {
    if (state.playing) return;
    try { history.replaceState(null, '', `#${viewText()}`); } catch { /* The address keeps the view of before. */ }
    location.reload();
  }, head.reload * 1000);
}

// Applies a text of `viewText`; what is missing or invalid in it is left as it is.
function applyView(text) {
  const entries = new URLSearchParams(text);
  const list = (name) => (entries.get(name) || '').split(',');
  const finite = (name, length) => {
    const values = list(name).map(Number);
    return entries.get(name) && values.length === length && values.every(Number.isFinite) ? values : null;
  };
  if (['3d', 'xy', 'xz', 'yz'].includes(entries.get('view'))) setView(entries.get('view'));
  if (entries.has('on')) {
    const on = list('on');
    const set = (box, checked) => {
      if (box.checked === checked) return;
      box.checked = checked;
      box.dispatchEvent(new Event('change'));
    };
    CHECKED.forEach((id) => set($(id), on.includes(id)));
    slices.forEach((_, k) => set($(`slice-on-${k}`), on.includes(`slice${k}`)));
  }
  applySelection(entries);
  const values = finite('sliders', SLID.length) || [];
  values.forEach((value, k) => {
    $(SLID[k]).value = value;
    $(SLID[k]).dispatchEvent(new Event('input'));
  });
  const color = finite('color', 1);
  if (color && color[0] >= -1 && color[0] < attributes.length) {
    $('attribute').value = color[0];
    setAttribute(color[0]);
    const [map, range] = [finite('map', 1), finite('range', 2)];
    if (map && head.maps[map[0]]) {
      state.map = map[0];
      $('map').value = map[0];
    }
    const numeric = attributes[color[0]] && !attributes[color[0]].names;
    if (range && numeric) {
      state.range = range;
      showRange(true);
    }
    recolor();
  }
  const position = finite('camera', 6);
  if (position) {
    const [azimuth, elevation, zoom, ...target] = position;
    Object.assign(camera, { azimuth, elevation, zoom: Math.min(Math.max(zoom, ZOOM[0]), ZOOM[1]), target, moved: true });
  }
  const time = finite('time', 1);
  if (time) setTime(time[0]);
  const particle = finite('particle', 1);
  if (particle) setPicked(numbers.indexOf(particle[0]));
  refresh();
}

// Keeps the address up to date, at most twice a second and not during playback.
function connectLink() {
  if (location.hash.length > 1) applyView(location.hash.slice(1));
  let shown = viewText();
  const update = () => {
    const text = viewText();
    if (text === shown || state.playing) return;
    shown = text;
    // Some browsers refuse this for files.
    try { history.replaceState(null, '', `#${text}`); } catch { return; }
  };
  setInterval(update, 500);
  if (head.reload) keepLoading();
  window.addEventListener('hashchange', () => applyView(location.hash.slice(1)));
}
