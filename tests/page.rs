//! The preview page in headless Chromium: opened from disk, as people do.
//!
//! Each picture is compared with one that must differ as well as with one that must not: a page that shows nothing fails. The last
//! tests are the deciding ones: three.js plays the given models by its own skinning in the same browser, and the outlines must agree.

#[path = "support/page/compare.rs"]
mod compare;
#[path = "support/page/input.rs"]
mod input;
#[path = "support/page/pictures.rs"]
mod pictures;
#[path = "support/page/safety.rs"]
mod safety;
mod support;
#[path = "support/page/visit.rs"]
mod visit;

use libtest_mimic::{Arguments, Failed, Trial};

/// A test.
type Check = fn() -> Result<(), Failed>;

fn main() {
    let arguments = Arguments::from_args();
    let checks: &[(&str, Check)] = &[
        ("opens-from-disk", safety::opens_from_disk),
        ("hostile-names-are-text", safety::hostile_names_are_text),
        ("cut-file-says-so", safety::cut_file_says_so),
        ("old-device-says-so", safety::old_device_says_so),
        ("limits", safety::limits),
        ("accessibility", input::accessibility),
        ("plays-and-pauses", input::plays_and_pauses),
        ("keys", input::keys),
        ("mouse-and-touch", input::mouse_and_touch),
        ("dark-and-light", input::dark_and_light),
        ("times-and-loops", pictures::times_and_loops),
        ("crowd-is-one-call-a-material", pictures::crowd_is_one_call_a_material),
        ("still-bake-stands", pictures::still_bake_stands),
        ("views", pictures::views),
        ("every-encoding", pictures::every_encoding),
        ("other-axes-are-turned-upright", pictures::other_axes_are_turned_upright),
    ];
    let mut trials: Vec<Trial> = checks.iter().map(|&(name, check)| Trial::test(name, check)).collect();
    trials.extend(compare::trials());
    libtest_mimic::run(&arguments, trials).exit();
}
