// Pass 1: ranges. One invocation carries one vertex through a run of frames of one clip in registers; a workgroup reduces by
// atomics in its own memory and adds thirteen to the clip's. Pose 0 of the run is the clip's first, the run itself follows.
//
// Slots: 0-2 largest position, 3-5 least, 6-8 largest offset from the rest position, 9-11 least, 12 largest squared distance from
// the clip's first pose. All are maxima of unsigned numbers that order as the floats do; a least value is kept as its complement.

const SLOTS: u32 = 13u;
const SLOT_STRIDE: u32 = 16u;

var<workgroup> reduced: array<atomic<u32>, 13>;

fn ordered(value: f32) -> u32 {
    let bits = bitcast<u32>(value);
    return select(bits | 0x80000000u, ~bits, (bits & 0x80000000u) != 0u);
}

fn reduce_range(slot: u32, least: vec3<f32>, largest: vec3<f32>) {
    atomicMax(&reduced[slot], ordered(largest.x));
    atomicMax(&reduced[slot + 1u], ordered(largest.y));
    atomicMax(&reduced[slot + 2u], ordered(largest.z));
    atomicMax(&reduced[slot + 3u], ~ordered(least.x));
    atomicMax(&reduced[slot + 4u], ~ordered(least.y));
    atomicMax(&reduced[slot + 5u], ~ordered(least.z));
}

@compute @workgroup_size(64)
fn bounds(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = vertex_of(group, groups, lane);
    if i < params.vertex_count {
        let vertex = params.first_vertex + i;
        let at_rest = rest_position(vertex);
        let first = deform_position(vertex, 0u);
        var least = deform_position(vertex, 1u);
        var largest = least;
        var least_offset = least - at_rest;
        var largest_offset = least_offset;
        var moved = dot(least - first, least - first);
        for (var f = 1u; f < params.frame_count; f++) {
            let position = deform_position(vertex, f + 1u);
            let offset = position - at_rest;
            least = min(least, position);
            largest = max(largest, position);
            least_offset = min(least_offset, offset);
            largest_offset = max(largest_offset, offset);
            moved = max(moved, dot(position - first, position - first));
        }
        reduce_range(0u, least, largest);
        reduce_range(6u, least_offset, largest_offset);
        atomicMax(&reduced[12], ordered(moved));
    }
    workgroupBarrier();
    if lane < SLOTS {
        atomicMax(&results[params.slot * SLOT_STRIDE + lane], atomicLoad(&reduced[lane]));
    }
}
