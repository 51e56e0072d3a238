//! Which change of axes, unit and origin brings one set of points to another.

use glam::{DMat3, DVec3};

use super::NEAR;

/// Factors that tools put on lengths: metres, centimetres, millimetres, inches, feet.
const FACTORS: [f64; 9] = [1.0, 100.0, 0.01, 1000.0, 0.001, 1.0 / 0.0254, 0.0254, 1.0 / 0.3048, 0.3048];

/// How the file's positions come from the bake's.
#[derive(Debug, Clone, Copy)]
pub(super) struct Alignment {
    pub(super) axes: DMat3,
    pub(super) factor: f64,
    pub(super) shift: DVec3,
    /// Share of the vertices that are near.
    pub(super) share: f64,
}

impl Alignment {
    pub(super) fn apply(&self, rest: DVec3) -> DVec3 {
        self.axes * rest * self.factor + self.shift
    }
}

/// The change of axes, unit and origin that brings most of the pairs together.
pub(super) fn align(pairs: &[(DVec3, DVec3)], tried: usize, size: f64) -> Option<Alignment> {
    if pairs.is_empty() {
        return None;
    }
    let count = pairs.len() as f64;
    let (from, to) = pairs.iter().fold((DVec3::ZERO, DVec3::ZERO), |(a, b), (r, p)| (a + *r / count, b + *p / count));
    let spread = |of: &dyn Fn(&(DVec3, DVec3)) -> f64| (pairs.iter().map(of).sum::<f64>() / count).sqrt();
    let guess = spread(&|(_, p)| p.distance_squared(to)) / spread(&|(r, _)| r.distance_squared(from)).max(f64::MIN_POSITIVE);
    let factors = FACTORS.into_iter().chain([guess]).filter(|f| (1e-6..1e6).contains(f));
    let near = |a: &Alignment| {
        let limit = NEAR * size.max(f64::MIN_POSITIVE) * a.factor;
        pairs.iter().filter(|(r, p)| a.apply(*r).distance(*p) <= limit).count() as f64 / tried as f64
    };
    let mut best: Option<Alignment> = None;
    for factor in factors {
        for axes in signed_axes() {
            for shift in [DVec3::ZERO, to - axes * from * factor] {
                let mut found = Alignment { axes, factor, shift, share: 0.0 };
                found.share = near(&found);
                if best.is_none_or(|b| found.share > b.share + 1e-9) {
                    best = Some(found);
                }
            }
        }
    }
    best
}

/// All ways to name and point three axes, the unchanged one first.
fn signed_axes() -> impl Iterator<Item = DMat3> {
    const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    ORDERS.into_iter().flat_map(|order| {
        (0..8_u32).map(move |signs| {
            let row = |i: usize| DVec3::AXES[order[i]] * if signs >> i & 1 == 1 { -1.0 } else { 1.0 };
            DMat3::from_cols(row(0), row(1), row(2)).transpose()
        })
    })
}

/// `(x, -z, y)`: what stands on each axis now.
pub(super) fn axes_text(axes: DMat3) -> String {
    let row = |i: usize| {
        let row = axes.row(i);
        let (c, name) = [(row.x, "x"), (row.y, "y"), (row.z, "z")].into_iter().find(|(c, _)| *c != 0.0).unwrap_or((1.0, "?"));
        format!("{}{name}", if c < 0.0 { "-" } else { "" })
    };
    format!("({}, {}, {})", row(0), row(1), row(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_are_found_and_named() {
        let points = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 3.0], [1.0, 1.0, 0.5]].map(DVec3::from_array);
        let pairs: Vec<_> = points.iter().map(|&p| (p, DVec3::new(p.x, -p.z, p.y) * 100.0)).collect();
        let found = align(&pairs, 5, 3.0).expect("an alignment");
        assert_eq!((axes_text(found.axes).as_str(), found.factor, found.share), ("(x, -z, y)", 100.0, 1.0));
        let same: Vec<_> = points.iter().map(|&p| (p, p)).collect();
        let found = align(&same, 5, 3.0).expect("an alignment");
        assert_eq!((axes_text(found.axes).as_str(), found.factor, found.shift), ("(x, y, z)", 1.0, DVec3::ZERO));
        assert_eq!(signed_axes().count(), 48);
    }
}
