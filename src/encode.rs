//! Value to texel and back, for every encoding (format: "Encodings"). The kernel and the twin use the same f32 expressions.

use glam::{Vec2, Vec3};

/// Ranges below this share of the largest coordinate are rounding noise.
pub const FLAT: f32 = 1.0 / (1 << 20) as f32;
/// Counts of a position error in one step of the axis with the largest.
const COUNTS_A_STEP: f32 = 256.0;
/// Counts of a chord of normals in one step.
const COUNTS_A_NORMAL_STEP: f32 = 128.0;
/// Chord of one count where normals are octahedral with 8 bits.
const OCTAHEDRAL_COUNT: f32 = 1e-4;

/// What kernel and twin write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Texel {
    /// Four u16 a texel; 8-bit values stand in the low half.
    Uint,
    /// Four f32 a texel.
    Float,
}

impl Texel {
    /// Bytes of a texel.
    pub fn bytes(self) -> usize {
        match self {
            Self::Uint => 8,
            Self::Float => 16,
        }
    }
}

/// What becomes of normals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NormalMode {
    /// Not written.
    None,
    /// A texture of their own.
    Separate,
    /// Octahedral in the position's alpha.
    Octahedral,
}

impl NormalMode {
    /// The kernel's number for it.
    pub fn code(self) -> u32 {
        match self {
            Self::None => 0,
            Self::Separate => 1,
            Self::Octahedral => 2,
        }
    }
}

/// What is asked of an encoding, whatever the values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Form {
    /// Integers or floats.
    pub texel: Texel,
    /// Values are distances from the rest position.
    pub is_offset: bool,
    /// Largest integer of a position component: 65535 or 255.
    pub levels: f32,
    /// What becomes of normals.
    pub normals: NormalMode,
    /// Largest integer of a normal or tangent component: 65535 or 255.
    pub normal_levels: f32,
    /// Whether tangents are written.
    pub tangents: bool,
}

impl Form {
    /// What is written, one texture each.
    pub fn layers(&self) -> Vec<Layer> {
        list_layers(self.normals, self.tangents)
    }
}

fn list_layers(normals: NormalMode, tangents: bool) -> Vec<Layer> {
    let normal = (normals == NormalMode::Separate).then_some(Layer::Normal);
    [Some(Layer::Position), normal, tangents.then_some(Layer::Tangent)].into_iter().flatten().collect()
}

/// What a texture holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layer {
    /// Where a vertex is.
    Position,
    /// Its unit normal.
    Normal,
    /// Its unit tangent.
    Tangent,
}

/// How positions and directions become texels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Encoding {
    /// Integers or floats.
    pub texel: Texel,
    /// Values are distances from the rest position.
    pub is_offset: bool,
    /// Range of an axis in metres; 0 where there is none.
    pub scale: Vec3,
    /// Least value of an axis in metres.
    pub bias: Vec3,
    /// Largest integer of a position component: 65535 or 255.
    pub levels: f32,
    /// What becomes of normals.
    pub normals: NormalMode,
    /// Largest integer of a normal component: 65535 or 255.
    pub normal_levels: f32,
    /// Metres of one count of the position error.
    pub error_unit: f32,
    /// Chord of one count of the normal error.
    pub chord_unit: f32,
    /// Chord of one count of the tangent error.
    pub tangent_unit: f32,
    /// Whether tangents are written.
    pub tangents: bool,
}

impl Encoding {
    /// The encoding of values between `least` and `largest` (metres, by axis). `coordinate` is the bake's largest |coordinate|.
    pub fn new(form: Form, (least, largest): (Vec3, Vec3), coordinate: f32) -> Self {
        let Form { texel, is_offset, levels, normals, normal_levels, tangents } = form;
        let noise = coordinate * FLAT;
        let (mut scale, mut bias) = (Vec3::ZERO, Vec3::ZERO);
        for axis in 0..3 {
            let range = largest[axis] - least[axis];
            if range > noise {
                (scale[axis], bias[axis]) = (range, least[axis]);
            } else {
                bias[axis] = least[axis] + range / 2.0;
            }
        }
        // steps of the axis with the largest ones; noise where no axis has any; anything where all is 0
        let step = (scale.max_element() / levels).max(noise);
        let error_unit = if step > 0.0 { step / COUNTS_A_STEP } else { 1.0 };
        let chord_unit = match normals {
            NormalMode::Octahedral => OCTAHEDRAL_COUNT,
            _ => 2.0 / normal_levels / COUNTS_A_NORMAL_STEP,
        };
        let tangent_unit = 2.0 / normal_levels / COUNTS_A_NORMAL_STEP;
        Self { texel, is_offset, scale, bias, levels, normals, normal_levels, error_unit, chord_unit, tangent_unit, tangents }
    }

    /// What is written, one texture each.
    pub fn layers(&self) -> Vec<Layer> {
        list_layers(self.normals, self.tangents)
    }

    /// Position value to texel, 0 to `levels`.
    pub fn quantise(&self, value: Vec3) -> Vec3 {
        let flat = self.scale.cmpeq(Vec3::ZERO);
        let scale = Vec3::select(flat, Vec3::ONE, self.scale);
        let texel = (((value - self.bias) / scale).clamp(Vec3::ZERO, Vec3::ONE) * self.levels + 0.5).floor();
        Vec3::select(flat, Vec3::ZERO, texel)
    }

