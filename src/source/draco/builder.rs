//! The mesh that EdgeBreaker's symbols build, triangle by triangle (chapter "EdgeBreaker Decoder").
//!
//! Where a symbol joins two parts, their vertices at the joint become one. Renaming all corners of one of them, as the specification
//! does, takes quadratic time on a stream made for it; here vertices point at what they became (union-find).

use super::Result;
use super::corners::{Corners, NONE, next, previous};

/// What to do with the next triangle; the discriminants are the symbols of the valence coding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Symbol {
    /// Closes the gap at a vertex.
    Center,
    /// Joins two parts.
    Split,
    /// Brings a new vertex; the active edge goes on at the left.
    Left,
    /// Brings a new vertex; the active edge goes on at the right.
    Right,
    /// Begins a part.
    End,
}

/// The mesh while it grows.
pub(super) struct Builder {
    opposite: Vec<u32>,
    /// Per corner, its vertex when the corner was made.
    label: Vec<u32>,
    /// Per vertex, the vertex that it was merged into, or itself.
    merged: Vec<u32>,
    leftmost: Vec<u32>,
    /// Vertices that were merged into another, in that order.
    emptied: Vec<u32>,
    /// Per vertex, the number of its edges so far, for the valence coding.
    valence: Vec<u32>,
    /// Corners opposite to the active edges of the open parts.
    pub(super) active: Vec<u32>,
    vertex_limit: usize,
}

pub(super) const BROKEN: &str = "the symbols of the connectivity do not fit together";

impl Builder {
    /// For a number of triangles and at most a number of vertices.
    pub(super) fn new(faces: usize, vertex_limit: usize) -> Self {
        Self {
            opposite: Vec::with_capacity(3 * faces),
            label: Vec::with_capacity(3 * faces),
            merged: Vec::new(),
            leftmost: Vec::new(),
            emptied: Vec::new(),
            valence: Vec::new(),
            active: Vec::new(),
            vertex_limit,
        }
    }

    fn vertex(&mut self, corner: u32) -> u32 {
        let mut vertex = self.label[corner as usize];
        while self.merged[vertex as usize] != vertex {
            // Halving the path as it is walked keeps all later walks short.
            let above = self.merged[vertex as usize];
            self.merged[vertex as usize] = self.merged[above as usize];
            vertex = self.merged[vertex as usize];
        }
        vertex
    }

    fn add_vertex(&mut self, leftmost: u32) -> Result<u32> {
        let vertex = self.merged.len();
        if vertex >= self.vertex_limit {
            return Err(format!("the connectivity has more than the {} vertices that it declares", self.vertex_limit));
        }
        self.merged.push(vertex as u32);
        self.leftmost.push(leftmost);
        self.valence.push(0);
        Ok(vertex as u32)
    }

    /// Adds a triangle and returns its first corner.
    fn add_face(&mut self, vertices: [u32; 3]) -> u32 {
        let corner = self.label.len() as u32;
        self.label.extend(vertices);
        self.opposite.extend([NONE; 3]);
        corner
    }

    fn join(&mut self, a: u32, b: u32) -> Result<()> {
        if a == b || self.opposite[a as usize] != NONE || self.opposite[b as usize] != NONE {
            return Err(BROKEN.to_owned());
        }
        self.opposite[a as usize] = b;
        self.opposite[b as usize] = a;
        Ok(())
    }

    /// The corner whose opposite edge is the next edge of the boundary around a vertex.
    fn across(&self, vertex: u32) -> Result<u32> {
        match self.leftmost[vertex as usize] {
            NONE => Err(BROKEN.to_owned()),
            corner => Ok(next(corner)),
        }
    }

