//! Accessors: typed elements out of bytes, with stride, sparse substitution and normalised integers (glTF 2.0, 3.6.2). All sizes are
//! computed in checked 64-bit arithmetic against the bytes that are really there, and bytes are never cast.

use std::borrow::Cow;

use gltf::json::accessor::{Accessor, ComponentType, Type};
use gltf::json::validation::Checked;

use super::document::{Document, missing};
use super::elements::{Elements, unsigned};
use crate::Fault;
use crate::scene::Component;
use crate::warning::{Code, Warnings};

const DAMAGED: &str = "the file is damaged; export the model again";

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
    let (accessor, shape, mut elements) = outline(doc, index, at)?;
    elements.bytes = gather_base(doc, accessor, shape, elements.count, &elements.pointer, warnings)?;
    elements.bytes = substitute(doc, accessor, shape, elements.count, elements.bytes, &elements.pointer, warnings)?;
    Ok(elements)
}

/// Reads an accessor whose elements come from elsewhere than its buffer view: `decode` has its type and count, and yields the bytes.
pub(super) fn read_decoded<'a>(
    doc: &'a Document<'_>,
    index: usize,
    at: &str,
    decode: &dyn Fn(&Elements<'_>) -> Result<Vec<u8>, Fault>,
    warnings: &mut Warnings,
) -> Result<Elements<'a>, Fault> {
    let (accessor, shape, mut elements) = outline(doc, index, at)?;
    reserve(doc, shape, elements.count, &elements.pointer)?;
    elements.bytes = Cow::Owned(decode(&elements)?);
    elements.bytes = substitute(doc, accessor, shape, elements.count, elements.bytes, &elements.pointer, warnings)?;
    Ok(elements)
}

/// An accessor, the shape of its elements, and these without their bytes.
fn outline<'a>(doc: &'a Document<'_>, index: usize, at: &str) -> Result<(&'a Accessor, Shape, Elements<'a>), Fault> {
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
    let components = shape.columns * shape.rows;
    let count = usize::try_from(accessor.count.0).map_err(|_| Fault::new(&pointer, "`count` is too large", DAMAGED))?;
    let bytes = Cow::Borrowed([].as_slice());
    Ok((accessor, shape, Elements { pointer, component, normalized: accessor.normalized, components, kind, count, bytes }))
}

/// Decoded data is at most four bytes a component.
fn reserve(doc: &Document<'_>, shape: Shape, count: usize, pointer: &str) -> Result<(), Fault> {
    doc.reserve(count as u64, (shape.columns * shape.rows * 4) as u64, pointer)
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
    let Some(view) = accessor.buffer_view else {
        reserve(doc, shape, count, pointer)?;
        return Ok(Cow::Owned(vec![0; count * shape.packed()]));
    };
    let bytes = doc.view(view.value(), pointer)?;
    let offset = accessor.byte_offset.unwrap_or_default().0;
    let stride = doc.root.buffer_views.get(view.value()).and_then(|v| v.byte_stride).map_or(0, |s| s.0 as u64);
    let begin = doc.root.buffer_views.get(view.value()).and_then(|v| v.byte_offset).unwrap_or_default().0;
    if begin.wrapping_add(offset) % shape.component.size() as u64 != 0 {
        warnings.add(Code::Misaligned, 1, || {
            format!("{{count}} accessors stand at offsets that their types do not allow (first: {pointer}); they were read all the same")
        });
    }
    let elements = gather(bytes, offset, stride, shape, count, pointer)?;
    reserve(doc, shape, count, pointer)?;
    Ok(elements)
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
        let place = (index as usize).checked_mul(size).and_then(|start| bytes.get_mut(start..start.checked_add(size)?));
        let Some(place) = place else {
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
}