    /// Texel to position value.
    pub fn decode(&self, texel: Vec3) -> Vec3 {
        texel / self.levels * self.scale + self.bias
    }
}

/// Unit normal to texel, 0 to `levels`.
pub fn quantise_normal(normal: Vec3, levels: f32) -> Vec3 {
    ((normal * 0.5 + 0.5).clamp(Vec3::ZERO, Vec3::ONE) * levels + 0.5).floor()
}

/// Texel to unit normal.
pub fn decode_normal(texel: Vec3, levels: f32) -> Vec3 {
    (texel / levels * 2.0 - 1.0).normalize_or(Vec3::Z)
}

/// -1 or 1; 1 for 0, unlike `signum` for -0.
fn side(v: Vec2) -> Vec2 {
    Vec2::select(v.cmpge(Vec2::ZERO), Vec2::ONE, Vec2::NEG_ONE)
}

/// Octahedral projection, unorm8 a component (Cigolle et al. 2014): x in the low byte, y in the high one.
pub fn encode_octahedral(n: Vec3) -> u16 {
    let p = n.truncate() / (n.x.abs() + n.y.abs() + n.z.abs());
    let e = if n.z < 0.0 { (1.0 - Vec2::new(p.y, p.x).abs()) * side(p) } else { p };
    let q = ((e * 0.5 + 0.5).clamp(Vec2::ZERO, Vec2::ONE) * 255.0 + 0.5).floor();
    q.x as u16 | (q.y as u16) << 8
}

/// The unit normal of an octahedral texel.
pub fn decode_octahedral(texel: u16) -> Vec3 {
    let e = Vec2::new(f32::from(texel & 255), f32::from(texel >> 8)) / 255.0 * 2.0 - 1.0;
    let z = 1.0 - e.x.abs() - e.y.abs();
    let p = if z < 0.0 { (1.0 - Vec2::new(e.y, e.x).abs()) * side(e) } else { e };
    p.extend(z).normalize_or(Vec3::Z)
}

/// Angle in degrees between two unit vectors whose ends are `chord` apart.
pub fn chord_degrees(chord: f64) -> f64 {
    2.0 * (chord / 2.0).min(1.0).asin().to_degrees()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 16-bit offsets alone.
    const POSITIONS: Form =
        Form { texel: Texel::Uint, is_offset: true, levels: 65535.0, normals: NormalMode::None, normal_levels: 65535.0, tangents: false };

    fn directions() -> impl Iterator<Item = Vec3> {
        // Fibonacci sphere
        (0..10_000).map(|k| {
            let z: f32 = 1.0 - 2.0 * (k as f32 + 0.5) / 10_000.0;
            let turn = k as f32 * 2.399_963_2;
            let r = (1.0 - z * z).sqrt();
            Vec3::new(r * turn.cos(), r * turn.sin(), z)
        })
    }

    fn worst(decode: impl Fn(Vec3) -> Vec3) -> f64 {
        let chord = |n: Vec3| f64::from(decode(n).distance(n));
        chord_degrees(directions().chain([Vec3::NEG_Z, Vec3::NEG_X, Vec3::Y, Vec3::new(0.0, -0.6, -0.8)]).map(chord).fold(0.0, f64::max))
    }

    #[test]
    fn worst_angles_of_normal_encodings() {
        let sixteen = worst(|n| decode_normal(quantise_normal(n, 65535.0), 65535.0));
        let eight = worst(|n| decode_normal(quantise_normal(n, 255.0), 255.0));
        let octahedral = worst(|n| decode_octahedral(encode_octahedral(n)));
        assert!(sixteen < 0.0016 && sixteen > 0.0008, "{sixteen}");
        assert!(eight < 0.39 && eight > 0.2, "{eight}");
        assert!(octahedral < 0.96 && octahedral > 0.3, "{octahedral}");
    }

    #[test]
    fn a_texel_is_at_most_half_a_step_off_and_ends_are_exact() {
        let range = (Vec3::new(-1.0, 0.5, 2.0), Vec3::new(3.0, 0.5, 2.5));
        let e = Encoding::new(POSITIONS, range, 3.0);
        assert_eq!((e.scale.y, e.bias.y), (0.0, 0.5));
        assert_eq!(e.quantise(range.0), Vec3::ZERO);
        assert_eq!(e.quantise(range.1), Vec3::new(65535.0, 0.0, 65535.0));
        for k in 0..=1000 {
            let value = range.0.lerp(range.1, k as f32 / 1000.0);
            let error = (e.decode(e.quantise(value)) - value).abs();
            assert!(error.x <= 4.0 / 65535.0 * 0.501 && error.z <= 0.5 / 65535.0 * 0.501 && error.y == 0.0, "{error}");
        }
    }

    #[test]
    fn noise_is_no_range() {
        let range = (Vec3::splat(100.0), Vec3::new(100.0001, 100.00005, 101.0));
        let e = Encoding::new(Form { is_offset: false, ..POSITIONS }, range, 101.0);
        assert_eq!((e.scale.x > 0.0, e.scale.y), (true, 0.0));
        assert!((e.bias.y - 100.000_02).abs() < 1e-5);
    }
}
