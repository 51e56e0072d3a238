#version 450
// What the tests put in the place of the fetch: texels, settings and cases in buffers.
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer Settings { vec4 settings[]; };
layout(std430, set = 0, binding = 1) readonly buffer Positions { vec4 positions[]; };
layout(std430, set = 0, binding = 2) readonly buffer Normals { vec4 normals[]; };
layout(std430, set = 0, binding = 3) readonly buffer Cases { vec4 cases[]; };
layout(std430, set = 0, binding = 4) buffer Results { vec4 results[]; };
#define VAT_FETCH_POSITION(at) positions[at.y * int(settings[0].w) + at.x]
#define VAT_FETCH_NORMAL(at) normals[at.y * int(settings[0].w) + at.x]
