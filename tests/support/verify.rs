//! Spoils bakes.
