//! Controls by keyboard, mouse, touch and assistive technology.

use serde_json::json;

use super::Failed;
use super::visit::{bake, sample, visit, write};

/// axe-core finds no fault, in both themes, on a phone and on a desk, with the help open; and it would find one.
pub fn accessibility() -> Result<(), Failed> {
    let (baked, folder) = bake(&sample(), |_| ())?;
    let page = write(&baked, None, folder.path())?;
    for (scheme, width) in [("light", 1280), ("dark", 390)] {
        let window = json!({ "viewport": { "width": width, "height": 800 }, "colorScheme": scheme });
        let spoil = "#loop";
        let steps = json!([["open", "#paused"], ["axe"], ["press", "4", "?"], ["axe"], ["press", "Escape"], ["unlabel", spoil], ["axe"]]);
        let found = visit(&page, window, steps)?;
        assert_eq!((&found.told[0], &found.told[1]), (&json!([]), &json!([])), "faults in {scheme}, {width} wide");
        let spoilt = found.told[2].to_string();
        assert!(spoilt.contains("label") && spoilt.contains(spoil), "axe-core does not miss a label: {spoilt}");
    }
    Ok(())
}

/// It plays by itself, counts its pictures, pauses, and does not begin to move where motion is not wanted.
pub fn plays_and_pauses() -> Result<(), Failed> {
    let (baked, folder) = bake(&sample(), |o| o.only = vec!["Hat".into()])?;
    let page = write(&baked, None, folder.path())?;
    let steps = json!([
        ["open", "#clip=Wave"],
        ["look"],
        ["wait", 1600],
        ["look"],
        ["press", "Space"],
        ["look"],
        ["wait", 300],
        ["look"],
        ["click", "#play"],
        ["wait", 300],
        ["look"],
        ["at", "loop=off&t=2.3"],
        ["wait", 600],
        ["look"]
    ]);
    let found = visit(&page, json!({}), steps)?;
    let time = |k: usize| found.told[k]["scrub"].as_f64().unwrap_or(-1.0);
    assert!(time(1) != time(0) && found.text(0, "play") == "Pause", "{} and {}", time(0), time(1));
    assert!(found.text(1, "rate").ends_with("frames a second"), "{}", found.text(1, "rate"));
    assert!(time(3) == time(2) && found.text(2, "play") == "Play", "paused at {} and {}", time(2), time(3));
    assert!(found.text(2, "live").starts_with("Paused at"), "{}", found.text(2, "live"));
    assert!(time(4) != time(3) && found.text(4, "play") == "Pause");
    assert_eq!((found.text(5, "play").as_str(), found.text(5, "clock").as_str()), ("Play", "2.40 / 2.40 s"), "it plays once and holds");

    let still = visit(&page, json!({ "reducedMotion": "reduce" }), json!([["open", ""], ["look"], ["wait", 300], ["look"]]))?;
    assert_eq!((still.text(0, "play").as_str(), &still.told[0]["scrub"]), ("Play", &still.told[1]["scrub"]));
    Ok(())
}

/// Every key of the help does what it says; a control with the focus keeps its own.
pub fn keys() -> Result<(), Failed> {
    let (baked, folder) = bake(&sample(), |_| ())?;
    let page = write(&baked, None, folder.path())?;
    let steps = json!([
        ["open", "#paused"],
        ["press", "ArrowRight", "ArrowRight", "ArrowLeft"],
        ["look"],
        ["press", "ArrowDown", "End"],
        ["look"],
        ["press", "ArrowUp", "Home"],
        ["look"],
        ["press", "2"],
        ["look"],
        ["press", "3"],
        ["look"],
        ["press", "l", "b", "]", "]", "["],
        ["look"],
        ["press", ".", "."],
        ["look"],
        ["press", ","],
        ["look"],
        ["press", "?"],
        ["look"],
        ["press", "Escape"],
        // The focus is on a slider: arrows are the slider's.
        ["focus", "#speed"],
        ["press", "ArrowLeft"],
        ["look"],
        ["focus", "#scrub"],
        ["press", "Home", "ArrowRight"],
        ["look"],
        // Single keys can be turned off; arrows stay.
        ["focus", "body"],
        ["click", "#help-open"],
        ["click", "#letters"],
        ["press", "Escape"],
        ["press", "l"],
        ["look"]
    ]);
    let found = visit(&page, json!({}), steps)?;
    let text = |k: usize, field: &str| found.text(k, field);
    assert_eq!(text(0, "caption"), "Walk, frame 1.0 of 8");
    assert_eq!(text(1, "caption"), "Wave, frame 24.0 of 24");
    assert_eq!(text(2, "caption"), "Walk, frame 0.0 of 8");
    assert_eq!((text(3, "view").as_str(), text(3, "live").as_str()), ("Normals", "View: Normals"));
    assert_eq!(text(4, "view"), "Texture", "there is no view of errors");
    assert_eq!((text(5, "loop"), text(5, "blend"), text(5, "speed")), ("false".into(), "false".into(), "1.10×".into()));
    assert_eq!((text(6, "crowd").as_str(), text(7, "crowd").as_str()), ("3 instances", "2 instances"));
    assert_eq!((text(8, "help").as_str(), text(9, "help").as_str()), ("true", "false"));
    assert_eq!((text(9, "speed").as_str(), text(9, "caption").as_str()), ("1.05×", text(7, "caption").as_str()));
    assert_eq!(text(10, "caption"), "Walk, row 1", "the slider steps by frames");
    assert_eq!(text(11, "loop"), "false", "L does nothing any more");
    Ok(())
}

