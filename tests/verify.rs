//! `vatbake verify` and the decoder under it: a good bake passes, every way to spoil one is named, and hostile files end in a sentence.

mod support;

#[path = "support/verify.rs"]
mod verify;

mod decoder {
    use std::path::PathBuf;

    use super::support;
    use support::bake::options;
    use vatbake::baked::Baked;
    use vatbake::options::{Format, Normals, Position};
    use vatbake::output::sidecar::Role;
    use vatbake::{Input, Options};

    fn same(options: Options) {
        let bake = support::bake(Input::File(PathBuf::from("assets/bun.glb")), options.clone()).expect("a bake");
        let read = Baked::read(bake.folder.path()).unwrap_or_else(|e| panic!("{options:?}: {e}"));
        assert_eq!(read.name, "bun");
        assert_eq!(read.texture(Role::Normal).is_some(), options.normals != Normals::None);
        assert_eq!(read.mesh.positions.len(), bake.vertex_count);
        assert_eq!(read.mesh.indices.len(), bake.indices.len());
        for texture in &read.sidecar.textures {
            let (texture, image) = read.texture(texture.role).expect("a texture of the role");
            assert_eq!(texture.crc32, format!("{:08x}", image.texels.crc32()));
        }
        for frame in (0..bake.frame_count).step_by(7) {
            for vertex in 0..bake.vertex_count {
                // That one reads scale and bias as f64 where they are f32.
                support::bake::assert_near(read.position(vertex, frame).to_array(), bake.position(frame, vertex), 1e-7);
                if let Some(normal) = read.normal(vertex, frame) {
                    support::bake::assert_near(normal.to_array(), bake.normal(frame, vertex), 1e-12);
                }
            }
        }
    }

    #[test]
    fn reads_every_format_as_the_tests_own_decoder_does() {
        for format in [Format::Png8, Format::Png16, Format::Exr16, Format::Exr32] {
            for normals in [Normals::None, Normals::Separate, Normals::Alpha] {
                if normals == Normals::Alpha && format != Format::Png16 {
                    continue;
                }
                for position in [Position::Offset, Position::Absolute] {
                    same(Options { format, normals, position, ..options() });
                }
            }
        }
    }
}
