//! Elements of an accessor as numbers: floats, normalised integers, indices (glTF 2.0, 3.6.2.2). Bytes are never cast.

use std::borrow::Cow;

use gltf::json::accessor::Type;

use crate::Fault;
use crate::scene::Component;

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

/// Unsigned integers of any size.
pub(super) fn unsigned(component: Component, bytes: &[u8]) -> Vec<u32> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_normalised_as_the_specification_says() {
        let floats = |component: Component, normalized, bytes: &[u8]| {
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
