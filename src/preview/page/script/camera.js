// The camera: it looks at a target from a distance, turned by yaw and pitch. Matrices are column-major.

const FIELD_OF_VIEW = 35; // degrees, vertical

function multiply(a, b) {
  const out = new Float64Array(16);
  for (let column = 0; column < 4; column++)
    for (let row = 0; row < 4; row++)
      for (let k = 0; k < 4; k++) out[column * 4 + row] += a[k * 4 + row] * b[column * 4 + k];
  return out;
}

function offset_of(camera) {
  const { yaw, pitch, distance } = camera;
  return [Math.sin(yaw) * Math.cos(pitch) * distance, Math.sin(pitch) * distance, Math.cos(yaw) * Math.cos(pitch) * distance];
}

function eye_of(camera) {
  return offset_of(camera).map((x, i) => x + camera.target[i]);
}

/** The camera's right and up. */
function sides_of({ yaw, pitch }) {
  return {
    right: [Math.cos(yaw), 0, -Math.sin(yaw)],
    up: [-Math.sin(yaw) * Math.sin(pitch), Math.cos(pitch), -Math.cos(yaw) * Math.sin(pitch)],
  };
}

/** From the world to the canvas. `reach` is how far the scene extends. */
function projection_of(camera, aspect, reach) {
  const eye = eye_of(camera);
  const { right, up } = sides_of(camera);
  const back = offset_of(camera).map((x) => x / camera.distance);
  const along = (axis) => -(axis[0] * eye[0] + axis[1] * eye[1] + axis[2] * eye[2]);
  const look = [
    right[0], up[0], back[0], 0,
    right[1], up[1], back[1], 0,
    right[2], up[2], back[2], 0,
    along(right), along(up), along(back), 1,
  ];
  const near = Math.max(camera.distance - reach, Math.min(camera.distance * 0.02, reach * 0.02));
  const far = camera.distance + reach * 2;
  const f = 1 / Math.tan((FIELD_OF_VIEW * Math.PI) / 360);
  const lens = [f / aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, (far + near) / (near - far), -1, 0, 0, (2 * far * near) / (near - far), 0];
  return multiply(lens, look);
}

function turn(camera, yaw, pitch) {
  camera.yaw = (camera.yaw + yaw) % (2 * Math.PI);
  camera.pitch = Math.min(Math.max(camera.pitch + pitch, -1.55), 1.55);
}

function approach(camera, factor, size) {
  camera.distance = Math.min(Math.max(camera.distance * factor, size * 0.02), size * 500);
}

/** Moves the camera aside by a share of the canvas's height. */
function shift(camera, x, y) {
  const { right, up } = sides_of(camera);
  const whole = 2 * camera.distance * Math.tan((FIELD_OF_VIEW * Math.PI) / 360);
  camera.target = camera.target.map((t, i) => t + (up[i] * y - right[i] * x) * whole);
}

/** From where a point is seen at a target. */
function look_from(eye, target) {
  const [x, y, z] = eye.map((n, i) => n - target[i]);
  const distance = Math.hypot(x, y, z) || 1;
  return { yaw: Math.atan2(x, z), pitch: Math.asin(Math.min(Math.max(y / distance, -1), 1)), distance, target };
}

/** Shows a box, and a crowd of `depth` behind it. */
function frame_box(camera, box, depth, aspect) {
  const half = box.max.map((m, i) => (m - box.min[i]) / 2);
  const wide = Math.hypot(half[0], half[2]) + depth * 0.62 * Math.min(aspect, 1); // a narrow canvas shows the middle of a crowd
  const tangent = Math.tan((FIELD_OF_VIEW * Math.PI) / 360);
  camera.distance = 1.12 * Math.max(half[1] / tangent, wide / (tangent * aspect)) + Math.min(half[0], half[2]);
  camera.target = box.max.map((m, i) => (m + box.min[i]) / 2);
  camera.target[2] -= depth * 0.3;
  camera.yaw = depth ? 0.2 : 0.5;
  camera.pitch = depth ? 0.26 : 0.16;
}
