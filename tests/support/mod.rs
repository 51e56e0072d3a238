//! What the tests share: small models made in code, an independent decoder of what was baked, and the oracle.
//!
//! | module | what |
//! | --- | --- |
//! | `fixture` | a glTF document made of accessors and raw JSON, so that any field can be broken |
//! | `models` | the handful of documents that many cases start from |
//! | `bake` | bakes a document into a temporary folder and decodes what was written |
//! | `decode`, `texture`, `glb` | the decoder, written from the format's page alone; it shares no code with the encoder |
//! | `kit` | engines' imports as functions, and kits' shaders made runnable |
//! | `meshopt` | compresses buffer views of such a document |
//! | `random` | random skinned models and their reference |
//! | `oracle` | the given models and where their vertices must be |
//! | `playback` | runs a playback shader on the software adapter |
//! | `browser` | headless Chromium, driven by Node scripts |
//! | `preview` | draws a bake on the software adapter and reads the picture |
//! | `validate` | Khronos's validator and a JSON Schema validator, both run by Node |

// Every test binary compiles this module and uses a part of it.
#![allow(dead_code, unused_imports)]

pub mod bake;
pub mod browser;
pub mod decode;
pub mod fixture;
pub mod glb;
pub mod kit;
pub mod kit_text;
#[cfg(feature = "meshopt")]
pub mod meshopt;
pub mod models;
pub mod oracle;
pub mod playback;
pub mod preview;
pub mod random;
pub mod texture;
pub mod validate;

pub use bake::{Baked, bake, bake_fixture, on_every_device, refuse};
pub use decode::Vat;
pub use fixture::{Array, Doc, Type, mat4, scalars, vec2, vec3, vec4};
