//! Predictions: values stand in the stream as differences from what is known already (chapters "Prediction Decoder" and those of the
//! schemes). The arithmetic is that of the encoder, overflow with it, since its results must be the same bit by bit.

use super::Result;
use super::bitstream::Bytes;
use super::corners::{Corners, next, previous};
use super::entropy::BitRun;
use super::octahedron::Octahedron;
use super::sequence::Sequence;

/// What schemes that look at the mesh need.
pub(super) struct Surroundings<'a> {
    pub(super) corners: &'a Corners,
    pub(super) sequence: &'a Sequence,
    /// Positions in the integers of the stream by corner, where they have been decoded.
    pub(super) position: Option<&'a dyn Fn(u32) -> [i64; 3]>,
}

/// Values in progress.
struct Values<'a> {
    values: &'a mut [i32],
    components: usize,
}

impl Values<'_> {
    fn get(&self, value: usize) -> &[i32] {
        &self.values[value * self.components..][..self.components]
    }

    /// The fourth corner of the parallelogram over the edge opposite to a corner, if the others are known.
    fn parallelogram(&self, around: &Surroundings<'_>, corner: u32, value: usize, out: &mut [i32]) -> bool {
        let Some(opposite) = around.corners.opposite(corner) else { return false };
        let known = |corner: u32| around.sequence.value[around.corners.vertex(corner)] as usize;
        let (far, near, nearer) = (known(opposite), known(next(opposite)), known(previous(opposite)));
        if far >= value || near >= value || nearer >= value {
            return false;
        }
        for ((out, &far), (&a, &b)) in out.iter_mut().zip(self.get(far)).zip(self.get(near).iter().zip(self.get(nearer))) {
            *out = a.wrapping_add(b).wrapping_sub(far);
        }
        true
    }
}

/// Corrections that wrap around at the ends of the range of values.
struct Wrap {
    min: i32,
    max: i32,
}

impl Wrap {
    fn read(bytes: &mut Bytes<'_>) -> Result<Self> {
        let (min, max) = (bytes.i32()?, bytes.i32()?);
        if min > max || max.checked_sub(min).is_none_or(|range| range == i32::MAX) {
            return Err(format!("values range from {min} to {max}"));
        }
        Ok(Self { min, max })
    }

    /// Corrects one value in place.
    fn correct(&self, values: &mut Values<'_>, value: usize, predicted: &[i32]) {
        let range = self.max - self.min + 1;
        let components = values.components;
        for (correction, &predicted) in values.values[value * components..][..components].iter_mut().zip(predicted) {
            let sum = predicted.clamp(self.min, self.max).wrapping_add(*correction);
            *correction = if sum > self.max {
                sum.wrapping_sub(range)
            } else if sum < self.min {
                sum.wrapping_add(range)
            } else {
                sum
            };
        }
    }

    /// Corrects a value by the one before.
    fn correct_by_last(&self, values: &mut Values<'_>, value: usize, scratch: &mut [i32]) {
        match value.checked_sub(1) {
            Some(last) => scratch.copy_from_slice(values.get(last)),
            None => scratch.fill(0),
        }
        self.correct(values, value, scratch);
    }
}

/// Turns differences into values in place. `method` is the number of the scheme; without surroundings every scheme is that of
/// differences.
pub(super) fn undo(
    bytes: &mut Bytes<'_>,
    method: i8,
    values: &mut [i32],
    components: usize,
    surroundings: Option<&Surroundings<'_>>,
) -> Result<()> {
    let count = values.len() / components.max(1);
    let mut values = Values { values, components };
    let mut scratch = vec![0; components];
    let Some(around) = surroundings.filter(|_| method != 0) else {
        let wrap = Wrap::read(bytes)?;
        (0..count).for_each(|value| wrap.correct_by_last(&mut values, value, &mut scratch));
        return Ok(());
    };
    match method {
        1 => {
            let wrap = Wrap::read(bytes)?;
            for value in 0..count {
                if values.parallelogram(around, around.sequence.corner[value], value, &mut scratch) {
                    wrap.correct(&mut values, value, &scratch);
                } else {
                    wrap.correct_by_last(&mut values, value, &mut scratch);
                }
            }
            Ok(())
        }
        4 => undo_parallelograms(bytes, &mut values, around, &mut scratch),
        5 => undo_texcoords(bytes, &mut values, around),
        _ => Err(format!("the prediction scheme is number {method}, wanted 0, 1, 4 or 5")),
    }
}

