//! Makes `assets/bun.glb`, the project's sample: Bun, a small rabbit who bakes.
//!
//! Everything about Bun is in these files. The body is a signed distance field of soft shapes, one or two a joint, turned into
//! triangles; colours are cut into it along clean lines; clothes and tools are turned or lifted off it; both clips are functions
//! of time. The same bytes come out every time:
//!
//! ```text
//! cargo run --example make_sample
//! ```

mod body;
mod character;
mod colours;
mod cut;
mod ear;
mod face;
mod field;
mod glb;
mod lathe;
mod mesh;
mod motion;
mod props;
mod rig;
mod surface;
mod weights;

/// Where the sample is, from the repository's root.
pub const PATH: &str = "assets/bun.glb";

/// The sample's bytes.
pub fn build() -> Vec<u8> {
    glb::write(&rig::joints(), &character::models(), &motion::clips())
}

#[allow(dead_code)] // The test uses this file as a module.
fn main() -> std::io::Result<()> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(PATH);
    let bytes = build();
    std::fs::write(&path, &bytes)?;
    println!("{}: {} bytes", path.display(), bytes.len());
    Ok(())
}
