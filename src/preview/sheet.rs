//! The contact sheet: a row a clip, a column a time, each picture with its clip and time below it.

use glam::Vec2;

use super::letters;
use super::moments::Moment;
use super::picture::{Background, Picture, Rgba};
use crate::{Error, Result};

/// Pixels around the sheet and between pictures.
const MARGIN: u32 = 12;
/// Most pixels of a sheet: a quarter of a gigabyte.
const MOST_PIXELS: u64 = 1 << 26;

/// Measures of a sheet.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grid {
    /// Size of a picture.
    pub cell: [u32; 2],
    /// Pictures of a row, and rows.
    pub count: [u32; 2],
    /// Height of capitals.
    pub letter: f32,
    /// Height of what stands below the pictures.
    pub legend: u32,
}

/// Height of capitals beside pictures of this size.
pub fn letter_of(cell: [u32; 2]) -> f32 {
    (cell[0].min(cell[1]) as f32 / 24.0).clamp(6.0, 14.0).round()
}

impl Grid {
    fn strip(&self) -> u32 {
        (self.letter * 2.6).ceil() as u32
    }

    /// Size of the sheet.
    ///
    /// # Errors
    /// [`Error::Usage`] where it would have more pixels than can be held.
    pub fn size(&self) -> Result<[u32; 2]> {
        let side = |count: u32, one: u32| u64::from(count) * u64::from(one) + u64::from(MARGIN) * (u64::from(count) + 1);
        let width = side(self.count[0], self.cell[0]);
        let height = side(self.count[1], self.cell[1] + self.strip()) + u64::from(self.legend);
        if width * height > MOST_PIXELS {
            return Err(Error::Usage(format!(
                "{} x {} pictures of {} x {} make a sheet of {width} x {height} pixels, more than {MOST_PIXELS} in all; choose fewer --clip or --columns, \
                 or a smaller --size",
                self.count[0], self.count[1], self.cell[0], self.cell[1]
            )));
        }
        Ok([width as u32, height as u32])
    }

    /// An empty sheet.
    pub fn sheet(&self, background: Background) -> Result<Picture> {
        Ok(Picture::new(self.size()?, background.pixel()))
    }

    /// Left upper corner of a picture.
    pub fn corner(&self, column: u32, row: u32) -> [u32; 2] {
        [MARGIN + column * (self.cell[0] + MARGIN), MARGIN + row * (self.cell[1] + self.strip() + MARGIN)]
    }

    /// Puts a picture in its place and writes below it what it is.
    pub fn put(&self, sheet: &mut Picture, [column, row]: [u32; 2], picture: &Picture, name: &str, moment: &Moment, ink: Rgba) {
        let [left, top] = self.corner(column, row);
        sheet.put(picture, left, top);
        let time = format!("{:.2} s", moment.seconds);
        let (gap, room) = (self.letter, self.cell[0] as f32);
        let name = letters::fit(name, self.letter, room - letters::width(&time, self.letter) - gap);
        let wide = letters::width(&name, self.letter) + gap + letters::width(&time, self.letter);
        let begin = Vec2::new(left as f32 + ((room - wide) / 2.0).max(0.0), (top + self.cell[1]) as f32 + self.letter * 1.6);
        letters::write(sheet, &name, begin, self.letter, 1.35, ink);
        let faint = [ink[0], ink[1], ink[2], 0xa0];
        letters::write(sheet, &time, begin + Vec2::X * (wide - letters::width(&time, self.letter)), self.letter, 1.0, faint);
    }

    /// Where the legend begins, and its width.
    pub fn legend_place(&self) -> Result<([u32; 2], u32)> {
        let [width, height] = self.size()?;
        Ok(([MARGIN, height - self.legend], width - 2 * MARGIN))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRID: Grid = Grid { cell: [40, 30], count: [3, 2], letter: 6.0, legend: 0 };

    #[test]
    fn pictures_stand_in_rows_with_their_names() {
        let mut sheet = GRID.sheet(Background::Colour([255; 3])).expect("fits");
        assert_eq!(sheet.size, [3 * 40 + 4 * 12, 2 * (30 + 16) + 3 * 12]);
        let red = Picture::new([40, 30], [255, 0, 0, 255]);
        let moment = Moment { clip: 0, frame: 0.0, seconds: 0.5 };
        GRID.put(&mut sheet, [2, 1], &red, "A", &moment, [0, 0, 0, 255]);
        let [left, top] = GRID.corner(2, 1);
        assert_eq!((sheet.at(left, top), sheet.at(left + 39, top + 29)), ([255, 0, 0, 255], [255, 0, 0, 255]));
        assert_eq!((sheet.at(left - 1, top), sheet.at(left + 20, top + 31)), ([255; 4], [255; 4]));
        let ink = (0..40).flat_map(|x| (30..46).map(move |y| (x, y))).filter(|&(x, y)| sheet.at(left + x, top + y)[0] < 100);
        assert!(ink.count() > 10, "no words below the picture");
    }

    #[test]
    fn what_is_too_large_is_refused() {
        let huge = Grid { count: [100, 1000], cell: [400, 400], ..GRID };
        assert!(matches!(huge.sheet(Background::DEFAULT), Err(Error::Usage(text)) if text.contains("--columns")));
    }
}