/// The mean of up to four parallelograms around the vertex, without those over creases.
fn undo_parallelograms(bytes: &mut Bytes<'_>, values: &mut Values<'_>, around: &Surroundings<'_>, scratch: &mut [i32]) -> Result<()> {
    let count = around.sequence.corner.len();
    let mut creases = Vec::new();
    for _ in 0..4 {
        let flags = bytes.count()?;
        // Each triangle's corner has one at most.
        if flags > around.corners.len() {
            return Err(format!("{flags} flags of creases for {} corners", around.corners.len()));
        }
        let run = if flags > 0 { Some(BitRun::new(bytes)?) } else { None };
        creases.push((flags, run));
    }
    let wrap = Wrap::read(bytes)?;
    let components = values.components;
    let mut candidates = vec![0; 4 * components];
    for value in 0..count {
        let mut found = 0;
        for corner in around.corners.around(around.sequence.corner[value]).take_while(|_| value > 0) {
            if found == 4 {
                break;
            }
            found += usize::from(values.parallelogram(around, corner, value, &mut candidates[found * components..][..components]));
        }
        let mut used = 0;
        scratch.fill(0);
        for candidate in candidates.chunks_exact(components).take(found) {
            let (left, run) = &mut creases[found - 1];
            let Some((run, rest)) = run.as_mut().zip(left.checked_sub(1)) else {
                return Err("there are too few flags of creases".to_owned());
            };
            *left = rest;
            if !run.read() {
                used += 1;
                scratch.iter_mut().zip(candidate).for_each(|(sum, &c)| *sum = sum.wrapping_add(c));
            }
        }
        if used > 0 {
            scratch.iter_mut().for_each(|sum| *sum /= used);
            wrap.correct(values, value, scratch);
        } else {
            wrap.correct_by_last(values, value, scratch);
        }
    }
    Ok(())
}

const NO_POSITIONS: &str = "a prediction needs positions of three integers before it";

/// Texture coordinates from those of two corners and the triangle's shape in space.
fn undo_texcoords(bytes: &mut Bytes<'_>, values: &mut Values<'_>, around: &Surroundings<'_>) -> Result<()> {
    let count = around.sequence.corner.len();
    let position = around.position.filter(|_| values.components == 2).ok_or(NO_POSITIONS)?;
    let flags = usize::try_from(bytes.i32()?).ok().filter(|&n| n <= count).ok_or("there are more orientations than values")?;
    let mut run = BitRun::new(bytes)?;
    let mut last = true;
    // A bit says whether the orientation stays; they are used from the last to the first.
    let mut orientations: Vec<bool> = std::iter::repeat_with(|| {
        last = run.read() == last;
        last
    })
    .take(flags)
    .collect();
    let wrap = Wrap::read(bytes)?;
    for value in 0..count {
        let corner = around.sequence.corner[value];
        let known = |corner: u32| around.sequence.value[around.corners.vertex(corner)] as usize;
        let (ahead, behind) = (known(next(corner)), known(previous(corner)));
        let mut predicted = None;
        if ahead < value && behind < value {
            let uv = |value| <[i32; 2]>::try_from(values.get(value)).unwrap_or_default().map(i64::from);
            let (uv_ahead, uv_behind) = (uv(ahead), uv(behind));
            if uv_ahead == uv_behind {
                predicted = Some(uv_ahead.map(|c| c as i32));
            } else {
                let at = [corner, next(corner), previous(corner)].map(position);
                predicted = predict_texcoord(at, uv_ahead, uv_behind, &mut orientations)?;
            }
        }
        match predicted {
            Some(predicted) => wrap.correct(values, value, &predicted),
            None => {
                let known = if ahead < value { Some(ahead) } else { value.checked_sub(1) };
                let predicted = known.map_or([0; 2], |k| <[i32; 2]>::try_from(values.get(k)).unwrap_or_default());
                wrap.correct(values, value, &predicted);
            }
        }
    }
    Ok(())
}

