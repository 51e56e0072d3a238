//! What a page must never do: ask for anything, run what a bake brings, or fail without a word.

use serde_json::json;
use vatbake::baked::Texels;
use vatbake::preview::page::{self, Errors};

use super::Failed;
use super::visit::{address, bake, sample, visit, write};

/// A page opens without a server, asks for nothing but itself, and shows what the sidecar says, on a narrow screen too.
pub fn opens_from_disk() -> Result<(), Failed> {
    let (baked, folder) = bake(&sample(), |_| ())?;
    let page = write(&baked, None, folder.path())?;
    for width in [320, 1280] {
        let found = visit(&page, json!({ "viewport": { "width": width, "height": 640 } }), json!([["open", "#paused"], ["look"]]))?;
        assert_eq!(found.requests, [address(&page)], "nothing but the page is asked for");
        let look = &found.told[0];
        assert_eq!((&look["state"], &look["wide"]), (&json!("ready"), &json!(false)), "{look}");
        assert_eq!(look["title"], "bun: vatbake preview");
        assert_eq!(look["clips"], json!(["Walk", "Wave"]));
        assert_eq!(look["images"], 0);
        let facts = found.text(0, "facts");
        for fact in ["6,441", "rgba16unorm", "offset-unorm", &baked.sidecar.source.sha256, &baked.sidecar.textures[0].crc32] {
            assert!(facts.contains(fact), "{fact} in {facts}");
        }
    }
    Ok(())
}

/// Names are text wherever they stand, and no script runs but the page's own.
pub fn hostile_names_are_text() -> Result<(), Failed> {
    let (mut baked, folder) = bake(&sample(), |_| ())?;
    let hostile = "</script><img src=x onerror=hacked=1><script>hacked=2</script>";
    let names = [format!("{hostile}\u{2028}"), format!("<!--<script>{hostile}")];
    baked.name = format!("\"'><svg onload=hacked=3>{hostile}");
    baked.sidecar.source.file = hostile.into();
    baked.sidecar.mesh.file = hostile.into();
    for (clip, name) in baked.sidecar.clips.iter_mut().zip(&names) {
        clip.name = Some(name.clone());
    }
    let errors = Errors {
        unit: hostile.into(),
        largest: 1.0,
        values: vec![128; baked.sidecar.vertex_count as usize * baked.sidecar.frame_count as usize],
    };
    let page = write(&baked, Some(&errors), folder.path())?;
    let steps = json!([["open", "#paused"], ["look"], ["press", "ArrowDown", "3"], ["look"], ["wait", 200], ["look"]]);
    let found = visit(&page, json!({}), steps)?;
    assert_eq!(found.requests, [address(&page)]);
    for look in &found.told {
        assert_eq!((&look["hacked"], &look["images"], &look["state"]), (&json!(null), &json!(0), &json!("ready")), "{look}");
    }
    assert_eq!(found.told[0]["clips"], json!(names));
    assert_eq!(found.text(0, "title"), format!("{}: vatbake preview", baked.name));
    assert!(found.text(1, "note").contains(hostile) && found.text(1, "live").contains("Error"), "the view was reached");
    assert!(found.text(1, "label").contains("<!--<script>"), "the clip was reached");
    Ok(())
}

/// A page that was not copied whole says so instead of waiting for ever.
pub fn cut_file_says_so() -> Result<(), Failed> {
    let (baked, folder) = bake(&sample(), |_| ())?;
    let page = write(&baked, None, folder.path())?;
    let bytes = std::fs::read(&page)?;
    for share in [0.3, 0.9] {
        std::fs::write(&page, &bytes[..(bytes.len() as f64 * share) as usize])?;
        let found = visit(&page, json!({}), json!([["open", ""], ["look"]]))?;
        assert_eq!(found.text(0, "state"), "failed", "cut to {share}");
        assert!(found.text(0, "cover").contains("incomplete"), "cut to {share}: {}", found.text(0, "cover"));
    }
    Ok(())
}

/// A browser without WebGL 2, and a device whose textures are too small, get a sentence with the remedy.
pub fn old_device_says_so() -> Result<(), Failed> {
    let (baked, folder) = bake(&sample(), |_| ())?;
    let page = write(&baked, None, folder.path())?;
    let none = "HTMLCanvasElement.prototype.getContext = () => null";
    let small = "const get = WebGL2RenderingContext.prototype.getParameter; \
        WebGL2RenderingContext.prototype.getParameter = function (n) { return n === this.MAX_TEXTURE_SIZE ? 2048 : get.call(this, n) }";
    let stale = "delete globalThis.DecompressionStream";
    for (device, told) in [(none, "no WebGL 2"), (small, "--max-size 2048"), (stale, "too old")] {
        let found = visit(&page, json!({}), json!([["before", device], ["open", ""], ["look"]]))?;
        assert_eq!(found.text(0, "state"), "failed");
        assert!(found.text(0, "cover").contains(told), "{}", found.text(0, "cover"));
    }
    Ok(())
}

/// What does not fit is a sentence, and nothing is written.
pub fn limits() -> Result<(), Failed> {
    let (mut baked, _folder) = bake(&sample(), |_| ())?;
    let mut out = Vec::new();
    let few = Errors { unit: "metre".into(), largest: 1.0, values: vec![0; 7] };
    let error = page::write(&baked, Some(&few), &mut out).expect_err("7 values").to_string();
    assert!(error.contains("7 error values") && error.contains("6441 vertices"), "{error}");
    // The size is told by the layout; the texels of this one are never looked at.
    (baked.images[0].width, baked.images[0].height) = (8192, 16384);
    baked.images[0].texels = Texels::Unorm16(vec![[0; 4]; 4]);
    let error = page::write(&baked, None, &mut out).expect_err("a gigabyte").to_string();
    let told = ["MiB", "512", "--clips", "--fps", "bun.vat.json"].iter().all(|word| error.contains(word));
    assert!(told && error.ends_with("bun.vat.json"), "{error}");
    assert_eq!(out.len(), 0, "nothing was written");
    Ok(())
}
