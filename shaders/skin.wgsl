// Pass 2: texels. One invocation is one vertex of one frame: deform, quantise, write, measure. Two entry points: unsigned
// integers for PNG (8 bits stand in the low half), 32-bit floats for EXR. Both formats are core everywhere and exactly rounded.

@group(0) @binding(9) var position_uint: texture_storage_2d<rgba16uint, write>;
@group(0) @binding(10) var normal_uint: texture_storage_2d<rgba16uint, write>;
@group(0) @binding(11) var tangent_uint: texture_storage_2d<rgba16uint, write>;
@group(0) @binding(12) var position_float: texture_storage_2d<rgba32float, write>;
@group(0) @binding(13) var normal_float: texture_storage_2d<rgba32float, write>;
@group(0) @binding(14) var tangent_float: texture_storage_2d<rgba32float, write>;

// What becomes of normals: 0 nothing, 1 a texture of their own, 2 octahedral in the position's alpha.
override normal_mode: u32 = 1u;

// A row's results: 0 sum of squared counts of the position error, 1 of the normal's chord, 2 the largest squared position error as
// bits, 3 the largest squared chord as bits, 4 normals without a direction, 5 and 6 as 1 and 3 for the tangent.
const RESULTS: u32 = 7u;
const RESULT_STRIDE: u32 = 8u;
// Counts stop here: 255 * 255 * 32768 texels still fit 32 bits.
const MOST_COUNTS: f32 = 255.0;

var<workgroup> measured: array<atomic<u32>, 7>;

// floor(clamp((value - bias) / scale, 0, 1) * levels + 0.5); 0 on an axis without range.
fn quantise(value: vec3<f32>) -> vec3<f32> {
    let flat_axis = params.scale.xyz == vec3<f32>(0.0);
    let scale = select(params.scale.xyz, vec3<f32>(1.0), flat_axis);
    let texel = floor(clamp((value - params.bias.xyz) / scale, vec3<f32>(0.0), vec3<f32>(1.0)) * params.levels + 0.5);
    return select(texel, vec3<f32>(0.0), flat_axis);
}

// Octahedral projection, unorm8 a component (Cigolle et al. 2014).
fn encode_octahedral(n: vec3<f32>) -> vec2<u32> {
    let p = n.xy / (abs(n.x) + abs(n.y) + abs(n.z));
    let folded = (1.0 - abs(p.yx)) * select(vec2<f32>(-1.0), vec2<f32>(1.0), p >= vec2<f32>(0.0));
    let e = select(p, folded, n.z < 0.0);
    return vec2<u32>(floor(clamp(e * 0.5 + 0.5, vec2<f32>(0.0), vec2<f32>(1.0)) * 255.0 + 0.5));
}

fn decode_octahedral(texel: vec2<u32>) -> vec3<f32> {
    let e = vec2<f32>(texel) / 255.0 * 2.0 - 1.0;
    let z = 1.0 - abs(e.x) - abs(e.y);
    let folded = (1.0 - abs(e.yx)) * select(vec2<f32>(-1.0), vec2<f32>(1.0), e >= vec2<f32>(0.0));
    return normalize(vec3<f32>(select(e, folded, z < 0.0), z));
}

fn texel_of(frame: u32, i: u32) -> vec2<u32> {
    let address = frame * params.frame_stride + i * params.vertex_stride;
    return vec2<u32>(address % params.texture_width, address / params.texture_width);
}

fn squared_counts(square: f32, unit: f32) -> u32 {
    let counts = u32(min(sqrt(square) / unit + 0.5, MOST_COUNTS));
    return counts * counts;
}

fn measure_position(error: vec3<f32>) {
    let square = dot(error, error);
    atomicAdd(&measured[0], squared_counts(square, params.error_unit));
    atomicMax(&measured[2], bitcast<u32>(square));
}

fn measure_normal(chord: vec3<f32>, degenerate: bool) {
    let square = dot(chord, chord);
    atomicAdd(&measured[1], squared_counts(square, params.chord_unit));
    atomicMax(&measured[3], bitcast<u32>(square));
    if degenerate {
        atomicAdd(&measured[4], 1u);
    }
}

