//! The kit for three.js.

use super::{Kit, KitFile};

/// Its text files.
pub(super) fn files(_kit: &Kit<'_>) -> Vec<KitFile> {
    Vec::new()
}
