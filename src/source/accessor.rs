//! Accessors: typed elements out of bytes, with stride, sparse substitution and normalised integers (glTF 2.0, 3.6.2). All sizes are
//! computed in checked 64-bit arithmetic against the bytes that are really there, and bytes are never cast.

use std::borrow::Cow;

use gltf::json::accessor::{Accessor, ComponentType, Type};
use gltf::json::validation::Checked;

use super::document::{Document, missing};
use crate::Fault;
use crate::scene::Component;
use crate::warning::{Code, Warnings};

const DAMAGED: &str = "the file is damaged; export the model again";

/// The elements of an accessor, tightly packed and little-endian.
#[derive(Debug)]
pub(super) struct Elements<'a> {
    pub(super) pointer: String,
    pub(super) component: Component,
    pub(super) normalized: bool,
    /// Components an element: 1 to 4, 9 or 16.
    pub(super) components: usize,
    pub(super) kind: Type,
    pub(super) count: usize,
    pub(super) bytes: Cow<'a, [u8]>,
}

/// Shape of one element in its buffer.
#[derive(Debug, Clone, Copy)]
struct Shape {
    component: Component,
    /// Columns of a matrix start at multiples of 4 bytes (3.6.2.4); everything else is one column.
    columns: usize,
    rows: usize,
}

impl Shape {
    fn column(self) -> usize {
        let size = self.rows * self.component.size();
        if self.columns == 1 { size } else { size.next_multiple_of(4) }
    }

    /// Bytes from the first to past the last component.
    fn size(self) -> usize {
        (self.columns - 1) * self.column() + self.rows * self.component.size()
    }

    /// Bytes when packed without the padding of matrix columns.
    fn packed(self) -> usize {
        self.columns * self.rows * self.component.size()
    }
}

/// Number of elements, or none where the accessor does not exist.
pub(super) fn count(doc: &Document<'_>, index: usize) -> Option<u64> {
    doc.root.accessors.get(index).map(|a| a.count.0)
}

/// Reads an accessor. `at` names who refers to it.
pub(super) fn read<'a>(doc: &'a Document<'_>, index: usize, at: &str, warnings: &mut Warnings) -> Result<Elements<'a>, Fault> {
    let Some(accessor) = doc.root.accessors.get(index) else {
        return Err(missing(at, "accessor", index, doc.root.accessors.len()));
    };
    let pointer = format!("/accessors/{index}");
    let (Checked::Valid(component), Checked::Valid(kind)) = (accessor.component_type, accessor.type_) else {
        let wanted = "wanted 5120 to 5123, 5125 or 5126 and SCALAR, VEC2, VEC3, VEC4, MAT2, MAT3 or MAT4";
        return Err(Fault::new(pointer, format!("`componentType` or `type` is not one of glTF's, {wanted}"), DAMAGED));
    };
    let component = component_of(component.0);
    let shape = shape_of(component, kind);
    if accessor.count.0 == 0 {
        return Err(Fault::new(pointer, "`count` is 0, wanted at least 1", DAMAGED));
    }
    // Decoded data is at most four bytes a component.
    let components = shape.columns * shape.rows;
    doc.reserve(accessor.count.0.checked_mul(components as u64 * 4), &pointer)?;
    let count = usize::try_from(accessor.count.0).map_err(|_| Fault::new(&pointer, "`count` is too large", DAMAGED))?;
    let bytes = gather_base(doc, accessor, shape, count, &pointer, warnings)?;
    let bytes = substitute(doc, accessor, shape, count, bytes, &pointer, warnings)?;
    Ok(Elements { pointer, component, normalized: accessor.normalized, components, kind, count, bytes })
}

