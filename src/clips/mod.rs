//! Clips before they are laid out: taken from other files, put together from parts. Scene to scene.

mod attach;
mod matching;
mod merge;

pub use attach::attach_clips;
pub use merge::merge_clips;
