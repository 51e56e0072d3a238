//! Pictures that were rendered, and what is measured on them.

/// RGB in 0 to 255, rows from the top.
#[derive(Clone)]
pub struct Picture {
    pub width: usize,
    pub texels: Vec<[u8; 3]>,
}

/// What lies behind everything: no material of a model shows it.
pub const BACKGROUND: [u8; 3] = [255, 0, 255];

impl Picture {
    /// Texels that something covers.
    pub fn covered(&self) -> Vec<bool> {
        self.texels.iter().map(|texel| *texel != BACKGROUND).collect()
    }

    /// How many.
    pub fn area(&self) -> usize {
        self.covered().into_iter().filter(|covered| *covered).count()
    }

    /// Texels that one of two pictures covers and the other does not, as a fraction of those that this one covers.
    pub fn outline_difference(&self, other: &Self) -> f64 {
        let differing = self.covered().into_iter().zip(other.covered()).filter(|(a, b)| a != b).count();
        differing as f64 / self.area().max(1) as f64
    }

    /// Mean difference of a channel, in 1/255, over the texels that this one covers.
    pub fn colour_difference(&self, other: &Self) -> f64 {
        let pairs = self.texels.iter().zip(&other.texels).filter(|(a, _)| **a != BACKGROUND);
        let sum: u64 = pairs.flat_map(|(a, b)| (0..3).map(|c| u64::from(a[c].abs_diff(b[c])))).sum();
        sum as f64 / (3 * self.area().max(1)) as f64
    }

    /// Texels that differ by more than 16/255 in a channel, as a multiple of an area: edges of shadows, mostly.
    pub fn seen_difference(&self, other: &Self, area: usize) -> f64 {
        let differs = |(a, b): &(&[u8; 3], &[u8; 3])| (0..3).any(|c| a[c].abs_diff(b[c]) > 16);
        self.texels.iter().zip(&other.texels).filter(differs).count() as f64 / area.max(1) as f64
    }

    /// What two pictures show together, of the same things in other places.
    pub fn together(&self, other: &Self) -> Self {
        let texels = self.texels.iter().zip(&other.texels).map(|(a, b)| if *a == BACKGROUND { *b } else { *a }).collect();
        Self { width: self.width, texels }
    }

    /// As a binary PPM, for looking.
    pub fn ppm(&self) -> Vec<u8> {
        let header = format!("P6 {} {} 255\n", self.width, self.texels.len() / self.width);
        header.into_bytes().into_iter().chain(self.texels.iter().flatten().copied()).collect()
    }
}
