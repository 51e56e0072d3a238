//! Previews of a bake, made from its written files.

pub mod page;
