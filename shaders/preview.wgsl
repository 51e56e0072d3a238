// Draws a bake at one moment, for `vatbake preview`. The playback code stands before it, its fetch adapted to the bake's textures:
// what the picture shows went through the functions that users get.

// What colours a surface.
const SHADED = 0u;   // material under three lights
const NORMALS = 1u;  // the normal, 0 to 1 for -1 to 1
const COLOURS = 2u;  // the vertex's colour, a little shaded
const CLAY = 3u;     // one pale colour, behind lines

struct View {
    projection: mat4x4f,  // from glTF's axes and metres to the picture
    to_gltf: mat3x3f,     // from the texels' axes and unit to glTF's
    clip: vec4f,          // as vat_frames takes it
    eye: vec3f,           // glTF's axes, as all that follows
    now: f32,
    key: vec3f,           // towards the first light
    ground: f32,          // height of the plane that catches the shadow
    fall: vec3f,          // towards the light that casts the shadow: steeper, so that it stays in the picture
    padding: f32,
    fill: vec3f,
    colouring: u32,       // one of the constants above
    rim: vec3f,
    has_normals: u32,     // 0: each triangle has its own
}

struct Material {
    base: vec4f,
    cutoff: f32,      // of masks; 0 for the others
    blends: u32,      // 1: alpha is coverage
    is_two_sided: u32,
    has_picture: u32,
}

@group(1) @binding(0) var<uniform> view: View;
@group(2) @binding(0) var<uniform> material: Material;
@group(2) @binding(1) var picture: texture_2d<f32>;
@group(2) @binding(2) var picture_sampler: sampler;

struct Corner {
    @location(0) rest: vec3f,    // POSITION in the texels' axes and unit
    @location(1) lookup: vec2f,
    @location(2) uv: vec2f,
    @location(3) colour: vec4f,
}

struct Surface {
    @builtin(position) place: vec4f,
    @location(0) position: vec3f,
    @location(1) normal: vec3f,
    @location(2) uv: vec2f,
    @location(3) colour: vec3f,
}

@vertex
fn show_model(corner: Corner) -> Surface {
    let pose = vat_pose(vat_bake, corner.rest, corner.lookup, view.clip, view.now);
    let position = view.to_gltf * pose.position;
    return Surface(
        view.projection * vec4f(position, 1.0),
        position,
        view.to_gltf * pose.normal,
        corner.uv,
        to_linear(corner.colour.rgb),
    );
}

// The model flattened onto the ground.
@vertex
fn show_shadow(corner: Corner) -> Surface {
    let pose = vat_pose(vat_bake, corner.rest, corner.lookup, view.clip, view.now);
    let position = view.to_gltf * pose.position;
    let fallen = position - view.fall * ((position.y - view.ground) / view.fall.y);
    return Surface(view.projection * vec4f(fallen, 1.0), fallen, vec3f(0.0, 1.0, 0.0), corner.uv, vec3f(0.0));
}

fn to_linear(c: vec3f) -> vec3f {
    return select(pow((c + 0.055) / 1.055, vec3f(2.4)), c / 12.92, c <= vec3f(0.04045));
}

fn base_colour(uv: vec2f) -> vec4f {
    let texel = textureSample(picture, picture_sampler, uv);
    return material.base * select(vec4f(1.0), texel, material.has_picture == 1u);
}

// Linear light that a surface sends to the eye.
fn colour_of(surface: Surface, is_front: bool, albedo: vec3f, own: vec3f) -> vec3f {
    let to_eye = normalize(view.eye - surface.position);
    var normal = own;
    if view.has_normals == 1u {
        normal = vat_unit(surface.normal);
        // the back of a two-sided surface is lit as it is seen
        if material.is_two_sided == 1u && !is_front {
            normal = -normal;
        }
    }
    if view.colouring == NORMALS {
        return to_linear(normal * 0.5 + 0.5);
    }
    let facing = max(dot(normal, to_eye), 0.0);
    if view.colouring == COLOURS {
        return surface.colour * (0.55 + 0.45 * facing);
    }
    var diffuse = albedo;
    if view.colouring == CLAY {
        diffuse = vec3f(0.55);
    }
    // light wraps a little around the edge, sky is brighter than ground
    let key = max(dot(normal, view.key) * 0.85 + 0.15, 0.0);
    let fill = max(dot(normal, view.fill), 0.0);
    let sky = mix(vec3f(0.20, 0.19, 0.20), vec3f(0.36, 0.38, 0.42), normal.y * 0.5 + 0.5);
    let light = sky + key * vec3f(0.80, 0.77, 0.72) + fill * vec3f(0.14, 0.16, 0.19);
    let edge = pow(1.0 - facing, 3.0) * max(dot(normal, view.rim), 0.0);
    let halfway = normalize(view.key + to_eye);
    let gloss = pow(max(dot(normal, halfway), 0.0), 40.0) * 0.05;
    return diffuse * light + vec3f(edge * 0.35 + gloss);
}

// The side of a triangle that is seen.
fn face_normal(position: vec3f) -> vec3f {
    let normal = vat_unit(cross(dpdy(position), dpdx(position)));
    return select(normal, -normal, dot(normal, view.eye - position) < 0.0);
}

// Alpha from here on is opaque: exporters mark materials as blended that hardly are, and those would show their own back.
const SOLID = 0.95;

// What hides what is behind it.
@fragment
fn paint_solid(surface: Surface, @builtin(front_facing) is_front: bool) -> @location(0) vec4f {
    let base = base_colour(surface.uv);
    let own = face_normal(surface.position);
    var least = material.cutoff;
    if material.blends == 1u {
        least = select(0.05, SOLID, view.colouring == SHADED);
    }
    if base.a < least {
        discard;
    }
    return vec4f(colour_of(surface, is_front, base.rgb, own), 1.0);
}

// The rest of a blended material, over what is there.
@fragment
fn paint_clear(surface: Surface, @builtin(front_facing) is_front: bool) -> @location(0) vec4f {
    let base = base_colour(surface.uv);
    let own = face_normal(surface.position);
    if base.a >= SOLID || view.colouring != SHADED {
        discard;
    }
    return vec4f(colour_of(surface, is_front, base.rgb, own) * base.a, base.a);
}

@fragment
fn paint_shadow(surface: Surface) -> @location(0) vec4f {
    let base = base_colour(surface.uv);
    if base.a < max(material.cutoff, 0.05) {
        discard;
    }
    return vec4f(0.0, 0.0, 0.0, 1.0);
}
