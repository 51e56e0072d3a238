
// Behind the kit's vertex(): the built-ins that Godot gives it, from and to buffers.
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i * 4u >= uint(cases.length())) {
        return;
    }
    VERTEX = cases[i * 4u].xyz;
    TIME = cases[i * 4u].w;
    UV = vec2(0.0);
    UV2 = cases[i * 4u + 1u].xy;
    INSTANCE_CUSTOM = cases[i * 4u + 2u];
    NORMAL = cases[i * 4u + 3u].xyz;
    TANGENT = vec3(1.0, 0.0, 0.0);
    BINORMAL = cross(NORMAL, TANGENT);
    vertex();
    results[i * 3u] = vec4(VERTEX, 0.0);
    results[i * 3u + 1u] = vec4(NORMAL, 0.0);
    results[i * 3u + 2u] = vec4(TANGENT, 0.0);
}
