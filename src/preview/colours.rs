//! Colours that mean something: errors, depths, paths.

use super::picture::Rgba;

/// From no error to the largest: dark blue, blue, green, yellow, red. Brightness rises too, so that it reads without colours.
const HEAT: [[f32; 3]; 5] = [[0.12, 0.13, 0.38], [0.13, 0.42, 0.72], [0.16, 0.69, 0.53], [0.95, 0.83, 0.25], [0.99, 0.35, 0.22]];

/// The colour of an error, 0 to 1.
pub fn heat(share: f64) -> Rgba {
    let at = if share.is_nan() { 1.0 } else { share.clamp(0.0, 1.0) } as f32 * (HEAT.len() - 1) as f32;
    let below = (at as usize).min(HEAT.len() - 2);
    let blend = at - below as f32;
    let channel = |c: usize| ((HEAT[below][c] + (HEAT[below + 1][c] - HEAT[below][c]) * blend) * 255.0 + 0.5) as u8;
    [channel(0), channel(1), channel(2), 255]
}

/// Red at the root, over yellow and green, to blue at the tips.
pub fn depth(depth: usize, deepest: usize) -> Rgba {
    hue(230.0 * depth as f32 / deepest.max(1) as f32)
}

/// The colour of the path number `index` of `count`, none of them the red of the root's.
pub fn path(index: usize, count: usize) -> Rgba {
    hue(40.0 + 270.0 * index as f32 / count.max(1) as f32)
}

/// A strong colour of a hue in degrees.
fn hue(degrees: f32) -> Rgba {
    let channel = |shift: f32| {
        let k = (shift + degrees / 60.0) % 6.0;
        let v = 0.94 - 0.82 * k.min(4.0 - k).clamp(0.0, 1.0);
        (v * 255.0 + 0.5) as u8
    };
    [channel(5.0), channel(3.0), channel(1.0), 255]
}

/// A length as people say it: `4.6 µm`, `0.12 mm`, `3.4 m`.
pub fn length(metres: f64) -> String {
    let (factor, unit) = match metres.abs() {
        m if m == 0.0 || m >= 0.1 => (1.0, "m"),
        m if m >= 1e-4 => (1e3, "mm"),
        _ => (1e6, "µm"),
    };
    let value = metres * factor;
    let decimals = if value == 0.0 || value.abs() >= 100.0 { 0 } else { (2 - value.abs().log10().floor() as i32).clamp(0, 4) };
    format!("{value:.*} {unit}", decimals as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heat_runs_from_dark_blue_to_red() {
        let (none, most) = (heat(0.0), heat(1.0));
        assert!(none[2] > none[0] && most[0] > most[2] && most[0] > none[2], "{none:?} {most:?}");
        assert_eq!((heat(-1.0), heat(2.0), heat(f64::NAN)), (none, most, most));
    }

    #[test]
    fn the_root_is_red_and_the_tips_are_blue() {
        let (root, tip) = (depth(0, 5), depth(5, 5));
        assert!(root[0] > 200 && root[1] < 60 && root[2] < 60, "{root:?}");
        assert!(tip[2] > 200 && tip[0] < 60, "{tip:?}");
        assert_eq!(depth(0, 0), root);
        assert!((0..9).all(|i| path(i, 9) != root));
    }

    #[test]
    fn lengths_keep_the_digits_that_count() {
        let cases = [(0.0, "0 m"), (4.6e-6, "4.60 µm"), (1.2e-4, "0.120 mm"), (0.034, "34.0 mm"), (3.4, "3.40 m"), (250.0, "250 m")];
        for (metres, text) in cases {
            assert_eq!(length(metres), text);
        }
    }
}
