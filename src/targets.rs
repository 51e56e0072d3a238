//! What a bake becomes for an engine (`--for`): the axes it is turned into, the form in which the engine loads texels without loss,
//! and the kit of text files that play it.
//!
//! A kit's files are pure functions of the sidecar. Their text lies beside the code that fills it in, one folder an engine, in the
//! language that the engine reads; the decode in it is that of `shaders/playback`.

mod fill;

pub mod bevy;
pub mod godot;
pub mod three;
pub mod unity;
pub mod unreal;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::output::sidecar::{Forward, Handedness, Sidecar, Up};

/// An engine whose kit can be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Target {
    /// Godot 4: EXR offsets, shader, material, crowd scene, import settings
    Godot,
    /// Unity 2022 or later with URP: raw texels, importer, shader, spawner
    Unity,
    /// Unreal Engine 5: EXR offsets in its axes and centimetres, editor script that imports all of it
    Unreal,
    /// Bevy: 16-bit PNG or KTX2, `.meta` files, material extension, plugin
    Bevy,
    /// three.js: KTX2 or EXR, ES module, page
    Three,
}

/// What the text files of a kit are made from.
#[derive(Debug, Clone, Copy)]
pub struct Kit<'a> {
    /// Name of the bake: the beginning of its files' names.
    pub name: &'a str,
    /// What is written beside them, in the engine's own axes and unit.
    pub sidecar: &'a Sidecar,
}

/// A text file of a kit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KitFile {
    /// Its name, beside the sidecar.
    pub name: String,
    /// What it holds.
    pub text: String,
}

/// The space that an engine's texels, bounds and ranges are in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Axes {
    /// Axis that points up.
    pub up: Up,
    /// Axis that a model faces.
    pub forward: Forward,
    /// Handedness.
    pub handedness: Handedness,
    /// Units of a metre.
    pub scale: f32,
}

impl Target {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Godot, Self::Unity, Self::Unreal, Self::Bevy, Self::Three];

    /// The name of the kit's folder.
    pub fn folder(self) -> &'static str {
        match self {
            Self::Godot => "godot",
            Self::Unity => "unity",
            Self::Unreal => "unreal",
            Self::Bevy => "bevy",
            Self::Three => "three",
        }
    }

    /// The engine's axes and unit, as its importer turns a glTF into them.
    pub fn axes(self) -> Axes {
        let gltf = Axes { up: Up::PositiveY, forward: Forward::PositiveZ, handedness: Handedness::Right, scale: 1.0 };
        match self {
            Self::Godot | Self::Bevy | Self::Three => gltf,
            // glTFast and UnityGLTF: x negated
            Self::Unity => Axes { handedness: Handedness::Left, ..gltf },
            // Interchange: (x, z, y) in centimetres
            Self::Unreal => Axes { up: Up::PositiveZ, forward: Forward::PositiveY, handedness: Handedness::Left, scale: 100.0 },
        }
    }

    /// Longest side of a texture that nearly all devices take which run the engine, texels.
    pub fn longest_side(self) -> u32 {
        match self {
            Self::Three => 4096,
            _ => 16384,
        }
    }

    /// Longest texture file that the engine's importer reads, bytes.
    pub fn longest_file(self) -> u64 {
        match self {
            // an array of .NET
            Self::Unity => 0x7fff_ffc7,
            _ => u64::MAX,
        }
    }

    /// Last UV set that the engine reads, from 0.
    pub fn last_uv_set(self) -> u32 {
        match self {
            Self::Bevy => 1,
            Self::Three => 3,
            // Godot's importer puts sets 2 to 7 in CUSTOM0 to CUSTOM2, in pairs
            Self::Godot | Self::Unity | Self::Unreal => 7,
        }
    }

    /// What the kit shows otherwise than the bake has it, a sentence each with its numbers.
    pub fn check(self, kit: &Kit<'_>) -> Vec<String> {
        match self {
            Self::Godot => godot::check(kit),
            Self::Unreal => unreal::check(kit),
            Self::Unity | Self::Bevy | Self::Three => Vec::new(),
        }
    }

    /// The kit's text files.
    pub fn files(self, kit: &Kit<'_>) -> Vec<KitFile> {
        match self {
            Self::Godot => godot::files(kit),
            Self::Unity => unity::files(kit),
            Self::Unreal => unreal::files(kit),
            Self::Bevy => bevy::files(kit),
            Self::Three => three::files(kit),
        }
    }
}
