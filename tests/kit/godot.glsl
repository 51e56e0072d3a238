
// Behind the kit's vertex(): the built-ins that Godot gives it, from and to buffers.
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i * 4u >= uint(cases.length())) {
        return;
    }
    VERTEX = cases[i * 4u].xyz;
    TIME = cases[i * 4u].w;
    UV = vec2(0.0);
    // the lookup: TEXCOORD_1, or TEXCOORD_2 where that is taken
    UV2 = cases[i * 4u + 1u].xy;
    CUSTOM0 = vec4(UV2, 0.0, 0.0);
    INSTANCE_CUSTOM = cases[i * 4u + 2u];
    NORMAL = cases[i * 4u + 3u].xyz;
    TANGENT = vec3(1.0, 0.0, 0.0);
    BINORMAL = cross(NORMAL, TANGENT);
    vertex();
    results[i * 3u] = vec4(VERTEX, 0.0);
    results[i * 3u + 1u] = vec4(NORMAL, 0.0);
    results[i * 3u + 2u] = vec4(TANGENT, 0.0);
}
