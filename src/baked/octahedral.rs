//! Normals in 16 bits of alpha (Cigolle et al. 2014, "A Survey of Efficient Representations for Independent Unit Vectors").

use glam::DVec3;

/// Low byte x, high byte y, each 0..255 for -1..1.
pub(super) fn decode(alpha: u16) -> DVec3 {
    let [x, y] = alpha.to_le_bytes().map(|byte| f64::from(byte) / 255.0 * 2.0 - 1.0);
    let z = 1.0 - x.abs() - y.abs();
    let fold = |a: f64, b: f64| (1.0 - b.abs()).copysign(a);
    let value = if z < 0.0 { DVec3::new(fold(x, y), fold(y, x), z) } else { DVec3::new(x, y, z) };
    value.normalize_or_zero()
}
