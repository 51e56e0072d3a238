//! An animation as a GIF: one palette for all frames, and of each frame only what changed.

use std::io::Write;
use std::path::Path;

use gif::{DisposalMethod, Encoder, Frame, Repeat};

use super::palette::{Counter, Palette};
use super::picture::{Background, Picture};
use crate::{Error, Result};

/// Alpha from here on is there: a GIF knows nothing in between.
const THERE: u8 = 128;

/// Frames that the palette is made from.
pub const SAMPLES: usize = 24;

/// Counts the colours of a picture.
pub fn count(counter: &mut Counter, picture: &Picture) {
    picture.pixels.iter().filter(|p| p[3] >= THERE).for_each(|p| counter.add([p[0], p[1], p[2]]));
}

/// Writes frames one after the other.
pub struct Animation<W: Write> {
    encoder: Encoder<W>,
    palette: Palette,
    /// Index that shows what was there before, or nothing.
    clear: u8,
    is_transparent: bool,
    size: [u16; 2],
    before: Vec<u8>,
}

impl<W: Write> std::fmt::Debug for Animation<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Animation").field("size", &self.size).finish_non_exhaustive()
    }
}

fn fault(path: &Path) -> impl FnOnce(gif::EncodingError) -> Error {
    let path = path.to_path_buf();
    move |e| match e {
        gif::EncodingError::Io(e) => Error::io("write the animation", path)(e),
        other => Error::io("write the animation", path)(std::io::Error::other(other)),
    }
}

impl<W: Write> Animation<W> {
    /// Begins an animation that repeats for ever. `path` is for messages.
    pub fn begin(out: W, size: [u32; 2], counter: &Counter, background: Background, path: &Path) -> Result<Self> {
        let [width, height] = size;
        let size = [width, height].map(|side| u16::try_from(side).ok());
        let [Some(w), Some(h)] = size else {
            return Err(Error::Usage(format!(
                "a GIF has at most 65535 pixels a side, {width} x {height} were asked for; choose a smaller --size"
            )));
        };
        let first = match background {
            Background::Colour(colour) => Some(colour),
            Background::Transparent => None,
        };
        let palette = counter.palette(255, first);
        let clear = palette.colours.len() as u8;
        let colours: Vec<u8> = palette.colours.iter().flatten().copied().chain([0; 3]).collect();
        let mut encoder = Encoder::new(out, w, h, &colours).map_err(fault(path))?;
        encoder.set_repeat(Repeat::Infinite).map_err(fault(path))?;
        let is_transparent = background == Background::Transparent;
        Ok(Self { encoder, palette, clear, is_transparent, size: [w, h], before: Vec::new() })
    }

    /// Adds a frame that stays for `delay` hundredths of a second.
    pub fn add(&mut self, picture: &Picture, delay: u16, path: &Path) -> Result<()> {
        let index = |p: &[u8; 4]| if p[3] >= THERE { self.palette.nearest([p[0], p[1], p[2]]) } else { self.clear };
        let now: Vec<u8> = picture.pixels.iter().map(index).collect();
        let width = usize::from(self.size[0]);
        // Where the background is clear each frame is taken away again, so all of it is written.
        let is_whole = self.is_transparent || self.before.len() != now.len();
        let is_new = |i: usize| if is_whole { now[i] != self.clear || !self.is_transparent } else { now[i] != self.before[i] };
        let mut area = Area::default();
        (0..now.len()).filter(|&i| is_new(i)).for_each(|i| area.add(i % width, i / width));
        let (left, top, right, bottom) = area.or_one_pixel();
        let mut buffer = Vec::with_capacity((right - left) * (bottom - top));
        for y in top..bottom {
            buffer.extend((left..right).map(|x| y * width + x).map(|i| if is_new(i) { now[i] } else { self.clear }));
        }
        let frame = Frame {
            delay,
            dispose: if self.is_transparent { DisposalMethod::Background } else { DisposalMethod::Keep },
            transparent: Some(self.clear),
            left: left as u16,
            top: top as u16,
            width: (right - left) as u16,
            height: (bottom - top) as u16,
            buffer: buffer.into(),
            ..Frame::default()
        };
        self.before = now;
        self.encoder.write_frame(&frame).map_err(fault(path))
    }

