// Pressed pointers (mouse or fingers) on the picture, by their identifiers.

const down = new Map();
let travelled = 0;

function spread() {
  const [a, b] = [...down.values()];
  return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, far: Math.hypot(a.x - b.x, a.y - b.y) || 1 };
}
// The position of an event in pixels from the centre of the plot area, y up.
function fromCenter({ x, y }) {
  const { left, top, width, height } = plotArea();
  return [x - left - width / 2, top + height / 2 - y];
}
const eventPosition = (event) => {
  const corner = scene.getBoundingClientRect();
  return { x: event.clientX - corner.left, y: event.clientY - corner.top };
};

function pointerMoves(event) {
  const last = down.get(event.pointerId);
  if (!last) return;
  const now = eventPosition(event);
  const old = down.size === 2 ? spread() : null;
  down.set(event.pointerId, { ...last, ...now });
  travelled += Math.hypot(now.x - last.x, now.y - last.y);
  if (travelled < 4) return;
  if (last.draws) {
    setBoxBetween(last.draws, now);
    return;
  }
  if (down.size === 2) {
    const both = spread();
    pan(both.x - old.x, old.y - both.y);
    zoomBy(both.far / old.far, ...fromCenter(both));
  } else if (last.moves) pan(now.x - last.x, last.y - now.y);
  else rotate(now.x - last.x, last.y - now.y);
  refresh();
}

function connectPointers() {
  scene.addEventListener('pointerdown', (event) => {
    if (!down.size) travelled = 0;
    const moves = event.shiftKey || event.button === 2 || event.button === 1;
    const at = eventPosition(event);
    const draws = camera.view !== '3d' && !moves && (state.boxTool || event.ctrlKey || event.metaKey) ? at : null;
    down.set(event.pointerId, { ...at, moves, draws });
    scene.setPointerCapture(event.pointerId);
  });
  scene.addEventListener('pointermove', pointerMoves);
  scene.addEventListener('pointerup', (event) => {
    const clicked = down.size === 1 && travelled < 4 && event.button === 0;
    if (down.get(event.pointerId)?.draws && !clicked) setBoxTool(false);
    down.delete(event.pointerId);
    const { x, y } = eventPosition(event);
    if (clicked && gl) {
      setPicked(pickAt(currentView(), x, y));
      // On a phone the picture would scroll away.
      if (state.picked >= 0 && !isPhone()) $('series').scrollIntoView({ block: 'nearest' });
    }
  });
  scene.addEventListener('pointercancel', (event) => down.delete(event.pointerId));
  scene.addEventListener('contextmenu', (event) => event.preventDefault());
  scene.addEventListener('wheel', (event) => {
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 16 : 1;
    zoom(Math.exp(-event.deltaY * lines * 0.0015), ...fromCenter(eventPosition(event)));
  }, { passive: false });
}

// Keyboard shortcuts, unless the focused element handles the key.

const KEYS = {
  ' ': () => setPlaying(!state.playing),
  ArrowLeft: () => stepSave(-1),
  ArrowRight: () => stepSave(1),
  Home: () => { setPlaying(false); setTime(0); },
  End: () => { setPlaying(false); setTime(1); },
  '+': () => zoom(1.25),
  '=': () => zoom(1.25),
  '-': () => zoom(0.8),
  0: () => setView(camera.view),
  Escape: () => (state.boxTool ? setBoxTool(false) : setPicked(-1)),
};
const ROTATIONS = { ArrowLeft: [-20, 0], ArrowRight: [20, 0], ArrowUp: [0, 20], ArrowDown: [0, -20] };

function isHandledElsewhere({ target, key }) {
  if (target === scene || target === $('time') || target === document.body) return false;
  if (target.matches('input[type="number"], select')) return true;
  const arrows = key.startsWith('Arrow') || key === 'Home' || key === 'End';
  if (target.matches('input[type="range"], input[type="radio"]') && arrows) return true;
  return key === ' ' && target.matches('button, input');
}

function connectKeys() {
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isHandledElsewhere(event)) return;
    if (event.shiftKey && ROTATIONS[event.key]) {
      rotate(...ROTATIONS[event.key]);
      refresh();
    } else if (KEYS[event.key]) KEYS[event.key]();
    else return;
    event.preventDefault();
  });
}
