// vat.wgsl stands before this
struct View { projection: mat4x4f, now: f32 }
@group(1) @binding(0) var<uniform> view: View;

// `rest` and `uv` are the vertex's POSITION and lookup UV, `clip` is the vec4 of the instance.
@vertex
fn show(@location(0) rest: vec3f, @location(1) uv: vec2f, @location(2) clip: vec4f) -> @builtin(position) vec4f {
    let pose = vat_pose(vat_bake, rest, uv, clip, view.now);
    return view.projection * vec4f(pose.position, 1.0);
}
