// The instances: eight numbers each, the clip's vec4 of vat.glsl and a place. The first is the one that the controls move; the others
// stand behind it in half a disc, each with its own clip, phase and speed, the same in every page.

const LARGEST_CROWD = 10000;

/** 0 to 1, always the same for the same numbers. */
function dice(index, salt) {
  let h = Math.imul(index + 1, 0x9e3779b1) ^ Math.imul(salt, 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 15), 0x2c1b3c6d);
  h = Math.imul(h ^ (h >>> 12), 0x297a2d39);
  return ((h ^ (h >>> 15)) >>> 0) / 4294967296;
}

/** How far a crowd reaches behind its first. */
function crowd_depth(count, spacing) {
  return spacing * Math.sqrt((2 * (count - 1)) / Math.PI);
}

/** x, z and turn of an instance. */
function place_of(index, spacing) {
  if (index === 0) return [0, 0, 0];
  const radius = crowd_depth(index + 1, spacing);
  const angle = ((index * 0.6180339887498949) % 1) * Math.PI;
  return [Math.cos(angle) * radius, -Math.sin(angle) * radius, (dice(index, 4) - 0.5) * 0.5];
}

/** The slowest and the fastest of a crowd differ by half. */
function rate_of(index) {
  return 0.8 + 0.4 * dice(index, 3);
}

/**
 * Fills the instances after the first. `base` is the time at which the shader's clock was last set back to 0: 32-bit seconds jitter
 * after hours, so start times are given anew every now and then.
 */
function fill_crowd(numbers, clips, spacing, loop, base) {
  for (let i = 1; i * 8 < numbers.length; i++) {
    const clip = clips[Math.floor(dice(i, 1) * clips.length)];
    const rate = rate_of(i);
    const intervals = clip.frame_count - 1;
    const period = intervals > 0 && clip.fps > 0 ? intervals / (clip.fps * rate) : 0;
    const ago = base + (loop ? dice(i, 2) * period : 0);
    numbers.set([clip.first_frame, loop ? intervals : -intervals, clip.fps * rate, -(loop && period > 0 ? ago % period : ago)], i * 8);
    numbers.set([...place_of(i, spacing), clip.stepped ? 0 : 1], i * 8 + 4);
  }
}

/** The first instance shows a frame that the page names (rate 0), so that scrubbing and a second loop show exactly the same. */
function fill_first(numbers, clip, frame, loop) {
  const intervals = clip.frame_count - 1;
  numbers.set([clip.first_frame, loop ? intervals : -intervals, 0, frame, 0, 0, 0, clip.stepped ? 0 : 1]);
}