/// The elements without sparse substitution: zeros where there is no buffer view.
fn gather_base<'a>(
    doc: &'a Document<'_>,
    accessor: &Accessor,
    shape: Shape,
    count: usize,
    pointer: &str,
    warnings: &mut Warnings,
) -> Result<Cow<'a, [u8]>, Fault> {
    let Some(view) = accessor.buffer_view else { return Ok(Cow::Owned(vec![0; count * shape.packed()])) };
    let bytes = doc.view(view.value(), pointer)?;
    let offset = accessor.byte_offset.unwrap_or_default().0;
    let stride = doc.root.buffer_views.get(view.value()).and_then(|v| v.byte_stride).map_or(0, |s| s.0 as u64);
    let begin = doc.root.buffer_views.get(view.value()).and_then(|v| v.byte_offset).unwrap_or_default().0;
    if begin.wrapping_add(offset) % shape.component.size() as u64 != 0 {
        warnings.add(Code::Misaligned, 1, || {
            format!("{{count}} accessors stand at offsets that their types do not allow (first: {pointer}); they were read all the same")
        });
    }
    gather(bytes, offset, stride, shape, count, pointer)
}

/// Picks `count` elements out of bytes.
fn gather<'a>(bytes: &'a [u8], offset: u64, stride: u64, shape: Shape, count: usize, pointer: &str) -> Result<Cow<'a, [u8]>, Fault> {
    let size = shape.size() as u64;
    let stride = if stride == 0 { shape.columns as u64 * shape.column() as u64 } else { stride };
    if stride < size {
        return Err(Fault::new(pointer, format!("the byteStride is {stride}, an element has {size} bytes"), DAMAGED));
    }
    let end = (count as u64 - 1).checked_mul(stride).and_then(|n| n.checked_add(size)).and_then(|n| n.checked_add(offset));
    let Some(end) = end.filter(|&end| end <= bytes.len() as u64) else {
        let wanted = end.map_or_else(|| "more than 2^64".to_owned(), |end| end.to_string());
        let problem = format!(
            "{count} elements of {size} bytes from offset {offset} with stride {stride} need {wanted} bytes, the buffer view has {}",
            bytes.len()
        );
        return Err(Fault::new(pointer, problem, DAMAGED));
    };
    // Below `bytes.len()`, so they fit.
    let (offset, end, stride, size) = (offset as usize, end as usize, stride as usize, size as usize);
    let bytes = &bytes[offset..end];
    if stride == size && shape.packed() == size {
        return Ok(Cow::Borrowed(bytes));
    }
    let mut packed = Vec::with_capacity(count * shape.packed());
    for start in (0..count).map(|i| i * stride) {
        for column in 0..shape.columns {
            let start = start + column * shape.column();
            packed.extend_from_slice(&bytes[start..start + shape.rows * shape.component.size()]);
        }
    }
    Ok(Cow::Owned(packed))
}

/// Puts sparse values in their places (3.6.2.3).
fn substitute<'a>(
    doc: &Document<'_>,
    accessor: &Accessor,
    shape: Shape,
    count: usize,
    base: Cow<'a, [u8]>,
    pointer: &str,
    warnings: &mut Warnings,
) -> Result<Cow<'a, [u8]>, Fault> {
    let Some(sparse) = &accessor.sparse else { return Ok(base) };
    let pointer = format!("{pointer}/sparse");
    if sparse.count.0 == 0 {
        return Ok(base);
    }
    let changes = usize::try_from(sparse.count.0)
        .ok()
        .filter(|&n| n <= count)
        .ok_or_else(|| Fault::new(&pointer, format!("{} sparse values for {count} elements", sparse.count.0), DAMAGED))?;
    let Checked::Valid(index_type) = sparse.indices.component_type else {
        return Err(Fault::new(format!("{pointer}/indices"), "`componentType` is not 5121, 5123 or 5125", DAMAGED));
    };
    let index_component = component_of(index_type.0);
    let index_shape = Shape { component: index_component, columns: 1, rows: 1 };
    let at = format!("{pointer}/indices");
    let indices = gather(doc.view(sparse.indices.buffer_view.value(), &at)?, sparse.indices.byte_offset.0, 0, index_shape, changes, &at)?;
    let at = format!("{pointer}/values");
    let values = gather(doc.view(sparse.values.buffer_view.value(), &at)?, sparse.values.byte_offset.0, 0, shape, changes, &at)?;
    let size = shape.packed();
    let mut bytes = base.into_owned();
    let mut last = None;
    let mut ascending = true;
    for (index, value) in unsigned(index_component, &indices).into_iter().zip(values.chunks_exact(size)) {
        ascending &= last.is_none_or(|last| last < index);
        last = Some(index);
        let start = index as usize * size;
        let Some(place) = bytes.get_mut(start..start + size) else {
            return Err(Fault::new(
                format!("{pointer}/indices"),
                format!("sparse index {index}, the accessor has {count} elements"),
                DAMAGED,
            ));
        };
        place.copy_from_slice(value);
    }
    warnings.add(Code::JsonMended, u64::from(!ascending), || {
        format!("{{count}} departures from the specification were mended, the first: sparse indices do not ascend at {pointer}")
    });
    Ok(Cow::Owned(bytes))
}