    /// Attaches the triangle of a symbol. `waiting` is the corner of the part that a split symbol joins, where it is not the topmost.
    pub(super) fn attach(&mut self, symbol: Symbol, waiting: u32) -> Result<()> {
        let corner = self.label.len() as u32;
        if symbol == Symbol::End {
            let vertices = [self.add_vertex(corner)?, self.add_vertex(corner + 1)?, self.add_vertex(corner + 2)?];
            self.add_face(vertices);
            self.active.push(corner);
            return Ok(());
        }
        let mut a = self.active.pop().ok_or(BROKEN)?;
        match symbol {
            Symbol::Center => {
                let middle = self.vertex(next(a));
                let b = self.across(middle)?;
                let (before, after) = (self.vertex(previous(a)), self.vertex(next(b)));
                if middle == before || middle == after {
                    return Err(BROKEN.to_owned());
                }
                self.add_face([middle, after, before]);
                self.join(a, corner + 1)?;
                self.join(b, corner + 2)?;
                self.leftmost[before as usize] = corner + 2;
            }
            Symbol::Left | Symbol::Right => {
                let (before, after) = (self.vertex(previous(a)), self.vertex(next(a)));
                let opposite = if symbol == Symbol::Right { corner + 2 } else { corner + 1 };
                let new = self.add_vertex(opposite)?;
                if symbol == Symbol::Right {
                    self.add_face([before, after, new]);
                    self.leftmost[before as usize] = corner;
                } else {
                    self.add_face([after, new, before]);
                    self.leftmost[before as usize] = corner + 2;
                }
                self.join(opposite, a)?;
            }
            _ => {
                let b = a;
                a = if waiting == NONE { self.active.pop().ok_or(BROKEN)? } else { waiting };
                let (tip, after) = (self.vertex(previous(a)), self.vertex(next(a)));
                let (before, other) = (self.vertex(previous(b)), self.vertex(next(b)));
                if tip == other {
                    return Err(BROKEN.to_owned());
                }
                self.add_face([tip, after, before]);
                self.join(a, corner + 2)?;
                self.join(b, corner + 1)?;
                self.leftmost[before as usize] = corner + 2;
                // The order matters where `before` is one of the two.
                self.leftmost[tip as usize] = self.leftmost[other as usize];
                self.leftmost[other as usize] = NONE;
                self.merged[other as usize] = tip;
                self.valence[tip as usize] += self.valence[other as usize];
                self.emptied.push(other);
            }
        }
        self.active.push(corner);
        Ok(())
    }

    /// Counts the edges of the last triangle; the valence of the vertex ahead.
    pub(super) fn count_valence(&mut self, symbol: Symbol, wanted: bool) -> Result<Option<u32>> {
        let Some(corner) = self.active.last().copied().filter(|_| wanted) else { return Ok(None) };
        let edges = match symbol {
            Symbol::Center | Symbol::Split => [0, 1, 1],
            Symbol::Left => [1, 2, 1],
            Symbol::Right => [1, 1, 2],
            Symbol::End => [2, 2, 2],
        };
        for (corner, edges) in (corner..corner + 3).zip(edges) {
            let vertex = self.vertex(corner);
            self.valence[vertex as usize] += edges;
        }
        let ahead = self.vertex(corner + 1);
        Ok(Some(self.valence[ahead as usize]))
    }

    /// Fills the last gap of a closed part with the triangle that no symbol brought.
    pub(super) fn close(&mut self, a: u32, faces: usize) -> Result<()> {
        let corner = self.label.len() as u32;
        if self.label.len() >= 3 * faces {
            return Err(format!("the connectivity makes more than {faces} triangles"));
        }
        let n = self.vertex(next(a));
        let b = self.across(n)?;
        let x = self.vertex(next(b));
        let c = self.across(x)?;
        let p = self.vertex(next(c));
        self.add_face([x, p, n]);
        self.join(corner, a)?;
        self.join(corner + 1, b)?;
        self.join(corner + 2, c)
    }

    /// Number of triangles so far.
    pub(super) fn faces(&self) -> usize {
        self.label.len() / 3
    }

    /// The corner table and the number of vertices. `compact` puts the last vertices in the places of those that were merged away.
    pub(super) fn finish(mut self, compact: bool) -> Result<(Corners, usize)> {
        let mut count = self.leftmost.len();
        // Per vertex, its place.
        let mut place: Vec<u32> = (0..count as u32).collect();
        if compact {
            // Per place, the vertex in it.
            let mut content = place.clone();
            for &empty in &self.emptied {
                while count > 0 && self.leftmost[count - 1] == NONE {
                    count -= 1;
                }
                let Some(last) = count.checked_sub(1).filter(|&last| last > empty as usize) else { continue };
                content[empty as usize] = content[last];
                place[content[last] as usize] = empty;
                self.leftmost.swap(empty as usize, last);
                count -= 1;
            }
        }
        let vertex = (0..self.label.len() as u32).map(|c| place[self.vertex(c) as usize]).collect();
        let corners = Corners::new(self.opposite, vertex, self.leftmost)?;
        Ok((corners, count))
    }
}
