// Puts it all together.

function draw() {
  const view = look();
  drawScene(view);
  drawLabels(view);
}

function say(message) {
  $('message').textContent = message;
  $('message').hidden = !message;
  scene.style.visibility = gl ? '' : 'hidden';
}

function start() {
  let message = COUNT && SAVES ? '' : 'There are no particles to show.';
  try {
    if (!startDrawing()) {
      message = 'The tracks cannot be drawn: this browser has no WebGL 2, or it is switched off. The numbers of the run are all here.';
    }
  } catch (error) {
    gl = null;
    message = `The tracks cannot be drawn: ${error.message}`;
  }
  say(message);
}

// The graphics card may be taken away, and come back with nothing in it.
function connectCard() {
  scene.addEventListener('webglcontextlost', (event) => {
    event.preventDefault();
    gl = null;
    say('The graphics card has dropped the picture. It will be drawn again as soon as it can be.');
  });
  scene.addEventListener('webglcontextrestored', () => {
    start();
    recolor();
    setPicked(state.picked);
  });
}

start();
buildSummary();
connectColor();
connectTime();
connectTracks();
connectSlices();
connectView();
connectParticle();
connectPointers();
connectKeys();
connectCard();
setAttribute(attributes.length ? 0 : -1);
$('attribute').value = state.attribute;
setTheme();
setTime(1);
// What nobody has moved stays in the middle.
new ResizeObserver(() => {
  if (!camera.moved) resetCamera();
  refresh();
}).observe(scene);