/// One finger or the mouse turns, two pinch, the wheel goes nearer, the right button moves; F brings the first picture back.
pub fn mouse_and_touch() -> Result<(), Failed> {
    let (baked, folder) = bake(&sample(), |_| ())?;
    let page = write(&baked, None, folder.path())?;
    let steps = json!([
        ["open", "#paused&ui=off"],
        ["shot", "first"],
        ["touch", [[200, 150], [280, 170]]],
        ["shot", "finger"],
        ["press", "f"],
        ["shot", "back"],
        ["touch", [[200, 150], [140, 150]], [[280, 150], [340, 150]]],
        ["shot", "pinch"],
        ["press", "f"],
        ["drag", [200, 150], [280, 170]],
        ["shot", "mouse"],
        ["press", "f"],
        ["drag", [200, 150], [280, 170], "right"],
        ["shot", "right"],
        ["press", "f"],
        ["wheel", -300],
        ["shot", "wheel"],
        ["press", "f"],
        ["press", "Shift+ArrowRight"],
        ["shot", "key"],
        ["press", "f", "+"],
        ["shot", "plus"]
    ]);
    let found = visit(&page, json!({ "hasTouch": true }), steps)?;
    assert_eq!(found.difference("first", "back")?, 0.0, "F frames the model");
    for moved in ["finger", "pinch", "mouse", "right", "wheel", "key", "plus"] {
        let share = found.difference("first", moved)?;
        assert!(share > 0.02, "{moved}: {share} of the pixels differ");
    }
    assert!(found.difference("mouse", "right")? > 0.02, "the buttons do not do the same");
    // A finger and the mouse that go the same way show the same.
    assert!(found.difference("finger", "mouse")? < 0.01);
    Ok(())
}

/// Dark and light by the system, the switch, the key and the address; the canvas goes with them.
pub fn dark_and_light() -> Result<(), Failed> {
    let (baked, folder) = bake(&sample(), |o| o.only = vec!["Hat".into()])?;
    let page = write(&baked, None, folder.path())?;
    let (dark, light) = ("rgb(18, 21, 26)", "rgb(243, 241, 236)");
    for (scheme, own, other) in [("dark", dark, light), ("light", light, dark)] {
        let steps = json!([
            ["open", "#paused"],
            ["look"],
            ["shot", "own"],
            ["click", "#theme"],
            ["look"],
            ["shot", "other"],
            ["press", "t"],
            ["look"],
            ["at", "theme=dark"],
            ["look"],
            ["at", "theme=system"],
            ["look"]
        ]);
        let window = json!({ "viewport": { "width": 900, "height": 600 }, "colorScheme": scheme });
        let found = visit(&page, window, steps)?;
        let backs: Vec<_> = (0..5).map(|k| found.text(k, "back")).collect();
        assert_eq!(backs, [own, other, own, dark, own], "{scheme}");
        // A corner of the canvas, above the horizon.
        let corner = |name: &str| found.picture(name).map(|p| p.get_pixel(40, 90).0.iter().map(|&c| u32::from(c)).sum::<u32>());
        let (a, b) = (corner("own")?, corner("other")?);
        assert!(if scheme == "dark" { a + 300 < b } else { b + 300 < a }, "the canvas is {a} and {b} in {scheme}");
    }
    Ok(())
}
