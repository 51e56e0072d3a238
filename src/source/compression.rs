//! EXT_meshopt_compression and KHR_meshopt_compression: compressed buffer views. The decoder trusts its caller on counts and
//! strides, so they are checked here first.

use gltf::json::buffer::View;
use serde_json::Value;

use crate::Fault;

/// The two names of one format; the second allows version 1 of the vertex codec and the colour filter.
pub(super) const EXTENSIONS: [&str; 2] = ["KHR_meshopt_compression", "EXT_meshopt_compression"];
/// What helps where a compressed file cannot be read.
pub(super) const REMEDY: &str = "decompress it first, for example with `npx @gltf-transform/cli copy in.glb out.glb`";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Attributes,
    Triangles,
    Indices,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Filter {
    None,
    Octahedral,
    Quaternion,
    Exponential,
    Color,
}

/// Where a view's compressed bytes stand and what they hold; counts and strides are known to fit mode and filter.
#[derive(Debug)]
#[cfg_attr(not(feature = "meshopt"), allow(dead_code))] // Without the decoder, nobody asks what is to be decoded.
pub(super) struct Packed {
    pub(super) extension: &'static str,
    pub(super) pointer: String,
    pub(super) buffer: usize,
    pub(super) offset: u64,
    pub(super) length: u64,
    pub(super) count: u64,
    pub(super) stride: u64,
    mode: Mode,
    filter: Filter,
}

/// The compression of a buffer view, if it has one.
pub(super) fn packed(view: &View, view_pointer: &str) -> Result<Option<Packed>, Fault> {
    let found = view.extensions.as_ref().and_then(|e| EXTENSIONS.into_iter().find_map(|name| Some((name, e.others.get(name)?))));
    let Some((extension, json)) = found else { return Ok(None) };
    let pointer = format!("{view_pointer}/extensions/{extension}");
    let fault = |problem: String| Fault::new(&pointer, problem, "the file is damaged; export the model again");
    let number = |key: &str| match json.get(key) {
        None => Ok(None),
        Some(value) => value.as_u64().map(Some).ok_or_else(|| fault(format!("`{key}` is {value}, wanted a whole number"))),
    };
    let needed = |key: &str| number(key)?.ok_or_else(|| fault(format!("`{key}` is missing")));
    let mode = match json.get("mode").and_then(Value::as_str) {
        Some("ATTRIBUTES") => Mode::Attributes,
        Some("TRIANGLES") => Mode::Triangles,
        Some("INDICES") => Mode::Indices,
        other => return Err(fault(format!("the mode is {other:?}, wanted ATTRIBUTES, TRIANGLES or INDICES"))),
    };
    let filter = match json.get("filter").and_then(Value::as_str) {
        None | Some("NONE") => Filter::None,
        Some("OCTAHEDRAL") => Filter::Octahedral,
        Some("QUATERNION") => Filter::Quaternion,
        Some("EXPONENTIAL") => Filter::Exponential,
        Some("COLOR") => Filter::Color,
        Some(other) => return Err(fault(format!("the filter {other} is not known"))),
    };
    let (count, stride) = (needed("count")?, needed("byteStride")?);
    let stride_wanted = match (mode, filter) {
        (Mode::Triangles | Mode::Indices, Filter::None) => (stride == 2 || stride == 4, "2 or 4"),
        (Mode::Triangles | Mode::Indices, _) => return Err(fault(format!("the filter {filter:?} does not go with indices"))),
        (_, Filter::None | Filter::Exponential) => (stride > 0 && stride <= 256 && stride % 4 == 0, "a multiple of 4 up to 256"),
        (_, Filter::Octahedral | Filter::Color) => (stride == 4 || stride == 8, "4 or 8"),
        (_, Filter::Quaternion) => (stride == 8, "8"),
    };
    if !stride_wanted.0 {
        return Err(fault(format!("the byteStride is {stride}, wanted {}", stride_wanted.1)));
    }
    if mode == Mode::Triangles && count % 3 != 0 {
        return Err(fault(format!("the count is {count}, wanted a multiple of 3")));
    }
    if count == 0 {
        return Err(fault("the count is 0".to_owned()));
    }
    let buffer = usize::try_from(needed("buffer")?).unwrap_or(usize::MAX);
    let (offset, length) = (number("byteOffset")?.unwrap_or(0), needed("byteLength")?);
    Ok(Some(Packed { extension, buffer, offset, length, count, stride, mode, filter, pointer }))
}

