//! The 255 colours of a GIF: boxes of the colours that its frames have, cut where they differ most.

use std::collections::HashMap;

/// Bits a channel by which colours are counted.
const BITS: u32 = 5;
/// Side of a bin in colour values.
const SHIFT: u32 = 8 - BITS;

/// Counts colours.
#[derive(Debug)]
pub struct Counter {
    /// Per bin: how many, and the sums of their channels.
    bins: Vec<[u64; 4]>,
}

impl Default for Counter {
    fn default() -> Self {
        Self { bins: vec![[0; 4]; 1 << (3 * BITS)] }
    }
}

impl Counter {
    /// Counts a pixel.
    pub fn add(&mut self, colour: [u8; 3]) {
        let bin = colour.iter().fold(0, |bin, &c| bin << BITS | usize::from(c >> SHIFT));
        if let Some(bin) = self.bins.get_mut(bin) {
            bin[0] += 1;
            (0..3).for_each(|c| bin[c + 1] += u64::from(colour[c]));
        }
    }

    /// At most `count` colours, `first` among them as it is: the background must not change.
    pub fn palette(&self, count: usize, first: Option<[u8; 3]>) -> Palette {
        // A colour that fills half of the picture needs no more than one place: the root of its count weighs.
        let point = |bin: &[u64; 4]| {
            let mean = [1, 2, 3].map(|c| bin[c] as f64 / bin[0] as f64);
            Point { mean, weight: (bin[0] as f64).sqrt() }
        };
        let points: Vec<Point> = self.bins.iter().filter(|bin| bin[0] > 0).map(point).collect();
        let mut boxes = vec![Cut::new(points)];
        let wanted = count.saturating_sub(first.iter().len()).max(1);
        while boxes.len() < wanted {
            let widest = (0..boxes.len()).max_by(|&a, &b| boxes[a].error.total_cmp(&boxes[b].error));
            let Some(widest) = widest.filter(|&i| boxes[i].error > 0.0) else { break };
            let (low, high) = boxes.swap_remove(widest).halves();
            boxes.extend([low, high]);
        }
        let mean = |cut: &Cut| cut.mean.map(|v| (v + 0.5).clamp(0.0, 255.0) as u8);
        let found = boxes.iter().filter(|cut| !cut.points.is_empty()).map(mean);
        let mut colours: Vec<[u8; 3]> = first.into_iter().chain(found).collect();
        if colours.is_empty() {
            colours.push([0; 3]);
        }
        Palette { colours, known: HashMap::new() }
    }
}

#[derive(Debug, Clone, Copy)]
struct Point {
    mean: [f64; 3],
    weight: f64,
}

/// A box of colours.
#[derive(Debug)]
struct Cut {
    points: Vec<Point>,
    mean: [f64; 3],
    /// Weighted square distance from the mean along the longest axis.
    error: f64,
    axis: usize,
}

impl Cut {
    fn new(points: Vec<Point>) -> Self {
        let weight: f64 = points.iter().map(|p| p.weight).sum();
        let mean = [0, 1, 2].map(|c| points.iter().map(|p| p.mean[c] * p.weight).sum::<f64>() / weight.max(f64::MIN_POSITIVE));
        let spread = [0, 1, 2].map(|c| points.iter().map(|p| p.weight * (p.mean[c] - mean[c]).powi(2)).sum::<f64>());
        let axis = (0..3).max_by(|&a, &b| spread[a].total_cmp(&spread[b])).unwrap_or(0);
        let error = if points.len() > 1 { spread[axis] } else { 0.0 };
        Self { points, mean, error, axis }
    }

    /// Cut at the mean, where both halves have something.
    fn halves(self) -> (Self, Self) {
        let (axis, middle) = (self.axis, self.mean[self.axis]);
        let (low, high) = self.points.into_iter().partition(|p: &Point| p.mean[axis] <= middle);
        (Self::new(low), Self::new(high))
    }
}

/// Colours, and where others are found among them.
#[derive(Debug)]
pub struct Palette {
    /// The colours.
    pub colours: Vec<[u8; 3]>,
    known: HashMap<[u8; 3], u8>,
}

impl Palette {
    /// Index of the nearest colour.
    pub fn nearest(&mut self, colour: [u8; 3]) -> u8 {
        let colours = &self.colours;
        *self.known.entry(colour).or_insert_with(|| {
            let distance = |other: &[u8; 3]| (0..3).map(|c| (i32::from(other[c]) - i32::from(colour[c])).pow(2)).sum::<i32>();
            (0..colours.len()).min_by_key(|&i| distance(&colours[i])).unwrap_or(0) as u8
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_colours_are_kept_as_they_are() {
        let mut counter = Counter::default();
        let colours = [[255, 0, 0], [0, 255, 0], [10, 20, 200], [11, 90, 200]];
        for (n, colour) in colours.iter().enumerate() {
            (0..=n * 1000).for_each(|_| counter.add(*colour));
        }
        let mut palette = counter.palette(255, None);
        for colour in colours {
            let index = palette.nearest(colour);
            assert_eq!(palette.colours[usize::from(index)], colour);
        }
    }

    #[test]
    fn many_colours_become_near_ones() {
        let mut counter = Counter::default();
        let all = || (0..=255u8).step_by(3).flat_map(|a| (0..=255u8).step_by(5).map(move |b| [a, b, a / 2 + b / 4]));
        all().for_each(|c| counter.add(c));
        let mut palette = counter.palette(255, Some([1, 2, 3]));
        assert!(palette.colours.len() == 255 && palette.colours[0] == [1, 2, 3]);
        let worst = all().map(|c| {
            let index = usize::from(palette.nearest(c));
            let near = palette.colours[index];
            (0..3).map(|k| (i32::from(near[k]) - i32::from(c[k])).abs()).max().unwrap_or(0)
        });
        assert!(worst.max().is_some_and(|w| w < 20));
    }

    #[test]
    fn nothing_is_one_colour() {
        assert_eq!(Counter::default().palette(255, None).nearest([9, 9, 9]), 0);
    }
}
