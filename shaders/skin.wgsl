// Pass 2: texels. One invocation is one vertex of one frame: deform, quantise, write, measure. Two entry points: unsigned
// integers for PNG (8 bits stand in the low half), 32-bit floats for EXR. Both formats are core everywhere and exactly rounded.

@group(0) @binding(9) var position_uint: texture_storage_2d<rgba16uint, write>;
@group(0) @binding(10) var normal_uint: texture_storage_2d<rgba16uint, write>;
@group(0) @binding(11) var position_float: texture_storage_2d<rgba32float, write>;
@group(0) @binding(12) var normal_float: texture_storage_2d<rgba32float, write>;

// A row's results: 0-2 sums of squared counts of the position error by axis, 3 of the normal's chord, 4 the largest squared
// position error as bits, 5 the largest squared chord as bits, 6 normals without a direction.
const RESULTS: u32 = 7u;
const RESULT_STRIDE: u32 = 8u;
// Counts stop here: 255 * 255 * 32768 texels still fit 32 bits.
const MOST_COUNTS: f32 = 255.0;

var<workgroup> measured: array<atomic<u32>, 7>;

// floor(clamp((value - bias) / scale, 0, 1) * levels + 0.5); 0 on an axis without range.
fn quantise(value: vec3<f32>) -> vec3<f32> {
    let flat_axis = params.scale.xyz == vec3<f32>(0.0);
    let scale = select(params.scale.xyz, vec3<f32>(1.0), flat_axis);
    let texel = floor(clamp((value - params.bias.xyz) / scale, vec3<f32>(0.0), vec3<f32>(1.0)) * params.scale.w + 0.5);
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

fn squared_counts(error: f32, unit: f32) -> u32 {
    let counts = u32(min(abs(error) / unit + 0.5, MOST_COUNTS));
    return counts * counts;
}

fn publish(frame: u32, lane: u32) {
    workgroupBarrier();
    let slot = frame * RESULT_STRIDE + lane;
    if lane < 4u || lane == 6u {
        atomicAdd(&results[slot], atomicLoad(&measured[lane]));
    } else if lane < RESULTS {
        atomicMax(&results[slot], atomicLoad(&measured[lane]));
    }
}

@compute @workgroup_size(64)
fn skin_uint(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = vertex_of(group, groups, lane);
    let frame = group.z;
    if i < params.vertex_count {
        let vertex = params.first_vertex + i;
        let deformed = deform(vertex, frame);
        let at_rest = rest_position(vertex) * f32(params.is_offset);
        let texel = quantise(deformed.position - at_rest);
        let decoded = at_rest + (texel / params.scale.w * params.scale.xyz + params.bias.xyz);
        let error = decoded - deformed.position;
        atomicAdd(&measured[0], squared_counts(error.x, params.error_unit.x));
        atomicAdd(&measured[1], squared_counts(error.y, params.error_unit.y));
        atomicAdd(&measured[2], squared_counts(error.z, params.error_unit.z));
        atomicMax(&measured[4], bitcast<u32>(dot(error, error)));
        var alpha = u32(params.scale.w);
        if params.normal_mode != 0u {
            var seen: vec3<f32>;
            if params.normal_mode == 1u {
                let levels = params.bias.w;
                let n = floor(clamp(deformed.normal * 0.5 + 0.5, vec3<f32>(0.0), vec3<f32>(1.0)) * levels + 0.5);
                seen = normalize(n / levels * 2.0 - 1.0);
                textureStore(normal_uint, texel_of(frame, i), vec4<u32>(vec3<u32>(n), u32(levels)));
            } else {
                let e = encode_octahedral(deformed.normal);
                seen = decode_octahedral(e);
                alpha = e.x | (e.y << 8u);
            }
            let chord = seen - deformed.normal;
            atomicAdd(&measured[3], squared_counts(length(chord), params.error_unit.w));
            atomicMax(&measured[5], bitcast<u32>(dot(chord, chord)));
            atomicAdd(&measured[6], u32(deformed.degenerate));
        }
        textureStore(position_uint, texel_of(frame, i), vec4<u32>(vec3<u32>(texel), alpha));
    } else if i < params.row_texels {
        textureStore(position_uint, texel_of(frame, i), vec4<u32>(0u));
        if params.normal_mode == 1u {
            textureStore(normal_uint, texel_of(frame, i), vec4<u32>(0u));
        }
    }
    publish(frame, lane);
}

@compute @workgroup_size(64)
fn skin_float(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = vertex_of(group, groups, lane);
    let frame = group.z;
    if i < params.vertex_count {
        let vertex = params.first_vertex + i;
        let deformed = deform(vertex, frame);
        let value = deformed.position - rest_position(vertex) * f32(params.is_offset);
        textureStore(position_float, texel_of(frame, i), vec4<f32>(value, 1.0));
        if params.normal_mode == 1u {
            textureStore(normal_float, texel_of(frame, i), vec4<f32>(deformed.normal, 1.0));
            atomicAdd(&measured[6], u32(deformed.degenerate));
        }
    } else if i < params.row_texels {
        textureStore(position_float, texel_of(frame, i), vec4<f32>(0.0));
        if params.normal_mode == 1u {
            textureStore(normal_float, texel_of(frame, i), vec4<f32>(0.0));
        }
    }
    publish(frame, lane);
}
