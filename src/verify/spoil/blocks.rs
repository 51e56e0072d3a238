//! Block compression: within each block of 4 x 4 texels all colours lie on a line and are few, and in blocks two rows further down
//! they are not. Nothing in a bake knows of such blocks: every fourth row is a frame like any other.

use glam::DVec3;

use super::super::verdict::{Code, Findings};
use super::Case;
use crate::baked::Image;

/// Share of the busy blocks on the grid that must have few colours on a line.
const MOST: f64 = 0.9;
/// The same beside the grid, at most, as a share of the first.
const BESIDE: f64 = 0.6;
/// Colours that a block of the simplest kind (BC1) can have.
const COLOURS: usize = 4;
/// Fewer busy blocks prove nothing.
const FEWEST: usize = 4;

/// What a block of 16 texels may pass.
type Test = fn(&[DVec3]) -> bool;

pub(super) fn name(case: &Case<'_>, findings: &mut Findings) -> bool {
    let tests: [(&str, Test); 2] = [
        ("at most four colours", |block| count_colours(block) <= COLOURS && is_on_line(block)),
        ("all colours on one line", |block| is_on_line(block)),
    ];
    for (what, test) in tests {
        let (on, busy) = share(case.image, 0, false, test);
        // Beside the grid in time alone: a model whose vertices come in fours has blocks across the columns, but none down the rows.
        let (beside, busy_beside) = share(case.image, 2, true, test);
        if busy >= FEWEST && busy_beside >= FEWEST && on >= MOST && beside <= BESIDE * on {
            let text = format!(
                "{} went through a block compression (BC, ETC or ASTC): {:.0} % of its blocks of 4 x 4 texels have {what}, {:.0} % of those beside \
                 the grid; import it uncompressed",
                case.file(),
                on * 100.0,
                beside * 100.0
            );
            findings.wrong(Code::BlockCompressed, case.file(), text);
            return true;
        }
    }
    false
}

/// Share of the blocks with several colours that pass a test, and how many there are; the grid begins `top` rows down. With `moving`
/// only blocks count whose rows are not all the same: what stands still has few colours wherever one looks.
fn share(image: &Image, top: u32, moving: bool, test: Test) -> (f64, usize) {
    let (mut busy, mut passed) = (0, 0);
    for y in (top..image.height.saturating_sub(3)).step_by(4) {
        for x in (0..image.width.saturating_sub(3)).step_by(4) {
            let mut block = [DVec3::ZERO; 16];
            for (i, place) in (0..).zip(&mut block) {
                let [r, g, b, _] = image.texel(x + i % 4, y + i / 4);
                *place = DVec3::new(r, g, b);
            }
            let is_still = block.chunks_exact(4).all(|row| row == &block[..4]);
            if count_colours(&block) < 3 || moving && is_still || !block.iter().all(|v| v.is_finite()) {
                continue;
            }
            busy += 1;
            passed += usize::from(test(&block));
        }
    }
    (passed as f64 / f64::max(busy as f64, 1.0), busy)
}

fn count_colours(block: &[DVec3]) -> usize {
    let mut colours: Vec<DVec3> = Vec::with_capacity(16);
    for &texel in block {
        if !colours.contains(&texel) {
            colours.push(texel);
        }
    }
    colours.len()
}

/// Whether all texels lie on a line, within the rounding of 8 bits or 2 % of its length.
fn is_on_line(block: &[DVec3]) -> bool {
    let Some(&start) = block.first() else { return true };
    let far =
        |from: DVec3| block.iter().copied().max_by(|a, b| a.distance_squared(from).total_cmp(&b.distance_squared(from))).unwrap_or(from);
    let a = far(start);
    let b = far(a);
    let (direction, length) = ((b - a).normalize_or_zero(), a.distance(b));
    let tolerance = (0.02 * length).max(if length > 8.0 / 255.0 { 0.75 / 255.0 } else { 0.0 });
    block.iter().all(|&p| ((p - a) - direction * (p - a).dot(direction)).length() <= tolerance)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_colours_are_told_from_noise() {
        let line: Vec<_> = (0..16).map(|i| DVec3::new(0.1, 0.2, 0.3) + DVec3::new(0.3, -0.1, 0.5) * f64::from(i % 4) / 3.0).collect();
        assert!(is_on_line(&line));
        assert_eq!(count_colours(&line), 4);
        let noise: Vec<_> =
            (0..16).map(|i| DVec3::new(f64::from(i * 7 % 16), f64::from(i * 5 % 16), f64::from(i * 3 % 13)) / 16.0).collect();
        assert!(!is_on_line(&noise));
    }
}
