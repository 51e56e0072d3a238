//! Plays a kit in Bevy 0.16: here stands what is not the same in each version of Bevy, the rest is src/check.rs.

use std::process::ExitCode;

use bevy::asset::RenderAssetUsages;
use bevy::prelude::*;
use bevy::render::camera::RenderTarget;
use bevy::render::primitives::Aabb;
use bevy::render::render_resource::{Extent3d, TextureDimension, TextureFormat, TextureUsages};
use bevy::render::view::screenshot::ScreenshotCaptured;

#[path = "../src/check.rs"]
mod check;
#[path = "../src/picture.rs"]
mod picture;
#[path = "../src/stage.rs"]
mod stage;
/// The kit's own code, where `run` baked it.
#[path = "../assets/bevy/vat_0_16.rs"]
mod vat;

/// What an observer of pictures gets.
type Seen<'w, 't> = Trigger<'w, ScreenshotCaptured>;

fn main() -> ExitCode {
    check::run()
}

/// A camera that shows this behind everything, and draws into that.
fn camera(behind: ClearColorConfig, target: Handle<Image>) -> impl Bundle {
    Camera { clear_color: behind, target: RenderTarget::Image(target.into()), ..default() }
}

/// A square to draw into.
fn target_image(side: u32) -> Image {
    let size = Extent3d { width: side, height: side, ..default() };
    let mut image = Image::new_fill(size, TextureDimension::D2, &[0; 4], TextureFormat::Rgba8UnormSrgb, RenderAssetUsages::default());
    image.texture_descriptor.usage = TextureUsages::TEXTURE_BINDING | TextureUsages::COPY_SRC | TextureUsages::RENDER_ATTACHMENT;
    image
}

/// A light that casts shadows.
fn shadowed(sun: DirectionalLight) -> DirectionalLight {
    DirectionalLight { shadows_enabled: true, ..sun }
}