impl Packed {
    /// Decodes the view's bytes. Room for the result has been reserved.
    #[cfg(feature = "meshopt")]
    pub(super) fn decode(&self, encoded: &[u8]) -> Result<Vec<u8>, Fault> {
        // Every codec spends at least a byte on a triangle or an index and two bits on sixteen vertices' byte.
        let least = match self.mode {
            Mode::Attributes => 1,
            Mode::Triangles => self.count / 3 + 17,
            Mode::Indices => self.count.saturating_add(5),
        };
        let count = usize::try_from(self.count).ok().filter(|_| encoded.len() as u64 >= least);
        let decoded = count.ok_or(meshopt::Error::Native(-2)).and_then(|count| match (self.mode, self.stride) {
            (Mode::Attributes, stride) => decode_attributes(encoded, count, stride),
            (Mode::Triangles, 2) => meshopt::decode_index_buffer::<u16>(encoded, count).map(|v| bytes_of_u16(&v)),
            (Mode::Triangles, _) => meshopt::decode_index_buffer::<u32>(encoded, count).map(|v| bytes_of_u32(&v)),
            (Mode::Indices, 2) => meshopt::decode_index_sequence::<u16>(encoded, count).map(|v| bytes_of_u16(&v)),
            (Mode::Indices, _) => meshopt::decode_index_sequence::<u32>(encoded, count).map(|v| bytes_of_u32(&v)),
        });
        let mut bytes = decoded.map_err(|_| {
            let problem = format!("{} bytes do not decode to {} elements of {} bytes", encoded.len(), self.count, self.stride);
            Fault::new(&self.pointer, problem, "the file is damaged; export or compress the model again")
        })?;
        self.unfilter(&mut bytes);
        Ok(bytes)
    }

    #[cfg(not(feature = "meshopt"))]
    pub(super) fn decode(&self, _encoded: &[u8]) -> Result<Vec<u8>, Fault> {
        let problem = format!("the data is compressed by {} and this program was built without the feature `meshopt`", self.extension);
        Err(Fault::new(&self.pointer, problem, REMEDY))
    }

    #[cfg(feature = "meshopt")]
    fn unfilter(&self, bytes: &mut [u8]) {
        match (self.filter, self.stride) {
            (Filter::None, _) => {}
            (Filter::Octahedral, 4) => in_bytes(bytes, i8::from_le_bytes, i8::to_le_bytes, meshopt::decode_filter_oct),
            (Filter::Octahedral, _) => in_bytes(bytes, i16::from_le_bytes, i16::to_le_bytes, meshopt::decode_filter_oct),
            (Filter::Quaternion, _) => in_bytes(bytes, i16::from_le_bytes, i16::to_le_bytes, meshopt::decode_filter_quat),
            (Filter::Exponential, _) => in_bytes(bytes, u32::from_le_bytes, u32::to_le_bytes, meshopt::decode_filter_exp::<1>),
            (Filter::Color, 4) => in_bytes(bytes, u8::from_le_bytes, u8::to_le_bytes, meshopt::decode_filter_color),
            (Filter::Color, _) => in_bytes(bytes, u16::from_le_bytes, u16::to_le_bytes, meshopt::decode_filter_color),
        }
    }
}

/// Runs a filter over little-endian bytes; a rest shorter than an element stays as it is.
#[cfg(feature = "meshopt")]
fn in_bytes<T: Copy, const SIZE: usize, const N: usize>(
    bytes: &mut [u8],
    from: fn([u8; SIZE]) -> T,
    to: fn(T) -> [u8; SIZE],
    filter: fn(&mut [[T; N]]),
) {
    let components: Vec<T> = bytes.as_chunks::<SIZE>().0.iter().map(|c| from(*c)).collect();
    let mut elements = components.as_chunks::<N>().0.to_vec();
    filter(&mut elements);
    for (chunk, component) in bytes.as_chunks_mut::<SIZE>().0.iter_mut().zip(elements.as_flattened()) {
        *chunk = to(*component);
    }
}

