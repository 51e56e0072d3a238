//! The kit for Bevy.

use super::{Kit, KitFile};

/// Its text files.
pub(super) fn files(_kit: &Kit<'_>) -> Vec<KitFile> {
    Vec::new()
}