/// None where the two known corners are at one place. `at` are the places of the tip, the corner ahead and the corner behind.
fn predict_texcoord(
    [tip, ahead, behind]: [[i64; 3]; 3],
    uv_ahead: [i64; 2],
    uv_behind: [i64; 2],
    orientations: &mut Vec<bool>,
) -> Result<Option<[i32; 2]>> {
    let minus = |a: [i64; 3], b: [i64; 3]| [0, 1, 2].map(|c| a[c].wrapping_sub(b[c]));
    let dot =
        |a: [i64; 3], b: [i64; 3]| a[0].wrapping_mul(b[0]).wrapping_add(a[1].wrapping_mul(b[1])).wrapping_add(a[2].wrapping_mul(b[2]));
    let edge = minus(behind, ahead);
    let edge_squared = dot(edge, edge);
    if edge_squared == 0 {
        return Ok(None);
    }
    let along = dot(edge, minus(tip, ahead));
    let uv_edge = [0, 1].map(|c| uv_behind[c].wrapping_sub(uv_ahead[c]));
    // The foot of the perpendicular from the tip, in texture space times `edge_squared`, and in space.
    let uv_foot = [0, 1].map(|c| uv_ahead[c].wrapping_mul(edge_squared).wrapping_add(uv_edge[c].wrapping_mul(along)));
    let foot = [0, 1, 2].map(|c| ahead[c].wrapping_add(edge[c].wrapping_mul(along).wrapping_div(edge_squared)));
    let height = minus(tip, foot);
    let height = dot(height, height);
    let scale = (height as u64).wrapping_mul(edge_squared as u64).isqrt() as i64;
    let upwards = [uv_edge[1].wrapping_mul(scale), uv_edge[0].wrapping_neg().wrapping_mul(scale)];
    let orientation = orientations.pop().ok_or("there are too few orientations")?;
    let sum = [0, 1].map(|c| if orientation { uv_foot[c].wrapping_add(upwards[c]) } else { uv_foot[c].wrapping_sub(upwards[c]) });
    Ok(Some(sum.map(|c| c.wrapping_div(edge_squared) as i32)))
}

/// Turns differences of octahedral points into points in place. Method 0 predicts the point before, 6 the normal of the triangles around.
pub(super) fn undo_normals(bytes: &mut Bytes<'_>, method: i8, points: &mut [i32], surroundings: Option<&Surroundings<'_>>) -> Result<()> {
    let octahedron = Octahedron::from_modulus(bytes.i32()?)?;
    // The center, which the modulus implies.
    bytes.i32()?;
    let points = points.as_chunks_mut::<2>().0;
    let Some(around) = surroundings.filter(|_| method != 0) else {
        let mut last = [0; 2];
        for point in points {
            *point = octahedron.correct(last, *point);
            last = *point;
        }
        return Ok(());
    };
    if method != 6 {
        return Err(format!("the prediction scheme of normals is number {method}, wanted 0 or 6"));
    }
    let position = around.position.ok_or(NO_POSITIONS)?;
    let mut flips = BitRun::new(bytes)?;
    for (point, &corner) in points.iter_mut().zip(&around.sequence.corner) {
        let normal = predict_normal(around.corners, corner, position);
        *point = octahedron.correct(octahedron.project(normal, flips.read()), *point);
    }
    Ok(())
}

/// The sum of the areas of the triangles around a corner's vertex, brought to 29 bits.
fn predict_normal(corners: &Corners, corner: u32, position: &dyn Fn(u32) -> [i64; 3]) -> [i32; 3] {
    const LIMIT: i64 = 1 << 29;
    let center = position(corner);
    let minus = |a: [i64; 3]| [0, 1, 2].map(|c| a[c].wrapping_sub(center[c]));
    let mut normal = [0_i64; 3];
    for corner in corners.around(corner) {
        let (a, b) = (minus(position(next(corner))), minus(position(previous(corner))));
        let area = [(1, 2), (2, 0), (0, 1)].map(|(d, e)| a[d].wrapping_mul(b[e]).wrapping_sub(a[e].wrapping_mul(b[d])));
        normal = [0, 1, 2].map(|c| normal[c].wrapping_add(area[c]));
    }
    let sum = normal.iter().fold(0_i64, |sum, c| sum.saturating_add(c.saturating_abs()));
    if sum > LIMIT {
        normal = normal.map(|c| c / (sum / LIMIT));
    }
    normal.map(|c| c.clamp(-i64::from(i32::MAX), i64::from(i32::MAX)) as i32)
}
