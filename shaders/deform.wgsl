// The deformation of one vertex in one frame: morph targets, then skinning, then the normal (glTF 2.0, 3.7.2.2 and 3.7.3.2).
// Put before skin.wgsl and bounds.wgsl; src/skin/cpu.rs is its twin, function by function.

// What the mesh has; what it lacks is not compiled. A loop costs its body once even where no lane enters it.
override has_morphs: bool = true;
override has_faces: bool = true;
override has_more_sets: bool = true;
// Whether tangents are wanted.
override with_tangents: bool = true;

struct Vertex {
    px: f32, py: f32, pz: f32,
    first_set: u32,
    nx: f32, ny: f32, nz: f32,
    sets: u32,
    first_morph: u32,
    morph_count: u32,
    first_face: u32,
    face_count: u32,
    tx: f32, ty: f32, tz: f32,
    padding: u32,
}

struct Influence {
    joints: vec4<u32>,
    weights: vec4<f32>,
}

struct Morph {
    px: f32, py: f32, pz: f32,
    weight: u32,
    nx: f32, ny: f32, nz: f32,
    padding: u32,
    tx: f32, ty: f32, tz: f32,
    padding_2: u32,
}

struct Params {
    scale: vec4<f32>,       // xyz: range of an axis, metres
    bias: vec4<f32>,        // xyz: least value of an axis, metres
    levels: f32,            // largest integer of a position component
    normal_levels: f32,     // largest integer of a normal component
    error_unit: f32,        // metres a count of the position error
    chord_unit: f32,        // chord a count of the normal error
    palette_len: u32,       // matrices a frame
    weight_count: u32,      // morph weights a frame
    first_vertex: u32,      // of the run, over the whole bake
    vertex_count: u32,      // vertices of the run
    row_texels: u32,        // texels a row of the run, padding included
    frame_count: u32,       // frames of the run
    frame_stride: u32,      // texel address = frame * frame_stride + vertex * vertex_stride
    vertex_stride: u32,
    texture_width: u32,     // folds the address into the storage texture
    is_offset: u32,         // 1: values are distances from the rest position
    slot: u32,              // bounds: which clip's ranges
    tangent_unit: f32,      // chord a count of the tangent error
}

@group(0) @binding(0) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(1) var<storage, read> influences: array<Influence>;
@group(0) @binding(2) var<storage, read> morphs: array<Morph>;
@group(0) @binding(3) var<storage, read> faces: array<u32>;
@group(0) @binding(4) var<storage, read> palettes: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read> weights: array<f32>;
@group(0) @binding(6) var<storage, read> rest: array<f32>;
@group(0) @binding(7) var<storage, read_write> results: array<atomic<u32>>;
@group(0) @binding(8) var<uniform> params: Params;

struct Matrix {
    x: vec4<f32>,
    y: vec4<f32>,
    z: vec4<f32>,
}

struct Shape {
    position: vec3<f32>,
    normal: vec3<f32>,
    tangent: vec3<f32>,
}

struct Deformed {
    position: vec3<f32>,
    normal: vec3<f32>,
    tangent: vec3<f32>,
    degenerate: bool,
}

fn add_influence(m: ptr<function, Matrix>, matrix: u32, weight: f32) {
    let row = matrix * 3u;
    (*m).x += palettes[row] * weight;
    (*m).y += palettes[row + 1u] * weight;
    (*m).z += palettes[row + 2u] * weight;
}

// Adds the four influences of a set, unrolled by hand. They are sorted by weight: where the second is 0, so are the rest.
fn add_influences(m: ptr<function, Matrix>, index: u32, base: u32) {
    let four = influences[index];
    add_influence(m, base + four.joints.x, four.weights.x);
    if four.weights.y > 0.0 {
        add_influence(m, base + four.joints.y, four.weights.y);
        if four.weights.z > 0.0 {
            add_influence(m, base + four.joints.z, four.weights.z);
            add_influence(m, base + four.joints.w, four.weights.w);
        }
    }
}

// Weighted sum of the palette's matrices.
fn blend_matrix(v: Vertex, frame: u32) -> Matrix {
    let base = frame * params.palette_len;
    var m = Matrix(vec4<f32>(0.0), vec4<f32>(0.0), vec4<f32>(0.0));
    add_influences(&m, v.first_set, base);
    if has_more_sets {
        for (var s = 1u; s < v.sets; s++) {
            add_influences(&m, v.first_set + s, base);
        }
    }
    return m;
}

