// Arrays of the page: base64 text, compressed by deflate.

const $ = (id) => document.getElementById(id);
// The code of a missing value.
const NONE = 65535;

// Above this number of letters in all arrays, the page says that it reads them.
const LONG_TEXT = 4e6;
function announceReading() {
  const arrays = [...document.querySelectorAll('script[type="application/octet-stream"]')];
  const length = arrays.reduce((sum, { firstChild }) => sum + (firstChild ? firstChild.length : 0), 0);
  if (length < LONG_TEXT) return;
  $('message').textContent = 'Reading the tracks …';
  $('message').hidden = false;
}

function bytesOf(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const letters = atob(text);
  const list = new Uint8Array(letters.length);
  for (let i = 0; i < list.length; i += 1) list[i] = letters.charCodeAt(i);
  return list;
}

// Decompresses an array, and removes its element to free the text.
async function bytes(id) {
  const element = $(id);
  const text = element.textContent;
  element.remove();
  const stream = new Blob([bytesOf(text)]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Codes of rows of a length, `every` apart in a list. Each is stored as the error of a prediction from the four codes
// before it in its column (see codec.rs): first the low bytes of all, then the high ones if there are more than 8 bits.
async function unpack(id, { every = 1, list = null, offset = 0 } = {}) {
  const { bits: bitsText, row: rowText, predictor: weightsText } = $(id).dataset;
  const [bits, row] = [Number(bitsText), Number(rowText)];
  const weights = weightsText.split(',').map(Number);
  const planes = await bytes(id);
  const count = planes.length / (bits > 8 ? 2 : 1);
  const into = list || new Uint16Array(count * every);
  const high = bits > 8 ? planes.subarray(count) : null;
  const state = { planes, high, into, every, offset, bits, row };
  // The last four differences of each column.
  let past = [0, 1, 2, 3].map(() => new Int32Array(row));
  for (let first = 0, number = 0; first < count; first += row, number += 1) {
    unpackRow(state, first, number > 4 ? weights : [256, 0, 0, 0], past, number);
    past = [past[3], past[0], past[1], past[2]];
  }
  if (bits < 16) restoreMissing(into, every, offset, count, bits);
  return into;
}

function unpackRow({ planes, high, into, every, offset, bits, row }, first, [w1, w2, w3, w4], [d1, d2, d3, d4], number) {
  const [mask, shift, limit] = [(1 << bits) - 1, 32 - bits, 1 << (bits - 3)];
  const back = number ? row * every : 0;
  for (let i = 0, at = first * every + offset; i < row; i += 1, at += every) {
    const folded = planes[first + i] | (high ? high[first + i] << 8 : 0);
    const error = (folded >>> 1) ^ -(folded & 1);
    const guess = (w1 * d1[i] + w2 * d2[i] + w3 * d3[i] + w4 * d4[i] + 128) >> 8;
    const change = ((guess + error) << shift) >> shift;
    into[at] = ((back ? into[at - back] : 0) + change) & mask;
    d4[i] = number && change < limit && change >= -limit ? change : 0;
  }
}

// The highest code of fewer than 16 bits marks a missing value.
function restoreMissing(into, every, offset, count, bits) {
  const highest = (1 << bits) - 1;
  for (let k = 0, at = offset; k < count; k += 1, at += every) if (into[at] === highest) into[at] = NONE;
}