#[cfg(feature = "meshopt")]
fn bytes_of_u16(values: &[u16]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

#[cfg(feature = "meshopt")]
fn bytes_of_u32(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

/// A vertex of `N` bytes: the decoder takes the stride from its element type.
#[cfg(feature = "meshopt")]
#[derive(Clone, Copy)]
#[repr(transparent)]
struct Element<const N: usize>([u8; N]);

#[cfg(feature = "meshopt")]
impl<const N: usize> Default for Element<N> {
    fn default() -> Self {
        Self([0; N])
    }
}

#[cfg(feature = "meshopt")]
fn decode_elements<const N: usize>(encoded: &[u8], count: usize) -> meshopt::Result<Vec<u8>> {
    let elements = meshopt::decode_vertex_buffer::<Element<N>>(encoded, count)?;
    let mut bytes = Vec::with_capacity(count * N);
    elements.iter().for_each(|e| bytes.extend_from_slice(&e.0));
    Ok(bytes)
}

#[cfg(feature = "meshopt")]
fn decode_attributes(encoded: &[u8], count: usize, stride: u64) -> meshopt::Result<Vec<u8>> {
    macro_rules! by_stride {
        ($($n:literal)*) => {
            match stride {
                $( $n => decode_elements::<$n>(encoded, count), )*
                _ => Err(meshopt::Error::Native(-1)),
            }
        };
    }
    by_stride!(4 8 12 16 20 24 28 32 36 40 44 48 52 56 60 64 68 72 76 80 84 88 92 96 100 104 108 112 116 120 124 128 132 136 140 144
        148 152 156 160 164 168 172 176 180 184 188 192 196 200 204 208 212 216 220 224 228 232 236 240 244 248 252 256)
}

#[cfg(all(test, feature = "meshopt"))]
mod tests {
    use super::*;

    fn packed_of(mode: Mode, filter: Filter, count: u64, stride: u64) -> Packed {
        Packed { extension: EXTENSIONS[1], pointer: String::new(), buffer: 0, offset: 0, length: 0, count, stride, mode, filter }
    }

    #[test]
    fn indices_come_back_as_they_were() {
        let indices = [0, 1, 2, 2, 1, 3, 4, 3, 1];
        let triangles = meshopt::encode_index_buffer(&indices, 5).unwrap();
        let sequence = meshopt::encode_index_sequence(&indices, 5).unwrap();
        let as_u16: Vec<u8> = indices.iter().flat_map(|&i| (i as u16).to_le_bytes()).collect();
        assert_eq!(packed_of(Mode::Indices, Filter::None, 9, 2).decode(&sequence).unwrap(), as_u16);
        let decoded = packed_of(Mode::Triangles, Filter::None, 9, 4).decode(&triangles).unwrap();
        // The codec may turn a triangle's corners, not its winding.
        let corners: Vec<u8> = decoded.iter().step_by(4).copied().collect();
        for (found, wanted) in corners.as_chunks::<3>().0.iter().zip(indices.as_chunks::<3>().0) {
            let wanted = wanted.map(|i| i as u8);
            let turns = [[0, 1, 2], [1, 2, 0], [2, 0, 1]].map(|turn| turn.map(|k| wanted[k]));
            assert!(turns.contains(found), "{found:?} {wanted:?}");
        }
    }

    #[test]
    fn vertices_of_both_versions_come_back_as_they_were() {
        let vertices: Vec<[u8; 12]> = (0..300_u32).map(|i| std::array::from_fn(|k| (i * 7 + k as u32 * 13) as u8)).collect();
        for version in [0, 1] {
            let encoded = meshopt::encode_vertex_buffer_level(&vertices, 2, Some(version)).unwrap();
            let packed = packed_of(Mode::Attributes, Filter::None, 300, 12);
            assert_eq!(packed.decode(&encoded).unwrap(), vertices.as_flattened());
            for cut in [0, 1, encoded.len() / 2, encoded.len() - 1] {
                assert!(packed.decode(&encoded[..cut]).is_err());
            }
        }
    }

    #[test]
    fn filters_give_the_vectors_back() {
        let unit = [[0.6_f32, 0.0, 0.8, 1.0], [0.0, -1.0, 0.0, 1.0], [-0.48, 0.6, -0.64, 1.0]];
        let mut octahedral = bytes_of_u16(&meshopt::encode_filter_oct::<u16>(&unit, 16).concat());
        packed_of(Mode::Attributes, Filter::Octahedral, 3, 8).unfilter(&mut octahedral);
        let floats: Vec<f32> = octahedral.as_chunks::<2>().0.iter().map(|b| f32::from(i16::from_le_bytes(*b)) / 32767.0).collect();
        for (found, wanted) in floats.as_chunks::<4>().0.iter().zip(&unit) {
            assert!(found[..3].iter().zip(&wanted[..3]).all(|(a, b)| (a - b).abs() < 1e-3), "{found:?} {wanted:?}");
        }
        let values = [[1.5_f32], [-0.001], [3.0e7]];
        let mut exponential = bytes_of_u32(&meshopt::encode_filter_exp(&values, 20, meshopt::EncodeExpMode::Separate).concat());
        packed_of(Mode::Attributes, Filter::Exponential, 3, 4).unfilter(&mut exponential);
        for (found, wanted) in exponential.as_chunks::<4>().0.iter().zip(values.as_flattened()) {
            assert!((f32::from_le_bytes(*found) / wanted - 1.0).abs() < 1e-5, "{found:?} {wanted}");
        }
        let colors = [[1.0_f32, 0.5, 0.25, 1.0]];
        let mut color = meshopt::encode_filter_color::<u8>(&colors, 8).concat();
        packed_of(Mode::Attributes, Filter::Color, 1, 4).unfilter(&mut color);
        assert!(color.iter().zip(&colors[0]).all(|(a, b)| (f32::from(*a) / 255.0 - b).abs() < 0.01), "{color:?}");
    }

    #[test]
    fn what_the_decoder_would_stumble_over_is_refused() {
        let view = |extension: &str| -> View {
            let text = format!(r#"{{"buffer":0,"byteLength":8,"extensions":{{"EXT_meshopt_compression":{extension}}}}}"#);
            serde_json::from_str(&text).unwrap()
        };
        for wrong in [
            r#"{"buffer":0,"byteLength":8,"byteStride":4,"count":4,"mode":"TRIANGLES"}"#,
            r#"{"buffer":0,"byteLength":8,"byteStride":1,"count":3,"mode":"INDICES"}"#,
            r#"{"buffer":0,"byteLength":8,"byteStride":6,"count":3,"mode":"ATTRIBUTES"}"#,
            r#"{"buffer":0,"byteLength":8,"byteStride":260,"count":3,"mode":"ATTRIBUTES"}"#,
            r#"{"buffer":0,"byteLength":8,"byteStride":12,"count":3,"mode":"ATTRIBUTES","filter":"OCTAHEDRAL"}"#,
            r#"{"buffer":0,"byteLength":8,"byteStride":4,"count":3,"mode":"ATTRIBUTES","filter":"QUATERNION"}"#,
            r#"{"buffer":0,"byteLength":8,"byteStride":4,"count":3,"mode":"INDICES","filter":"EXPONENTIAL"}"#,
            r#"{"buffer":0,"byteLength":8,"byteStride":4,"count":-3,"mode":"ATTRIBUTES"}"#,
            r#"{"byteLength":8,"byteStride":4,"count":3,"mode":"ATTRIBUTES"}"#,
        ] {
            assert!(packed(&view(wrong), "").is_err(), "{wrong}");
        }
        let right = r#"{"buffer":0,"byteLength":8,"byteStride":4,"count":3,"mode":"ATTRIBUTES"}"#;
        assert!(packed(&view(right), "").unwrap().is_some());
    }
}