impl Elements<'_> {
    /// All components as floats: integers normalised where the accessor says so (3.6.2.2), infinities and NaN refused.
    pub(super) fn floats(&self) -> Result<Vec<f32>, Fault> {
        let bytes = &*self.bytes;
        let normalized = self.normalized;
        let values: Vec<f32> = match self.component {
            Component::I8 if normalized => bytes.iter().map(|&b| (f32::from(b as i8) / 127.0).max(-1.0)).collect(),
            Component::U8 if normalized => bytes.iter().map(|&b| f32::from(b) / 255.0).collect(),
            Component::I16 if normalized => pairs(bytes).map(|b| (f32::from(i16::from_le_bytes(b)) / 32767.0).max(-1.0)).collect(),
            Component::U16 if normalized => pairs(bytes).map(|b| f32::from(u16::from_le_bytes(b)) / 65535.0).collect(),
            Component::I8 => bytes.iter().map(|&b| f32::from(b as i8)).collect(),
            Component::U8 => bytes.iter().map(|&b| f32::from(b)).collect(),
            Component::I16 => pairs(bytes).map(|b| f32::from(i16::from_le_bytes(b))).collect(),
            Component::U16 => pairs(bytes).map(|b| f32::from(u16::from_le_bytes(b))).collect(),
            Component::U32 => fours(bytes).map(|b| u32::from_le_bytes(b) as f32).collect(),
            Component::F32 => fours(bytes).map(f32::from_le_bytes).collect(),
        };
        if self.component == Component::F32 {
            self.check_finite(&values)?;
        }
        Ok(values)
    }

    /// Floats as they are, NaN and infinities with them.
    pub(super) fn floats_unchecked(&self) -> Result<Vec<f32>, Fault> {
        if self.component == Component::F32 { Ok(fours(&self.bytes).map(f32::from_le_bytes).collect()) } else { self.floats() }
    }

    /// Refuses NaN and infinities in data that is carried as bytes.
    pub(super) fn check(&self) -> Result<(), Fault> {
        if self.component == Component::F32 {
            self.check_finite(&fours(&self.bytes).map(f32::from_le_bytes).collect::<Vec<_>>())?;
        }
        Ok(())
    }

    fn check_finite(&self, values: &[f32]) -> Result<(), Fault> {
        let Some(i) = values.iter().position(|v| !v.is_finite()) else { return Ok(()) };
        let problem =
            format!("component {} of element {} is {}, wanted a finite number", i % self.components, i / self.components, values[i]);
        Err(Fault::new(&self.pointer, problem, "correct the value or export the model again"))
    }

    /// Vectors of `N` floats. The caller has checked the type.
    pub(super) fn vectors<const N: usize>(&self) -> Result<Vec<[f32; N]>, Fault> {
        Ok(self.floats()?.as_chunks::<N>().0.to_vec())
    }

    /// Unsigned integers, whatever their size.
    pub(super) fn unsigned(&self) -> Vec<u32> {
        unsigned(self.component, &self.bytes)
    }

    /// "normalized VEC3 of U8", for messages.
    pub(super) fn describe(&self) -> String {
        let normalized = if self.normalized { "normalized " } else { "" };
        format!("{normalized}{} of {:?}", type_name(self.kind), self.component)
    }
}

/// glTF's name of an element type.
pub(super) fn type_name(kind: Type) -> &'static str {
    match kind {
        Type::Scalar => "SCALAR",
        Type::Vec2 => "VEC2",
        Type::Vec3 => "VEC3",
        Type::Vec4 => "VEC4",
        Type::Mat2 => "MAT2",
        Type::Mat3 => "MAT3",
        Type::Mat4 => "MAT4",
    }
}

