use vatbake::output::sidecar::{Clip, Loop, Sidecar};

/// Where a vertex is, `seconds` after a clip began. `rest` and `uv` are its POSITION and lookup UV in the GLB, `texels` the
/// position texture as 16-bit integers, row by row.
fn position(bake: &Sidecar, clip: &Clip, texels: &[[u16; 4]], rest: [f32; 3], uv: [f32; 2], seconds: f32) -> [f32; 3] {
    // Which vertex this is.
    let lookup = bake.mesh.lookup;
    let vertex = (uv[0] * lookup.lanes as f32) as u32 + lookup.lanes * (uv[1] * lookup.groups as f32) as u32;
    // Which two frames of the clip, and how far between them.
    let intervals = (clip.frame_count - 1) as f32;
    let x = seconds * clip.fps;
    let x = if clip.looping == Loop::Once { x.clamp(0.0, intervals) } else { x.rem_euclid(intervals.max(1.0)) };
    let f0 = x.floor().min((intervals - 1.0).max(0.0));
    let f1 = (f0 + 1.0).min(intervals);
    // Which texels, and what they say.
    let texel = |frame: f32| {
        let row = vertex / bake.layout.width * bake.frame_count + clip.first_frame + frame as u32;
        texels[(row * bake.layout.width + vertex % bake.layout.width) as usize].map(f32::from)
    };
    let (a, b) = (texel(f0), texel(f1));
    let (scale, bias) = (bake.textures[0].scale.unwrap_or_default(), bake.textures[0].bias.unwrap_or_default());
    [0, 1, 2].map(|k| {
        let blended = a[k] + (b[k] - a[k]) * (x - f0);
        rest[k] + blended / 65535.0 * scale[k] + bias[k]
    })
}