    /// Writes the end.
    pub fn finish(self, path: &Path) -> Result<()> {
        let mut out = self.encoder.into_inner().map_err(fault(path))?;
        out.flush().map_err(Error::io("write the animation", path))
    }
}

/// The smallest rectangle around what was added.
#[derive(Debug, Default)]
struct Area(Option<(usize, usize, usize, usize)>);

impl Area {
    fn add(&mut self, x: usize, y: usize) {
        let (left, top, right, bottom) = self.0.unwrap_or((x, y, x + 1, y + 1));
        self.0 = Some((left.min(x), top.min(y), right.max(x + 1), bottom.max(y + 1)));
    }

    /// A frame without pixels is no frame.
    fn or_one_pixel(self) -> (usize, usize, usize, usize) {
        self.0.unwrap_or((0, 0, 1, 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(pictures: &[(Picture, u16)], background: Background) -> Vec<(Vec<[u8; 4]>, u16)> {
        let (mut counter, mut bytes, path) = (Counter::default(), Vec::new(), Path::new("a.gif"));
        pictures.iter().for_each(|(picture, _)| count(&mut counter, picture));
        let mut animation = Animation::begin(&mut bytes, pictures[0].0.size, &counter, background, path).expect("begins");
        pictures.iter().for_each(|(picture, delay)| animation.add(picture, *delay, path).expect("a frame"));
        animation.finish(path).expect("ends");
        let mut options = gif::DecodeOptions::new();
        options.set_color_output(gif::ColorOutput::RGBA);
        let mut decoder = options.read_info(&bytes[..]).expect("a GIF");
        assert!(matches!(decoder.repeat(), Repeat::Infinite));
        let width = usize::from(decoder.width());
        let mut canvas = vec![[0; 4]; width * usize::from(decoder.height())];
        let mut found = Vec::new();
        while let Some(frame) = decoder.read_next_frame().expect("a frame") {
            for (i, pixel) in frame.buffer.as_chunks::<4>().0.iter().enumerate().filter(|(_, p)| p[3] > 0) {
                let (x, y) =
                    (i % usize::from(frame.width) + usize::from(frame.left), i / usize::from(frame.width) + usize::from(frame.top));
                canvas[y * width + x] = *pixel;
            }
            found.push((canvas.clone(), frame.delay));
            if frame.dispose == DisposalMethod::Background {
                canvas.fill([0; 4]);
            }
        }
        found
    }

    #[test]
    fn frames_come_back_as_they_were() {
        let back = [230, 236, 239, 255];
        let mut pictures = Vec::new();
        for k in 0..4u32 {
            let mut picture = Picture::new([12, 8], back);
            picture.fill(k.min(2) * 3, 2, [3, 3], [200, 40, 30, 255]);
            pictures.push((picture, 3 + k as u16));
        }
        let wanted: Vec<_> = pictures.iter().map(|(p, delay)| (p.pixels.clone(), *delay)).collect();
        assert_eq!(shown(&pictures, Background::Colour([230, 236, 239])), wanted, "the last frame changes nothing");
    }

    #[test]
    fn what_is_clear_stays_clear() {
        let mut pictures = Vec::new();
        for k in 0..2 {
            let mut picture = Picture::new([6, 4], [0; 4]);
            picture.fill(k * 3, 0, [3, 4], [10, 200, 30, 255]);
            pictures.push((picture, 5));
        }
        let wanted: Vec<_> = pictures.iter().map(|(p, delay)| (p.pixels.clone(), *delay)).collect();
        assert_eq!(shown(&pictures, Background::Transparent), wanted);
    }
}