// Position, normal and tangent before the skin.
fn morph_shape(v: Vertex, frame: u32) -> Shape {
    var position = vec3<f32>(v.px, v.py, v.pz);
    var normal = vec3<f32>(v.nx, v.ny, v.nz);
    var tangent = vec3<f32>(v.tx, v.ty, v.tz);
    if has_morphs {
        let base = frame * params.weight_count;
        for (var m = v.first_morph; m < v.first_morph + v.morph_count; m++) {
            let morph = morphs[m];
            let weight = weights[base + morph.weight];
            position += vec3<f32>(morph.px, morph.py, morph.pz) * weight;
            normal += vec3<f32>(morph.nx, morph.ny, morph.nz) * weight;
            if with_tangents {
                tangent += vec3<f32>(morph.tx, morph.ty, morph.tz) * weight;
            }
        }
    }
    return Shape(position, normal, tangent);
}

fn transform_point(m: Matrix, p: vec3<f32>) -> vec3<f32> {
    let q = vec4<f32>(p, 1.0);
    return vec3<f32>(dot(m.x, q), dot(m.y, q), dot(m.z, q));
}

fn deform_position(vertex: u32, frame: u32) -> vec3<f32> {
    let v = vertices[vertex];
    return transform_point(blend_matrix(v, frame), morph_shape(v, frame).position);
}

// Below this share of the squared lengths it is made of, a squared length is rounding noise.
const NO_DIRECTION: f32 = 1e-12;

// Unit normal by the cofactor matrix, which is the inverse transpose but for a factor and exists for singular matrices too.
// xyz: the normal, or zero where there is no direction.
fn transform_normal(m: Matrix, n: vec3<f32>) -> vec3<f32> {
    let x = cross(m.y.xyz, m.z.xyz);
    let y = cross(m.z.xyz, m.x.xyz);
    let z = cross(m.x.xyz, m.y.xyz);
    let side = select(1.0, -1.0, dot(m.x.xyz, x) < 0.0);
    let turned = vec3<f32>(dot(x, n), dot(y, n), dot(z, n)) * side;
    let size = (dot(x, x) + dot(y, y) + dot(z, z)) * dot(n, n);
    let square = dot(turned, turned);
    if square <= NO_DIRECTION * size {
        return vec3<f32>(0.0);
    }
    return turned * inverseSqrt(square);
}

// Unit normal of the vertex's deformed faces, weighted by area; zero where they have none.
fn face_normal(v: Vertex, frame: u32) -> vec3<f32> {
    var sum = vec3<f32>(0.0);
    var size = 0.0;
    for (var f = v.first_face; f < v.first_face + v.face_count; f++) {
        let a = deform_position(faces[3u * f], frame);
        let b = deform_position(faces[3u * f + 1u], frame) - a;
        let c = deform_position(faces[3u * f + 2u], frame) - a;
        sum += cross(b, c);
        size += dot(b, b) * dot(c, c);
    }
    let square = dot(sum, sum);
    if square <= NO_DIRECTION * size {
        return vec3<f32>(0.0);
    }
    return sum * inverseSqrt(square);
}

// Unit tangent: a direction in the surface, so the matrix itself moves it; zero where there is no direction.
fn transform_tangent(m: Matrix, t: vec3<f32>) -> vec3<f32> {
    let turned = vec3<f32>(dot(m.x.xyz, t), dot(m.y.xyz, t), dot(m.z.xyz, t));
    let size = (dot(m.x.xyz, m.x.xyz) + dot(m.y.xyz, m.y.xyz) + dot(m.z.xyz, m.z.xyz)) * dot(t, t);
    let square = dot(turned, turned);
    if square <= NO_DIRECTION * size {
        return vec3<f32>(0.0);
    }
    return turned * inverseSqrt(square);
}

fn deform(vertex: u32, frame: u32) -> Deformed {
    let v = vertices[vertex];
    let m = blend_matrix(v, frame);
    let shape = morph_shape(v, frame);
    var normal: vec3<f32>;
    if has_faces && v.face_count > 0u {
        normal = face_normal(v, frame);
    } else {
        normal = transform_normal(m, shape.normal);
    }
    let degenerate = all(normal == vec3<f32>(0.0));
    if degenerate {
        normal = vec3<f32>(v.nx, v.ny, v.nz);
    }
    var tangent = vec3<f32>(0.0);
    if with_tangents {
        tangent = transform_tangent(m, shape.tangent);
        if all(tangent == vec3<f32>(0.0)) {
            tangent = vec3<f32>(v.tx, v.ty, v.tz);
        }
    }
    return Deformed(transform_point(m, shape.position), normal, tangent, degenerate);
}

fn rest_position(vertex: u32) -> vec3<f32> {
    return vec3<f32>(rest[3u * vertex], rest[3u * vertex + 1u], rest[3u * vertex + 2u]);
}

// The vertex of an invocation: groups fill x, then y.
fn vertex_of(group: vec3<u32>, groups: vec3<u32>, lane: u32) -> u32 {
    return (group.y * groups.x + group.x) * 64u + lane;
}