fn measure_tangent(chord: vec3<f32>) {
    let square = dot(chord, chord);
    atomicAdd(&measured[5], squared_counts(square, params.tangent_unit));
    atomicMax(&measured[6], bitcast<u32>(square));
}

// Unit vector to integers, 0 to `levels`.
fn quantise_unit(n: vec3<f32>) -> vec3<f32> {
    return floor(clamp(n * 0.5 + 0.5, vec3<f32>(0.0), vec3<f32>(1.0)) * params.normal_levels + 0.5);
}

fn decode_unit(texel: vec3<f32>) -> vec3<f32> {
    return normalize(texel / params.normal_levels * 2.0 - 1.0);
}

fn publish(frame: u32, lane: u32) {
    workgroupBarrier();
    let slot = frame * RESULT_STRIDE + lane;
    if lane < 2u || lane == 4u || lane == 5u {
        atomicAdd(&results[slot], atomicLoad(&measured[lane]));
    } else if lane < RESULTS {
        atomicMax(&results[slot], atomicLoad(&measured[lane]));
    }
}

// Lanes past the last vertex work on it again: their texels are padding, and nothing of theirs is measured.
@compute @workgroup_size(64)
fn skin_uint(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = vertex_of(group, groups, lane);
    let frame = group.z;
    let is_vertex = i < params.vertex_count;
    let vertex = params.first_vertex + min(i, params.vertex_count - 1u);
    let deformed = deform(vertex, frame);
    let at_rest = rest_position(vertex) * f32(params.is_offset);
    let position = quantise(deformed.position - at_rest);
    let decoded = at_rest + (position / params.levels * params.scale.xyz + params.bias.xyz);
    var alpha = u32(params.levels);
    var normal = vec4<u32>(0u);
    var chord = vec3<f32>(0.0);
    if normal_mode == 1u {
        let n = quantise_unit(deformed.normal);
        chord = decode_unit(n) - deformed.normal;
        normal = vec4<u32>(vec3<u32>(n), u32(params.normal_levels));
    } else if normal_mode == 2u {
        let e = encode_octahedral(deformed.normal);
        chord = decode_octahedral(e) - deformed.normal;
        alpha = e.x | (e.y << 8u);
    }
    let t = quantise_unit(deformed.tangent);
    let tangent = vec4<u32>(vec3<u32>(t), u32(params.normal_levels));
    if is_vertex {
        measure_position(decoded - deformed.position);
        if normal_mode != 0u {
            measure_normal(chord, deformed.degenerate);
        }
        if with_tangents {
            measure_tangent(decode_unit(t) - deformed.tangent);
        }
    }
    if i < params.row_texels {
        let texel = texel_of(frame, i);
        textureStore(position_uint, texel, select(vec4<u32>(0u), vec4<u32>(vec3<u32>(position), alpha), is_vertex));
        if normal_mode == 1u {
            textureStore(normal_uint, texel, select(vec4<u32>(0u), normal, is_vertex));
        }
        if with_tangents {
            textureStore(tangent_uint, texel, select(vec4<u32>(0u), tangent, is_vertex));
        }
    }
    publish(frame, lane);
}

// Floats are measured by whoever narrows and writes them; here only normals without a direction are counted.
@compute @workgroup_size(64)
fn skin_float(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = vertex_of(group, groups, lane);
    let frame = group.z;
    let is_vertex = i < params.vertex_count;
    let vertex = params.first_vertex + min(i, params.vertex_count - 1u);
    let deformed = deform(vertex, frame);
    let value = deformed.position - rest_position(vertex) * f32(params.is_offset);
    if is_vertex && normal_mode != 0u && deformed.degenerate {
        atomicAdd(&measured[4], 1u);
    }
    if i < params.row_texels {
        let texel = texel_of(frame, i);
        textureStore(position_float, texel, select(vec4<f32>(0.0), vec4<f32>(value, 1.0), is_vertex));
        if normal_mode == 1u {
            textureStore(normal_float, texel, select(vec4<f32>(0.0), vec4<f32>(deformed.normal, 1.0), is_vertex));
        }
        if with_tangents {
            textureStore(tangent_float, texel, select(vec4<f32>(0.0), vec4<f32>(deformed.tangent, 1.0), is_vertex));
        }
    }
    publish(frame, lane);
}