fn unsigned(component: Component, bytes: &[u8]) -> Vec<u32> {
    match component {
        Component::I8 | Component::U8 => bytes.iter().map(|&b| u32::from(b)).collect(),
        Component::I16 | Component::U16 => pairs(bytes).map(|b| u32::from(u16::from_le_bytes(b))).collect(),
        Component::U32 | Component::F32 => fours(bytes).map(u32::from_le_bytes).collect(),
    }
}

fn pairs(bytes: &[u8]) -> impl Iterator<Item = [u8; 2]> {
    bytes.as_chunks::<2>().0.iter().copied()
}

fn fours(bytes: &[u8]) -> impl Iterator<Item = [u8; 4]> {
    bytes.as_chunks::<4>().0.iter().copied()
}

fn component_of(component: ComponentType) -> Component {
    match component {
        ComponentType::I8 => Component::I8,
        ComponentType::U8 => Component::U8,
        ComponentType::I16 => Component::I16,
        ComponentType::U16 => Component::U16,
        ComponentType::U32 => Component::U32,
        ComponentType::F32 => Component::F32,
    }
}

fn shape_of(component: Component, kind: Type) -> Shape {
    let (columns, rows) = match kind {
        Type::Scalar => (1, 1),
        Type::Vec2 => (1, 2),
        Type::Vec3 => (1, 3),
        Type::Vec4 => (1, 4),
        Type::Mat2 => (2, 2),
        Type::Mat3 => (3, 3),
        Type::Mat4 => (4, 4),
    };
    Shape { component, columns, rows }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES: Shape = Shape { component: Component::U8, columns: 1, rows: 2 };

    #[test]
    fn strides_are_followed_and_ends_checked() {
        let bytes = [0, 1, 2, 3, 4, 5, 6, 7];
        assert_eq!(*gather(&bytes, 1, 3, BYTES, 2, "").unwrap(), [1, 2, 4, 5]);
        assert_eq!(*gather(&bytes, 0, 0, BYTES, 4, "").unwrap(), bytes);
        assert!(gather(&bytes, 1, 0, BYTES, 4, "").is_err());
        assert!(gather(&bytes, 3, 3, BYTES, 2, "").is_ok());
        assert!(gather(&bytes, 4, 3, BYTES, 2, "").is_err());
        assert!(gather(&bytes, u64::MAX, 3, BYTES, 2, "").is_err());
        assert!(gather(&bytes, 0, u64::MAX, BYTES, 3, "").is_err());
        assert!(gather(&bytes, 0, 1, BYTES, 2, "").is_err());
    }

    #[test]
    fn padding_of_matrix_columns_is_taken_out() {
        let shape = shape_of(Component::U8, Type::Mat3);
        let bytes = [1, 2, 3, 0, 4, 5, 6, 0, 7, 8, 9];
        assert_eq!(*gather(&bytes, 0, 0, shape, 1, "").unwrap(), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
    }

    #[test]
    fn integers_are_normalised_as_the_specification_says() {
        let floats = |component, normalized, bytes: &[u8]| {
            let count = bytes.len() / component.size();
            let bytes = Cow::Owned(bytes.to_vec());
            Elements { pointer: String::new(), component, normalized, components: 1, kind: Type::Scalar, count, bytes }.floats().unwrap()
        };
        assert_eq!(floats(Component::I8, true, &[127, 128, 129, 0]), [1.0, -1.0, -1.0, 0.0]);
        assert_eq!(floats(Component::U8, true, &[255, 51]), [1.0, 0.2]);
        assert_eq!(floats(Component::I16, true, &[0xFF, 0x7F, 0, 0x80]), [1.0, -1.0]);
        assert_eq!(floats(Component::U16, true, &[0xFF, 0xFF]), [1.0]);
        assert_eq!(floats(Component::I8, false, &[128]), [-128.0]);
        assert_eq!(floats(Component::U16, false, &[1, 2]), [513.0]);
    }
}
