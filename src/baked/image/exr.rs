//! OpenEXR through the `exr` crate's reader: any lossless or lossy compression that it knows, channels in any order, the largest
//! resolution level of the first layer that has R, G and B.

use std::io::Cursor;

use exr::meta::MetaData;
use exr::prelude::{FlatSamples, ReadChannels, ReadLayers};
use half::f16;

use super::{Image, Texels, check_size, check_unfolded};

pub(super) fn matches(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x76, 0x2F, 0x31, 0x01])
}

pub(super) fn decode(bytes: &[u8]) -> Result<Image, String> {
    let broken = |e: exr::error::Error| format!("the EXR cannot be read ({e}); it is cut off, damaged or of an unsupported compression");
    // The header first: what it says must fit the file before the reader reserves memory for it.
    let meta = MetaData::read_from_buffered(Cursor::new(bytes), false).map_err(broken)?;
    let mut total = 0_u64;
    for header in &meta.headers {
        let size = header.layer_size;
        let (width, height) = (u32::try_from(size.width()), u32::try_from(size.height()));
        let texels = check_size(width.unwrap_or(u32::MAX), height.unwrap_or(u32::MAX))?;
        let bytes_a_texel: u64 = header.channels.list.iter().map(|c| c.sample_type.bytes_per_sample() as u64).sum();
        total = total.saturating_add(texels.saturating_mul(bytes_a_texel));
    }
    check_unfolded(total, bytes.len())?;
    let reader = exr::prelude::read().no_deep_data().largest_resolution_level().all_channels().all_layers().all_attributes();
    let image = reader.from_buffered(Cursor::new(bytes)).map_err(broken)?;
    let has = |layer: &exr::image::Layer<exr::image::AnyChannels<FlatSamples>>, name: &str| {
        layer.channel_data.list.iter().any(|c| is_named(&c.name.to_string(), name))
    };
    let layer = image.layer_data.iter().find(|layer| ["R", "G", "B"].iter().all(|name| has(layer, name)));
    let layer = layer.ok_or("the EXR has no layer with the channels R, G and B; take the baked file, or bake again")?;
    let (width, height) = (layer.size.width(), layer.size.height());
    let count = width * height;
    let mut channels: [Option<&FlatSamples>; 4] = [None; 4];
    for channel in &layer.channel_data.list {
        let name = channel.name.to_string();
        if let Some(place) = ["R", "G", "B", "A"].iter().position(|n| is_named(&name, n)) {
            if channel.sampling.0 != 1 || channel.sampling.1 != 1 {
                return Err(format!("the channel {name} of the EXR is subsampled, so texels are lost; take the baked file, or bake again"));
            }
            channels[place] = Some(&channel.sample_data);
        }
    }
    let halves = channels.iter().flatten().all(|c| matches!(c, FlatSamples::F16(_)));
    let texels = if halves {
        Texels::Half(gather(&channels, count, f16::ONE, |samples, i| match samples {
            FlatSamples::F16(all) => all.get(i).copied(),
            _ => None,
        })?)
    } else {
        Texels::Float(gather(&channels, count, 1.0, |samples, i| match samples {
            FlatSamples::F16(all) => all.get(i).map(|v| v.to_f32()),
            FlatSamples::F32(all) => all.get(i).copied(),
            FlatSamples::U32(all) => all.get(i).map(|&v| v as f32),
        })?)
    };
    let narrow = |v: usize| u32::try_from(v).map_err(|_| format!("the EXR has {width} x {height} texels"));
    Ok(Image { width: narrow(width)?, height: narrow(height)?, texels })
}

/// `R`, or `layer.R`.
fn is_named(full: &str, name: &str) -> bool {
    full.rsplit('.').next().is_some_and(|last| last.eq_ignore_ascii_case(name))
}

/// Texels from four channels; an absent alpha is 1.
fn gather<T: Copy>(
    channels: &[Option<&FlatSamples>; 4],
    count: usize,
    absent: T,
    get: impl Fn(&FlatSamples, usize) -> Option<T>,
) -> Result<Vec<[T; 4]>, String> {
    let mut texels = vec![[absent; 4]; count];
    for (place, channel) in channels.iter().enumerate() {
        let Some(samples) = channel else { continue };
        for (i, texel) in texels.iter_mut().enumerate() {
            texel[place] = get(samples, i).ok_or("a channel of the EXR has too few samples; it is cut off or damaged")?;
        }
    }
    Ok(texels)
}
