// The selection of particles by status, source and box.

const selection = {
  // Whether each status and each source is selected; at first, all sources and what is active.
  statuses: status.isActive.slice(),
  sources: sources ? sources.names.map(() => true) : [],
  // The corners of the box in the units of the axes; infinite where it is unbounded.
  box: [[-Infinity, -Infinity, -Infinity], [Infinity, Infinity, Infinity]],
  // Whether the box is of the positions at the release, not of those at the current time.
  isOfRelease: false,
  // Whether the other particles are drawn faintly.
  isFaint: false,
  // Whether statuses are selected beyond the active ones, but not all.
  isMixed: false,
  // Whether the mask is used: 1 for each selected particle.
  isMasked: false,
  mask: new Uint8Array(COUNT),
  isUploaded: false,
  // The number of selected particles, and the time to which it and the mask belong.
  count: 0,
  key: '',
};

const hasBox = () => selection.box.flat().some(Number.isFinite);
const hasSources = () => selection.sources.includes(false);
// Numbers of particles with each status at each save.
const statusCounts = new Uint32Array(SAVES * status.names.length);
for (let save = 0, at = 0; save < SAVES; save += 1) {
  for (let i = 0; i < COUNT; i += 1, at += 1) statusCounts[save * status.names.length + status.codes[at]] += 1;
}
const statusCount = (rank, save) => statusCounts[Math.floor(save) * status.names.length + rank];

// Whether a particle may be drawn where it has these flags.
const isShown = (i, flags) => (selection.isMixed || state.ended || Boolean(flags & ACTIVE))
  && (!selection.isMasked || selection.mask[i] === 1);

// Follows a change of what is selected.
function reselect() {
  const { statuses } = selection;
  const inactive = statuses.filter((_, rank) => !status.isActive[rank]);
  const allActive = statuses.every((on, rank) => on || !status.isActive[rank]);
  const all = inactive.length > 0 && inactive.every(Boolean);
  selection.isMixed = !allActive || (inactive.some(Boolean) && !all);
  state.ended = all && allActive;
  selection.isMasked = selection.isMixed || hasSources() || hasBox();
  selection.key = '';
  followTime();
}

// Renews the mask and the number of selected particles, if they have changed with the time.
function followTime() {
  const save = saveAt(state.now);
  const moves = hasBox() && !selection.isOfRelease;
  const key = `${moves ? save : Math.floor(save)}`;
  if (key === selection.key || !SAVES) return;
  selection.key = key;
  selection.count = renewMask(save);
  selection.isUploaded = false;
}

// The first save at which each particle exists; SAVES if there is none.
let releases = null;
function releaseSaves() {
  if (releases) return releases;
  releases = new Uint16Array(COUNT).fill(SAVES);
  for (let save = SAVES - 1; save >= 0; save -= 1) {
    for (let i = 0; i < COUNT; i += 1) if (codes[4 * (save * COUNT + i) + 3] & EXISTS) releases[i] = save;
  }
  return releases;
}

// Sets the mask at a save with fraction, and gives the number of particles in it.
function renewMask(save) {
  const { mask, statuses, isOfRelease } = selection;
  const first = Math.floor(save) * COUNT;
  const inBox = hasBox() ? boxTest(save) : null;
  const from = isOfRelease && inBox ? releaseSaves() : null;
  let count = 0;
  for (let i = 0; i < COUNT; i += 1) {
    const isHere = (!sources || selection.sources[sources.codes[i]]) && (!inBox || inBox(i, from ? from[i] : -1));
    const isListed = statuses[status.codes[first + i]];
    if (isHere && isListed) count += 1;
    // The trail of a particle remains after its end, unless statuses are selected.
    mask[i] = isHere && (isListed || !selection.isMixed) ? 1 : 0;
  }
  return count;
}

// The bounds of the box along an axis as codes, half a step wider since positions are rounded.
function boundsInCodes(axis) {
  const { low, step } = head.position[axis];
  const [from, to] = selection.box.map((corner) => corner[axis]);
  if (step) return [(from - low) / step - 0.5, (to - low) / step + 0.5];
  return from <= low && low <= to ? [-1, 1] : [1, -1];
}

// A function that tests a particle: at a save, or at the given save with fraction if that is -1.
function boxTest(save) {
  const bounds = [0, 1, 2].map(boundsInCodes);
  const [base, last] = [Math.floor(save), SAVES - 1];
  const part = save - base;
  return (i, at) => {
    const start = 4 * ((at < 0 ? base : Math.min(at, last)) * COUNT + i);
    if (!(codes[start + 3] & EXISTS)) return false;
    const next = start + 4 * COUNT;
    const moved = at < 0 && part && codes[next + 3] & JOINED ? part : 0;
    for (let axis = 0; axis < 3; axis += 1) {
      const from = codes[start + axis];
      const code = moved ? from + moved * (codes[next + axis] - from) : from;
      if (code < bounds[axis][0] || code > bounds[axis][1]) return false;
    }
    return true;
  };
}

// Draws the edges of the box of the selection.
function drawBox(view) {
  if (!hasBox()) return;
  const [low, high] = [0, 1].map((end) => selection.box[end].map((value, axis) =>
    (Number.isFinite(value) ? value : head.domain[end][axis])));
  const corner = (bits) => toScene([0, 1, 2].map((axis) => (bit(bits, axis) ? high : low)[axis]));
  const list = [];
  for (let bits = 0; bits < 8; bits += 1) {
    for (let axis = 0; axis < 3; axis += 1) {
      if (!bit(bits, axis)) list.push(...corner(bits), 0, 0, ...corner(bits | (1 << axis)), 0, 0);
    }
  }
  const tint = channels(themeColors().picked).map((value) => value / 255);
  drawPlane(view, gl.LINES, list, card.white, [...tint, 1]);
}
