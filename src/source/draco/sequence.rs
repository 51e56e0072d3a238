//! The order in which the values of an attribute stand in the stream: that in which a walk over the triangles first meets the vertices
//! (chapters "EdgeBreaker Traverser" and "EdgeBreaker Traversal Prediction Degree").

use super::corners::{Corners, NONE, next, previous};

/// Values and where they belong.
#[derive(Debug)]
pub(super) struct Sequence {
    /// Per value, the corner where it was met.
    pub(super) corner: Vec<u32>,
    /// Per vertex, its value.
    pub(super) value: Vec<u32>,
}

/// A walk in progress.
struct Walk<'a> {
    corners: &'a Corners,
    visited: Vec<bool>,
    sequence: Sequence,
}

impl<'a> Walk<'a> {
    fn new(corners: &'a Corners) -> Self {
        let count = corners.leftmost().len();
        let sequence = Sequence { corner: Vec::with_capacity(count), value: vec![NONE; count] };
        Self { corners, visited: vec![false; corners.len() / 3], sequence }
    }

    /// Whether the walk goes no further there.
    fn is_done(&self, corner: Option<u32>) -> bool {
        corner.is_none_or(|c| self.visited[c as usize / 3])
    }

    /// Meets the vertex of a corner; whether that is the first time.
    fn meet(&mut self, corner: u32) -> bool {
        let value = &mut self.sequence.value[self.corners.vertex(corner)];
        let first = *value == NONE;
        if first {
            *value = self.sequence.corner.len() as u32;
            self.sequence.corner.push(corner);
        }
        first
    }

    fn right(&self, corner: u32) -> Option<u32> {
        self.corners.opposite(next(corner))
    }

    fn left(&self, corner: u32) -> Option<u32> {
        self.corners.opposite(previous(corner))
    }
}

/// Depth first, to the right before the left.
pub(super) fn walk_depth_first(corners: &Corners) -> Sequence {
    let mut walk = Walk::new(corners);
    let mut stack = Vec::new();
    for start in (0..corners.len() as u32).step_by(3) {
        if walk.is_done(Some(start)) {
            continue;
        }
        walk.meet(next(start));
        walk.meet(previous(start));
        stack.push(start);
        while let Some(corner) = stack.pop() {
            let mut here = Some(corner).filter(|&c| !walk.is_done(Some(c)));
            while let Some(corner) = here {
                walk.visited[corner as usize / 3] = true;
                let (left, right) = (walk.left(corner), walk.right(corner));
                if walk.meet(corner) && !corners.on_boundary(corners.vertex(corner)) {
                    // All triangles around the vertex are new but perhaps on hostile input, and then this walk only ends early.
                    here = right.filter(|&c| !walk.is_done(Some(c)));
                    continue;
                }
                here = match (walk.is_done(left), walk.is_done(right)) {
                    (true, true) => None,
                    (false, true) => left,
                    (true, false) => right,
                    (false, false) => {
                        stack.extend(left);
                        right
                    }
                };
            }
        }
    }
    walk.sequence
}

/// First where a vertex can be predicted from most triangles.
pub(super) fn walk_by_degree(corners: &Corners) -> Sequence {
    let mut walk = Walk::new(corners);
    let mut degree = vec![0_u32; corners.leftmost().len()];
    // By priority, the best first.
    let mut stacks: [Vec<u32>; 3] = Default::default();
    for start in (0..corners.len() as u32).step_by(3) {
        if walk.is_done(Some(start)) {
            continue;
        }
        walk.meet(next(start));
        walk.meet(previous(start));
        walk.meet(start);
        stacks[0].push(start);
        let mut best = 0;
        while let Some(level) = (best..3).find(|&level| !stacks[level].is_empty()) {
            best = level;
            let mut here = stacks[level].pop().filter(|&c| !walk.is_done(Some(c)));
            while let Some(corner) = here.take() {
                walk.visited[corner as usize / 3] = true;
                walk.meet(corner);
                let mut priority = |walk: &Walk<'_>, corner: u32| {
                    let vertex = corners.vertex(corner);
                    if walk.sequence.value[vertex] != NONE {
                        return 0;
                    }
                    degree[vertex] += 1;
                    if degree[vertex] > 1 { 1 } else { 2 }
                };
                let (left, right) = (walk.left(corner), walk.right(corner));
                let (left_done, right_done) = (walk.is_done(left), walk.is_done(right));
                if let Some(left) = left.filter(|_| !left_done) {
                    let level = priority(&walk, left);
                    if right_done && level <= best {
                        here = Some(left);
                        continue;
                    }
                    stacks[level].push(left);
                    best = best.min(level);
                }
                if let Some(right) = right.filter(|_| !right_done) {
                    let level = priority(&walk, right);
                    if level <= best {
                        here = Some(right);
                        continue;
                    }
                    stacks[level].push(right);
                }
            }
        }
    }
    walk.sequence
}
