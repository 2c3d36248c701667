// Start of the page.

function draw() {
  const view = currentView();
  drawScene(view);
  drawLabels(view);
}

function showMessage(message) {
  $('message').textContent = message;
  $('message').hidden = !message;
  scene.style.visibility = gl ? '' : 'hidden';
}

function start() {
  let message = COUNT && SAVES ? '' : 'There are no particles to show.';
  try {
    if (!startDrawing()) {
      message = 'Cannot draw the tracks: WebGL 2 is not available or is disabled in this browser. Tables and charts are still shown.';
    }
  } catch (error) {
    gl = null;
    message = `Cannot draw the tracks: ${error.message}`;
  }
  showMessage(message);
}

// The WebGL context may be lost, and restored without its contents.
function connectCard() {
  scene.addEventListener('webglcontextlost', (event) => {
    event.preventDefault();
    gl = null;
    showMessage('The graphics context was lost. The picture will be drawn again once it is restored.');
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
connectView();
connectTracks();
connectSelection();
connectSlices();
connectParticle();
connectSeries();
connectPointers();
connectKeys();
connectCard();
setAttribute(attributes.length ? 0 : -1);
$('attribute').value = state.attribute;
setTheme();
setTime(SAVES ? partOf(head.reload ? SAVES - 1 : firstShown()) : 1);
connectLink();
document.body.removeAttribute('aria-busy');
// A camera that was not moved stays fitted to the box.
new ResizeObserver(() => {
  if (!camera.moved) resetCamera();
  refresh();
}).observe(scene);
