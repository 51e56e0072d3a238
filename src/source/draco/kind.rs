//! Types of the components of attributes.

use super::Result;
use crate::scene::Component;

/// Type of a component.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
    Bool,
}

impl Kind {
    /// From its number in the stream.
    pub(super) fn new(number: u8) -> Result<Self> {
        use Kind::*;
        let all = [I8, U8, I16, U16, I32, U32, I64, U64, F32, F64, Bool];
        let kind = usize::from(number).checked_sub(1).and_then(|i| all.get(i).copied());
        kind.ok_or_else(|| format!("the data type of an attribute is number {number}, wanted 1 to 11"))
    }

    /// In bytes.
    pub(super) fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 | Self::Bool => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }

    /// Whether a component of an accessor is the same.
    pub(super) fn same_as(self, component: Component) -> bool {
        let same = match component {
            Component::I8 => Self::I8,
            Component::U8 => Self::U8,
            Component::I16 => Self::I16,
            Component::U16 => Self::U16,
            Component::U32 => Self::U32,
            Component::F32 => Self::F32,
        };
        self == same
    }
}
