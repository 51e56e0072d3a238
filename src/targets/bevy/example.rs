//! A crowd that plays the clips of {{title}}, each entity at its own time; every few seconds all fade to the next clip.
//! In Cargo.toml: [[example]] with name = "crowd" and path = "assets/bevy/{{file}}_example.rs".

use bevy::prelude::*;

// Of another version of Bevy: its file.
#[path = "vat_0_19.rs"]
mod vat;
use vat::{VatClip, VatPlayer, VatPlugin};

/// Under the app's assets folder.
const VAT: &str = "bevy/{{path}}.vat.json";
/// {{clips}}.
const CLIPS: usize = {{clip_count}};
/// Entities along a side of the crowd.
const SIDE: usize = 32;
/// Metres from one to the next, by the bounds of the bake.
const SPACING: f32 = {{spacing}};

fn main() {
    App::new().add_plugins((DefaultPlugins, VatPlugin)).add_systems(Startup, setup).add_systems(Update, change).run();
}

fn setup(mut commands: Commands, server: Res<AssetServer>) {
    let vat = server.load(VAT);
    for i in 0..SIDE * SIDE {
        let at = Vec3::new((i % SIDE) as f32 - 0.5 * SIDE as f32, 0.0, -((i / SIDE) as f32)) * SPACING;
        let mut player = VatPlayer::new(vat.clone());
        // A start in the past, another for each: 0.37 s is no fraction of a step, so that they do not march in rows.
        player.clip = VatClip::looped(i % CLIPS, -0.37 * i as f32);
        commands.spawn((player, Transform::from_translation(at)));
    }
    let eye = Vec3::new(0.0, 3.0, 6.0) * SPACING;
    commands.spawn((Camera3d::default(), Transform::from_translation(eye).looking_at(Vec3::new(0.0, 0.0, -4.0) * SPACING, Vec3::Y)));
    // For shadows `shadow_maps_enabled: true`, before Bevy 0.19 `shadows_enabled`.
    commands.spawn((DirectionalLight::default(), Transform::from_xyz(2.0, 4.0, 3.0).looking_at(Vec3::ZERO, Vec3::Y)));
}

fn change(time: Res<Time>, mut seconds: Local<f32>, mut players: Query<&mut VatPlayer>) {
    *seconds += time.delta_secs();
    if CLIPS < 2 || *seconds < 5.0 {
        return;
    }
    *seconds = 0.0;
    for mut player in &mut players {
        let next = (player.clip.index + 1) % CLIPS;
        player.fade_to(VatClip::looped(next, time.elapsed_secs_wrapped()), 0.5);
    }
}
