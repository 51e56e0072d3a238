//! KHR_draco_mesh_compression: meshes as Draco bitstreams of version 2.2, the one that the extension names, decoded after the public
//! bitstream specification (<https://google.github.io/draco/spec/>), which the chapters named in this folder belong to.
//!
//! Time and memory are linear in the counts that the stream declares, and those are checked against the accessors and against what a
//! file of its size may unfold to before anything is made.

mod attributes;
mod bitstream;
mod builder;
mod corners;
mod edgebreaker;
mod entropy;
mod kind;
mod octahedron;
mod prediction;
mod primitive;
mod sequence;
#[cfg(test)]
mod tests;

pub(super) use primitive::Geometry;

use attributes::{Attribute, Mesh, Shape, read_attributes};
use bitstream::Bytes;

/// What is wrong with a stream, as a sentence.
type Result<T> = std::result::Result<T, String>;

/// Asks for room for a number of elements of a number of bytes each.
type Reserve<'a> = dyn Fn(u64, u64) -> Result<()> + 'a;

/// A decoded mesh.
#[derive(Debug)]
struct Decoded {
    triangles: Vec<[u32; 3]>,
    attributes: Vec<Attribute>,
}

/// What the accessors say.
#[derive(Debug, Clone, Copy)]
struct Expected {
    points: usize,
    /// None where the accessor of the indices counts something else than triangles.
    triangles: Option<usize>,
}

/// Decodes a stream.
fn decode(bytes: &[u8], expected: Expected, reserve: &Reserve<'_>) -> Result<Decoded> {
    let mut bytes = Bytes::new(bytes);
    if bytes.take(5).ok() != Some(b"DRACO".as_slice()) {
        return Err("the data does not begin with `DRACO`".to_owned());
    }
    let (major, minor, kind, method, flags) = (bytes.u8()?, bytes.u8()?, bytes.u8()?, bytes.u8()?, bytes.u16()?);
    if (major, minor) != (2, 2) {
        return Err(format!("the bitstream has version {major}.{minor}, wanted 2.2"));
    }
    if kind != 1 {
        return Err(format!("the data holds geometry of kind {kind}, wanted 1, a triangle mesh"));
    }
    if flags & 0x8000 != 0 {
        skip_metadata(&mut bytes)?;
    }
    let (triangles, shape) = match method {
        0 => read_sequential(&mut bytes, expected, reserve)?,
        1 => read_edgebreaker(&mut bytes, expected, reserve)?,
        _ => return Err(format!("the mesh is coded by method {method}, wanted 0 or 1")),
    };
    let attributes = read_attributes(&mut bytes, &shape, reserve)?;
    Ok(Decoded { triangles, attributes })
}

/// Texts and numbers that stand in front of the mesh.
fn skip_metadata(bytes: &mut Bytes<'_>) -> Result<()> {
    // Elements of attributes, each with an id, and that of the file.
    for attribute in (0..=bytes.count()?).rev() {
        if attribute > 0 {
            bytes.varint()?;
        }
        // An element's children follow it, each with a name.
        let mut children = 0_u64;
        loop {
            for _ in 0..bytes.count()? {
                let name = bytes.u8()?;
                bytes.take(usize::from(name))?;
                bytes.block()?;
            }
            children = children.saturating_add(bytes.count()? as u64);
            let Some(left) = children.checked_sub(1) else { break };
            children = left;
            let name = bytes.u8()?;
            bytes.take(usize::from(name))?;
        }
    }
    Ok(())
}

fn check_triangles(triangles: usize, expected: Expected, reserve: &Reserve<'_>) -> Result<()> {
    if let Some(wanted) = expected.triangles.filter(|&wanted| wanted != triangles) {
        return Err(format!("the data holds {triangles} triangles, the accessor of the indices {wanted}"));
    }
    // Corners are numbered in 32 bits, and one number stands for none.
    if triangles > u32::MAX as usize / 3 {
        return Err(format!("{triangles} triangles are more than can be numbered"));
    }
    reserve(triangles as u64, 12)
}

fn check_points(points: usize, expected: Expected) -> Result<()> {
    if points != expected.points {
        return Err(format!("the data holds {points} vertices, the accessor of POSITION {}", expected.points));
    }
    Ok(())
}

/// Connectivity as a list of indices (chapter "Sequential Connectivity Decoder").
fn read_sequential(bytes: &mut Bytes<'_>, expected: Expected, reserve: &Reserve<'_>) -> Result<(Vec<[u32; 3]>, Shape)> {
    let (faces, points) = (bytes.count()?, bytes.count()?);
    check_points(points, expected)?;
    check_triangles(faces, expected, reserve)?;
    let corners = 3 * faces;
    let indices: Vec<u32> = match bytes.u8()? {
        0 => {
            // Differences with the sign in the lowest bit.
            let mut last = 0_u32;
            let add = |symbol: u32| {
                let step = symbol >> 1;
                last = if symbol & 1 == 0 { last.wrapping_add(step) } else { last.wrapping_sub(step) };
                last
            };
            entropy::read_symbols(bytes, corners, 1)?.into_iter().map(add).collect()
        }
        1 if points < 1 << 8 => bytes.take(corners)?.iter().map(|&b| u32::from(b)).collect(),
        1 if points < 1 << 16 => bytes.take(2 * corners)?.as_chunks::<2>().0.iter().map(|&b| u32::from(u16::from_le_bytes(b))).collect(),
        1 if points < 1 << 21 => (0..corners).map(|_| bytes.count().map(|v| v as u32)).collect::<Result<_>>()?,
        1 => bytes.take(4 * corners)?.as_chunks::<4>().0.iter().map(|&b| u32::from_le_bytes(b)).collect(),
        method => return Err(format!("the indices are coded by method {method}, wanted 0 or 1")),
    };
    if let Some(index) = indices.iter().find(|&&i| i as usize >= points) {
        return Err(format!("a triangle names vertex {index} of {points}"));
    }
    Ok((indices.as_chunks::<3>().0.to_vec(), Shape { points, mesh: None }))
}

fn read_edgebreaker(bytes: &mut Bytes<'_>, expected: Expected, reserve: &Reserve<'_>) -> Result<(Vec<[u32; 3]>, Shape)> {
    let header = edgebreaker::Header::read(bytes)?;
    check_triangles(header.faces, expected, reserve)?;
    // Opposites and vertices, and the seams of each attribute. What is needed only while decoding counts a quarter.
    reserve(header.faces as u64, 6 + header.attributes as u64)?;
    let connectivity = edgebreaker::read_connectivity(bytes, &header)?;
    let corners = connectivity.corners;
    let mut attributes = Vec::new();
    for seams in connectivity.seams {
        attributes.push(match seams {
            None => None,
            Some(seams) => {
                reserve(header.faces as u64, 6)?;
                Some(corners.cut(&seams))
            }
        });
    }
    let divided: Vec<_> = attributes.iter().flatten().collect();
    // Without attributes of their own connectivity the vertices are the points, those without triangles with them.
    let (point, points) = match attributes.len() {
        0 => (corners.vertices().to_vec(), connectivity.vertices),
        _ => corners::number_points(&corners, &divided),
    };
    check_points(points, expected)?;
    let triangles = point.as_chunks::<3>().0.to_vec();
    Ok((triangles, Shape { points, mesh: Some(Mesh { corners, attributes, point }) }))
}
