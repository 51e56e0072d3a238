//! Corner tables: which corners of triangles face each other across an edge, and which share a vertex (chapters "Corner Table" and
//! "Mesh Attribute Corner Table"). Corner `c` belongs to triangle `c / 3`.

use super::Result;

/// No corner, no vertex.
pub(super) const NONE: u32 = u32::MAX;

/// The next corner of the same triangle, counter-clockwise.
pub(super) fn next(corner: u32) -> u32 {
    if corner % 3 == 2 { corner - 2 } else { corner + 1 }
}

/// The corner before, clockwise.
pub(super) fn previous(corner: u32) -> u32 {
    if corner.is_multiple_of(3) { corner + 2 } else { corner - 1 }
}

/// Triangles and how they meet. All corners and vertices that it names exist.
#[derive(Debug, Clone, Default)]
pub(super) struct Corners {
    /// Per corner, the corner across the edge opposite to it.
    opposite: Vec<u32>,
    /// Per corner, its vertex.
    vertex: Vec<u32>,
    /// Per vertex, its corner furthest to the left, any where its triangles form a ring; none for a vertex without triangles.
    leftmost: Vec<u32>,
}

impl Corners {
    /// Takes tables in which opposites are mutual, and checks that the corners of each vertex are what turning around its leftmost
    /// corner meets. Every later walk around a vertex ends for that reason, and all of them together are linear.
    pub(super) fn new(opposite: Vec<u32>, vertex: Vec<u32>, leftmost: Vec<u32>) -> Result<Self> {
        let corners = Self { opposite, vertex, leftmost };
        let mut met = 0;
        for (vertex, &first) in corners.leftmost.iter().enumerate().filter(|(_, c)| **c != NONE) {
            for corner in corners.fan(first) {
                if corners.vertex[corner as usize] as usize != vertex {
                    return Err(format!("the triangles around vertex {vertex} do not share it"));
                }
                met += 1;
            }
        }
        if met != corners.vertex.len() {
            return Err(format!("{met} of {} corners of triangles belong to a vertex", corners.vertex.len()));
        }
        Ok(corners)
    }

    /// Number of corners.
    pub(super) fn len(&self) -> usize {
        self.vertex.len()
    }

    /// The vertex of each corner.
    pub(super) fn vertices(&self) -> &[u32] {
        &self.vertex
    }

    /// The leftmost corner of each vertex.
    pub(super) fn leftmost(&self) -> &[u32] {
        &self.leftmost
    }

    pub(super) fn vertex(&self, corner: u32) -> usize {
        self.vertex[corner as usize] as usize
    }

    pub(super) fn opposite(&self, corner: u32) -> Option<u32> {
        Some(self.opposite[corner as usize]).filter(|&c| c != NONE)
    }

    /// The corner of the same vertex in the triangle to the left.
    pub(super) fn swing_left(&self, corner: u32) -> Option<u32> {
        self.opposite(next(corner)).map(next)
    }

    /// The corner of the same vertex in the triangle to the right.
    pub(super) fn swing_right(&self, corner: u32) -> Option<u32> {
        self.opposite(previous(corner)).map(previous)
    }

    /// A corner and those to its right, once around at most.
    pub(super) fn fan(&self, first: u32) -> impl Iterator<Item = u32> {
        std::iter::successors(Some(first), move |&c| self.swing_right(c).filter(|&c| c != first))
    }

    /// A corner, those to its left, and those to its right unless the ring is closed.
    pub(super) fn around(&self, first: u32) -> impl Iterator<Item = u32> {
        let mut leftwards = true;
        std::iter::successors(Some(first), move |&corner| {
            if leftwards {
                match self.swing_left(corner) {
                    Some(left) => return Some(left).filter(|&c| c != first),
                    None => leftwards = false,
                }
                return self.swing_right(first);
            }
            self.swing_right(corner)
        })
    }

    /// Whether the triangles around a vertex leave a gap.
    pub(super) fn on_boundary(&self, vertex: usize) -> bool {
        self.swing_left(self.leftmost[vertex]).is_none()
    }

    /// Cuts the edges opposite to the marked corners; both corners of an edge are marked. Vertices on a cut become several.
    pub(super) fn cut(&self, seams: &[bool]) -> Self {
        let opposite = self.opposite.iter().zip(seams).map(|(&c, &seam)| if seam { NONE } else { c }).collect();
        let mut cut = Self { opposite, vertex: vec![NONE; self.len()], leftmost: Vec::with_capacity(self.leftmost.len()) };
        for &any in self.leftmost.iter().filter(|c| **c != NONE) {
            let mut first = any;
            while let Some(left) = cut.swing_left(first) {
                first = left;
                if left == any {
                    break;
                }
            }
            for corner in self.fan(first) {
                if corner == first || seams[next(corner) as usize] {
                    cut.leftmost.push(corner);
                }
                cut.vertex[corner as usize] = cut.leftmost.len() as u32 - 1;
            }
        }
        cut
    }
}

/// Numbers the points: a vertex is one point unless an attribute's seam divides it. The point of each corner, and the number of points.
pub(super) fn number_points(corners: &Corners, attributes: &[&Corners]) -> (Vec<u32>, usize) {
    let mut points = vec![0; corners.len()];
    let mut count = 0;
    for &leftmost in corners.leftmost.iter().filter(|c| **c != NONE) {
        let mut first = leftmost;
        if corners.swing_left(leftmost).is_some() {
            // A ring is opened at a seam.
            let seam = |table: &Corners| corners.fan(leftmost).find(|&c| table.vertex(c) != table.vertex(leftmost));
            first = attributes.iter().copied().find_map(seam).unwrap_or(leftmost);
        }
        let mut before = None;
        for corner in corners.fan(first) {
            let divided = |before: u32| attributes.iter().any(|table| table.vertex(before) != table.vertex(corner));
            if before.is_none_or(divided) {
                count += 1;
            }
            points[corner as usize] = count as u32 - 1;
            before = Some(corner);
        }
    }
    (points, count)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two triangles that share the edge between vertices 1 and 2.
    fn pair() -> Corners {
        let opposite = vec![4, NONE, NONE, NONE, 0, NONE];
        Corners::new(opposite, vec![0, 1, 2, 1, 3, 2], vec![0, 1, 5, 4]).unwrap()
    }

    #[test]
    fn vertices_are_walked_around() {
        let corners = pair();
        assert_eq!(corners.fan(1).collect::<Vec<_>>(), [1, 3]);
        assert_eq!(corners.around(1).collect::<Vec<_>>(), [1, 3]);
        assert_eq!(corners.around(3).collect::<Vec<_>>(), [3, 1]);
        assert!((0..4).all(|v| corners.on_boundary(v)));
        assert_eq!(number_points(&corners, &[]), (vec![0, 1, 2, 1, 3, 2], 4));
    }

    #[test]
    fn a_cut_divides_its_vertices() {
        let corners = pair();
        let cut = corners.cut(&[true, true, true, true, true, true]);
        assert_eq!(cut.leftmost.len(), 6);
        let (points, count) = number_points(&corners, &[&cut]);
        assert_eq!((points, count), (vec![0, 1, 4, 2, 5, 3], 6));
    }

    #[test]
    fn tables_that_contradict_themselves_are_refused() {
        let opposite = vec![4, NONE, NONE, NONE, 0, NONE];
        assert!(Corners::new(opposite.clone(), vec![0, 1, 2, 3, 3, 2], vec![0, 1, 5, 4]).is_err());
        assert!(Corners::new(opposite, vec![0, 1, 2, 1, 3, 2], vec![0, 3, 5, 4]).is_err());
    }
}
