// What stands in for Bevy in the tests of its kit: the parts of bevy_pbr that vat_material.wgsl imports, by the names that the
// test's preprocessor gives them. Structures and signatures are those of Bevy 0.16 to 0.19, the same in all; the world is where the model is.
struct Globals {
    time: f32,
    delta_time: f32,
    frame_count: u32,
}

struct Vertex {
    @builtin(instance_index) instance_index: u32,
    @location(0) position: vec3<f32>,
#ifdef VERTEX_NORMALS
    @location(1) normal: vec3<f32>,
#endif
#ifdef VERTEX_UVS_A
    @location(2) uv: vec2<f32>,
#endif
#ifdef VERTEX_UVS_B
    @location(3) uv_b: vec2<f32>,
#endif
#ifdef VERTEX_TANGENTS
    @location(4) tangent: vec4<f32>,
#endif
#ifdef VERTEX_COLORS
    @location(5) color: vec4<f32>,
#endif
}

struct VertexOutput {
    @builtin(position) position: vec4<f32>,
    @location(0) world_position: vec4<f32>,
#ifdef PREPASS_PIPELINE
#ifdef NORMAL_PREPASS_OR_DEFERRED_PREPASS
    @location(1) world_normal: vec3<f32>,
#endif
#else
    @location(1) world_normal: vec3<f32>,
#endif
#ifdef VERTEX_UVS_A
    @location(2) uv: vec2<f32>,
#endif
#ifdef VERTEX_UVS_B
    @location(3) uv_b: vec2<f32>,
#endif
#ifdef VERTEX_TANGENTS
    @location(4) world_tangent: vec4<f32>,
#endif
#ifdef VERTEX_COLORS
    @location(5) color: vec4<f32>,
#endif
#ifdef VERTEX_OUTPUT_INSTANCE_INDEX
    @location(6) @interpolate(flat) instance_index: u32,
#endif
#ifdef VISIBILITY_RANGE_DITHER
    @location(7) @interpolate(flat) visibility_range_dither: i32,
#endif
#ifdef PREPASS_PIPELINE
#ifdef MOTION_VECTOR_PREPASS
    @location(8) previous_world_position: vec4<f32>,
#endif
#ifdef UNCLIPPED_DEPTH_ORTHO_EMULATION
    @location(9) unclipped_depth: f32,
#endif
#endif
}

const IDENTITY = mat4x4<f32>(1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0);

fn position_world_to_clip(position: vec3<f32>) -> vec4<f32> {
    return vec4<f32>(position, 1.0);
}
fn mesh_functions_get_world_from_local(instance: u32) -> mat4x4<f32> {
    return IDENTITY;
}
fn mesh_functions_get_previous_world_from_local(instance: u32) -> mat4x4<f32> {
    return IDENTITY;
}
fn mesh_functions_get_tag(instance: u32) -> u32 {
    return instance;
}
fn mesh_functions_mesh_position_local_to_world(world: mat4x4<f32>, position: vec4<f32>) -> vec4<f32> {
    return world * position;
}
fn mesh_functions_mesh_normal_local_to_world(normal: vec3<f32>, instance: u32) -> vec3<f32> {
    return normal;
}
fn mesh_functions_mesh_tangent_local_to_world(world: mat4x4<f32>, tangent: vec4<f32>, instance: u32) -> vec4<f32> {
    return vec4<f32>((world * vec4<f32>(tangent.xyz, 0.0)).xyz, tangent.w);
}
fn mesh_functions_get_visibility_range_dither_level(instance: u32, world: vec4<f32>) -> i32 {
    return 0;
}
