// Runs the kit's vertex function on buffers: texels as Bevy's importer leaves them, vertices as its mesh holds them.
@group(0) @binding(0) var<storage, read> check_material: array<vec4f>;
@group(0) @binding(1) var<storage, read> check_positions: array<vec4f>;
@group(0) @binding(2) var<storage, read> check_normals: array<vec4f>;
@group(0) @binding(3) var<storage, read> check_tangents: array<vec4f>;
@group(0) @binding(4) var<storage, read> check_slots: array<vec4f>;
@group(0) @binding(5) var<storage, read> check_vertices: array<vec4f>;
@group(0) @binding(6) var<storage, read_write> check_results: array<vec4f>;

// In the place of what a material binds.
var<private> vat_material: VatMaterial;
var<private> globals: Globals;
var<private> vat_slots: array<VatSlot, 64>;

fn check_load(buffer: u32, at: vec2u) -> vec4f {
    let i = at.y * vat_material.bake.width + at.x;
    if buffer == 0u {
        return check_positions[i];
    }
    if buffer == 1u {
        return check_normals[i];
    }
    return check_tangents[i];
}

@compute @workgroup_size(64)
fn check(@builtin(global_invocation_id) id: vec3u) {
    let i = id.x;
    if i * 4u >= arrayLength(&check_vertices) {
        return;
    }
    let codes = vec4u(check_material[2]);
    let flags = vec4u(check_material[3]);
    let scale = check_material[0];
    let bias = check_material[1];
    let bake = VatBake(scale.xyz, u32(scale.w), bias.xyz, u32(bias.w), codes.x, codes.y, codes.z, codes.w);
    vat_material = VatMaterial(bake, flags.x, flags.y, flags.z, flags.w);
    for (var k = 0u; k < arrayLength(&check_slots) / 3u; k++) {
        vat_slots[k] = VatSlot(check_slots[3u * k], check_slots[3u * k + 1u], check_slots[3u * k + 2u]);
    }
    let place = check_vertices[i * 4u];
    let lookup = check_vertices[i * 4u + 1u];
    globals = Globals(place.w, lookup.z, 0u);
    let made = vertex(Vertex(u32(lookup.w), place.xyz, check_vertices[i * 4u + 2u].xyz, lookup.xy, check_vertices[i * 4u + 3u]));
    check_results[i * 4u] = made.world_position;
    check_results[i * 4u + 1u] = vec4f(made.world_normal, 0.0);
    check_results[i * 4u + 2u] = made.world_tangent;
    check_results[i * 4u + 3u] = made.previous_world_position;
}
