// The vertex shader of Bevy's meshes with a vertex animation texture of vatbake in it: the main pass, shadows and the prepasses of
// depth, normals, motion vectors and deferred shading. Fragments stay those of StandardMaterial. Written by vatbake; the same for
// every bake. What is read and decoded stands in vat_playback.wgsl.

#import bevy_pbr::{
    mesh_functions,
    view_transformations::position_world_to_clip,
}
#import bevy_render::globals::Globals
#import vatbake::playback::{vat_material, vat_slot, vat_slot_pose, vat_slot_tangent}

#ifdef PREPASS_PIPELINE
#import bevy_pbr::prepass_io::{Vertex, VertexOutput}
@group(0) @binding(1) var<uniform> globals: Globals;
#else
#import bevy_pbr::forward_io::{Vertex, VertexOutput}
@group(0) @binding(11) var<uniform> globals: Globals;
#endif

@vertex
fn vertex(in: Vertex) -> VertexOutput {
    var out: VertexOutput;
    let instance = in.instance_index;
    let world_from_local = mesh_functions::get_world_from_local(instance);
    let slot = vat_slot(mesh_functions::get_tag(instance));
    let pose = vat_slot_pose(slot, in.position, in.uv_b, globals.time);

    out.world_position = mesh_functions::mesh_position_local_to_world(world_from_local, vec4<f32>(pose.position, 1.0));
    out.position = position_world_to_clip(out.world_position.xyz);
#ifdef UNCLIPPED_DEPTH_ORTHO_EMULATION
    out.unclipped_depth = out.position.z;
    out.position.z = min(out.position.z, 1.0);
#endif

    // Not defined in passes of depth alone, as for shadows.
#ifdef VERTEX_NORMALS
    let normal = select(in.normal, pose.normal, vat_material.has_normals != 0u);
    out.world_normal = mesh_functions::mesh_normal_local_to_world(normal, instance);
#ifdef VERTEX_TANGENTS
    let tangent = vat_slot_tangent(slot, in.tangent, normal, in.uv_b, globals.time);
    out.world_tangent = mesh_functions::mesh_tangent_local_to_world(world_from_local, tangent, instance);
#endif
#endif

#ifdef VERTEX_UVS_A
    out.uv = in.uv;
#endif
#ifdef VERTEX_UVS_B
    out.uv_b = in.uv_b;
#endif
#ifdef VERTEX_COLORS
    out.color = in.color;
#endif

    // Where the vertex was in the previous frame, by the clip that the instance plays now. The main pass knows of motion vectors
    // too, but writes none.
#ifdef PREPASS_PIPELINE
#ifdef MOTION_VECTOR_PREPASS
    let before = vat_slot_pose(slot, in.position, in.uv_b, globals.time - globals.delta_time);
    out.previous_world_position = mesh_functions::mesh_position_local_to_world(
        mesh_functions::get_previous_world_from_local(instance),
        vec4<f32>(before.position, 1.0),
    );
#endif
#endif

#ifdef VERTEX_OUTPUT_INSTANCE_INDEX
    out.instance_index = instance;
#endif
#ifdef VISIBILITY_RANGE_DITHER
    out.visibility_range_dither = mesh_functions::get_visibility_range_dither_level(instance, world_from_local[3]);
#endif

    return out;
}
