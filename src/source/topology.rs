//! Triangle lists out of lists, strips and fans, in the order of glTF 2.0, 3.7.2.1.

use gltf::json::mesh::Mode;

/// The triangles, and the number of corners that make no whole triangle. Without indices the vertices follow each other. Triangles
/// of a strip that name a vertex twice only join its runs and are left out.
pub(super) fn triangles(mode: Mode, indices: Option<&[u32]>, vertices: usize) -> (Vec<[u32; 3]>, usize) {
    let counted: Vec<u32>;
    let corners = match indices {
        Some(indices) => indices,
        None => {
            counted = (0..u32::try_from(vertices).unwrap_or(u32::MAX)).collect();
            &counted
        }
    };
    let too_few = if corners.len() < 3 { corners.len() } else { 0 };
    match mode {
        Mode::TriangleStrip => {
            let wind = |(i, c): (usize, &[u32; 3])| if i % 2 == 0 { *c } else { [c[0], c[2], c[1]] };
            let whole = |t: &[u32; 3]| t[0] != t[1] && t[1] != t[2] && t[2] != t[0];
            (corners.array_windows::<3>().enumerate().map(wind).filter(whole).collect(), too_few)
        }
        Mode::TriangleFan => {
            let hub = corners.first().copied().unwrap_or_default();
            (corners.get(1..).unwrap_or_default().array_windows::<2>().map(|w| [w[0], w[1], hub]).collect(), too_few)
        }
        _ => {
            let (triangles, rest) = corners.as_chunks::<3>();
            (triangles.to_vec(), rest.len())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mode_has_the_order_of_the_specification() {
        let indices = [0, 1, 2, 3, 4];
        assert_eq!(triangles(Mode::Triangles, Some(&indices), 5), (vec![[0, 1, 2]], 2));
        assert_eq!(triangles(Mode::TriangleStrip, Some(&indices), 5), (vec![[0, 1, 2], [1, 3, 2], [2, 3, 4]], 0));
        assert_eq!(triangles(Mode::TriangleFan, Some(&indices), 5), (vec![[1, 2, 0], [2, 3, 0], [3, 4, 0]], 0));
        assert_eq!(triangles(Mode::Triangles, None, 6), (vec![[0, 1, 2], [3, 4, 5]], 0));
        assert_eq!(triangles(Mode::TriangleStrip, Some(&[0, 1]), 5), (vec![], 2));
        assert_eq!(triangles(Mode::TriangleFan, Some(&[]), 5), (vec![], 0));
    }

    #[test]
    fn joints_of_strips_are_left_out() {
        let (list, _) = triangles(Mode::TriangleStrip, Some(&[0, 1, 2, 2, 3, 3, 4, 5]), 6);
        assert_eq!(list, [[0, 1, 2], [3, 5, 4]]);
    }
}
