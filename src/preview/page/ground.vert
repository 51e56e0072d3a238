// A square on the ground, large enough to fade out inside.

uniform mat4 projection;
uniform vec4 ground;  // centre x, height, centre z, radius

out vec2 at;

void main() {
    vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0;
    at = ground.xz + corner * ground.w;
    gl_Position = projection * vec4(at.x, ground.y, at.y, 1.0);
}
