//! Plays a kit in Bevy 0.17: here stands what is not the same in each version of Bevy, the rest is src/check.rs.

use std::process::ExitCode;

use bevy::camera::RenderTarget;
use bevy::camera::primitives::Aabb;
use bevy::prelude::*;
use bevy::render::render_resource::TextureFormat;
use bevy::render::view::screenshot::ScreenshotCaptured;

#[path = "../src/check.rs"]
mod check;
#[path = "../src/picture.rs"]
mod picture;
#[path = "../src/stage.rs"]
mod stage;
/// The kit's own code, where `run` baked it.
#[path = "../assets/bevy/vat_0_17.rs"]
mod vat;

/// What an observer of pictures gets.
type Seen<'w, 't> = On<'w, 't, ScreenshotCaptured>;

fn main() -> ExitCode {
    check::run()
}

/// A camera that shows this behind everything, and draws into that.
fn camera(behind: ClearColorConfig, target: Handle<Image>) -> impl Bundle {
    Camera { clear_color: behind, target: RenderTarget::Image(target.into()), ..default() }
}

/// A square to draw into.
fn target_image(side: u32) -> Image {
    Image::new_target_texture(side, side, TextureFormat::Rgba8UnormSrgb)
}

/// A light that casts shadows.
fn shadowed(sun: DirectionalLight) -> DirectionalLight {
    DirectionalLight { shadows_enabled: true, ..sun }
}
