// Time.

function setTime(part) {
  state.now = Math.min(Math.max(part, 0), 1);
  const save = Math.round(saveAt(state.now) * 1e6) / 1e6;
  const digits = span ? Math.min(Math.max(0, 3 - Math.floor(Math.log10(Math.abs(span)))), 12) : 3;
  const date = head.dates[Math.floor(save)];
  const time = SAVES ? withUnit(timeAt(state.now).toFixed(digits).replace('-', '−'), head.time_unit) : '–';
  const number = SAVES ? `save ${Math.floor(save) + 1} of ${SAVES}` : 'no saves';
  $('clock').value = `${date ?? `t = ${time}`} · ${number}`;
  $('time').value = state.now;
  $('time').setAttribute('aria-valuetext', $('clock').value);
  followTime();
  showCounts();
  showParticle();
  followSeries();
  refresh();
}

function stepSave(by) {
  if (!SAVES) return;
  setPlaying(false);
  const save = saveAt(state.now);
  const next = by > 0 ? Math.floor(save + 1e-6) + by : Math.ceil(save - 1e-6) + by;
  setTime(partOf(Math.min(Math.max(next, 0), SAVES - 1)));
}

const RUN_SECONDS = 10;
let before = 0;
function setPlaying(playing) {
  state.playing = playing && SAVES > 1;
  if (state.playing && state.now >= 1) setTime(0);
  $('play').setAttribute('aria-label', state.playing ? 'Pause' : 'Play');
  $('play').title = state.playing ? 'Pause (space)' : 'Play (space)';
  $('play-icon').setAttribute('d', state.playing ? 'M4 2h3v12H4zM9 2h3v12H9z' : 'M4 2l10 6-10 6z');
  before = performance.now();
  if (state.playing) requestAnimationFrame(advance);
}
function advance(time) {
  if (!state.playing) return;
  const part = (Math.max(time - before, 0) / 1000 / RUN_SECONDS) * Number($('speed').value);
  before = Math.max(time, before);
  const next = state.now + part;
  if (next < 1) setTime(next);
  else if ($('repeat').checked) setTime(next % 1);
  else {
    setTime(1);
    setPlaying(false);
  }
  requestAnimationFrame(advance);
}

function connectTime() {
  $('play').addEventListener('click', () => setPlaying(!state.playing));
  $('time').addEventListener('input', () => {
    setPlaying(false);
    setTime(Number($('time').value));
  });
  const idle = SAVES < 2;
  for (const id of ['play', 'time', 'speed', 'repeat']) $(id).disabled = idle;
}
