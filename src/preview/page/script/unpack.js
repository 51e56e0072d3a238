// What the page was given: JSON, and blobs (base64 in pieces of deflated bytes, rows of numbers as differences to the row above).

const LAYOUTS = {
  u8: { array: Uint8Array, whole: Uint8Array },
  u16: { array: Uint16Array, whole: Uint16Array },
  f16: { array: Uint16Array, whole: Uint16Array },
  f32: { array: Float32Array, whole: Uint32Array },
  u32: { array: Uint32Array, whole: Uint32Array },
};

/** The bytes of base64. */
function from_base64(text) {
  const characters = atob(text);
  const bytes = new Uint8Array(characters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = characters.charCodeAt(i);
  return bytes;
}

/** A blob as a typed array. Its pieces leave the document, so that memory does not hold them twice. */
async function unpack(blob) {
  const pieces = [...document.querySelectorAll(`script[data-blob="${blob.name}"]`)];
  const source = new ReadableStream({
    pull(controller) {
      const piece = pieces.shift();
      if (!piece) return controller.close();
      controller.enqueue(from_base64(piece.textContent));
      piece.remove();
    },
  });
  if (!globalThis.DecompressionStream) throw new Error('This browser is too old for this page: it has no DecompressionStream.');
  const bytes = new Uint8Array(blob.bytes);
  let at = 0;
  const broken = () =>
    new Error(`This page is incomplete: ${blob.name} has ${at} of ${blob.bytes} bytes. Make it again, or copy it whole.`);
  const reader = source.pipeThrough(new DecompressionStream('deflate')).getReader();
  for (;;) {
    let step;
    try {
      step = await reader.read();
    } catch {
      throw broken();
    }
    if (step.done) break;
    if (at + step.value.length > bytes.length) throw broken();
    bytes.set(step.value, at);
    at += step.value.length;
  }
  if (at !== blob.bytes) throw broken();
  const layout = LAYOUTS[blob.kind];
  if (blob.row) join_rows(bytes, new layout.whole(bytes.buffer), blob.row);
  return new layout.array(bytes.buffer);
}

/** Rows of low bytes, then higher ones, each number the difference to the one above, become numbers, in the same memory. */
function join_rows(bytes, numbers, row) {
  const size = numbers.BYTES_PER_ELEMENT;
  const planes = new Uint8Array(row * size);
  for (let start = 0; start < numbers.length; start += row) {
    const long = Math.min(row, numbers.length - start);
    planes.set(bytes.subarray(start * size, (start + long) * size));
    for (let k = 0; k < long; k++) {
      let number = 0;
      for (let place = size - 1; place >= 0; place--) number = (number << 8) | planes[place * long + k];
      numbers[start + k] = number + (start ? numbers[start + k - row] : 0);
    }
  }
}

/** A picture for a material, or nothing where the browser cannot read its format. */
async function decode_picture(picture, largest) {
  try {
    const blob = new Blob([await unpack(picture.blob)], { type: picture.mime });
    const plain = { premultiplyAlpha: 'none', colorSpaceConversion: 'none' };
    const bitmap = await createImageBitmap(blob, plain);
    const side = Math.max(bitmap.width, bitmap.height);
    if (side <= largest) return bitmap;
    const resized = (n) => Math.max(1, Math.round((n * largest) / side));
    return await createImageBitmap(blob, { ...plain, resizeWidth: resized(bitmap.width), resizeHeight: resized(bitmap.height) });
  } catch {
    return null;
  }
}

/** What the address says after the #. */
function read_address() {
  const given = new URLSearchParams(location.hash.slice(1));
  const number = (name) => {
    const n = given.get(name) ? Number(given.get(name)) : NaN;
    return Number.isFinite(n) ? n : undefined;
  };
  const point = (name) => {
    const numbers = (given.get(name) ?? '').split(',').map((n) => (n.trim() ? Number(n) : NaN));
    return numbers.length === 3 && numbers.every(Number.isFinite) ? numbers : undefined;
  };
  const word = (name) => given.get(name) ?? undefined;
  const on = (name) => (given.has(name) ? given.get(name) !== 'off' : undefined);
  return {
    t: number('t'), clip: word('clip'), paused: on('paused'), view: word('view'), texture: word('texture'), eye: point('eye'),
    target: point('target'),
    crowd: number('crowd'), speed: number('speed'), loop: on('loop'), blend: on('blend'), theme: word('theme'), ui: on('ui'),
  };
}
