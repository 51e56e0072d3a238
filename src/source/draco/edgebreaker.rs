//! EdgeBreaker connectivity (chapters "EdgeBreaker Decoder", "EdgeBreaker Traversal" and "EdgeBreaker Traversal Valence"): triangles
//! are attached one by one to the active edge, as the symbols say.
//!
//! Where a symbol joins two parts, their vertices at the joint become one. Renaming all corners of one of them, as the specification
//! does, takes quadratic time on a stream made for it; here vertices point at what they became (union-find).

use super::Result;
use super::bitstream::{Bits, Bytes};
use super::corners::{Corners, NONE, next, previous};
use super::entropy::{BitRun, read_symbols};

/// A decoded connectivity.
#[derive(Debug)]
pub(super) struct Connectivity {
    pub(super) corners: Corners,
    /// Number of vertices when no attribute has a connectivity of its own.
    pub(super) vertices: usize,
    /// For each attribute connectivity, which edges are seams, by the corner opposite to them; none where no edge is.
    pub(super) seams: Vec<Option<Vec<bool>>>,
}

/// What to do with the next triangle; the discriminants are the symbols of the valence coding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Symbol {
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

/// Where the symbols come from.
enum Symbols<'a> {
    Standard(Bits<'a>),
    /// One stack of symbols for each valence from 2 to 7 of the vertex ahead.
    Valence(Vec<Vec<u32>>),
}

/// A part that a later split symbol joins.
struct SplitEvent {
    source: usize,
    split: usize,
    right: bool,
}

/// The mesh while it grows.
struct Builder {
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
    active: Vec<u32>,
    vertex_limit: usize,
}

const BROKEN: &str = "the symbols of the connectivity do not fit together";

/// Decodes the connectivity of `faces` triangles.
pub(super) fn read_connectivity(bytes: &mut Bytes<'_>, header: &Header) -> Result<Connectivity> {
    let mut events = read_split_events(bytes, header.symbols)?;
    let standard = if header.valence { None } else { Some(Bits::new(bytes.block()?)) };
    let mut start_faces = BitRun::new(bytes)?;
    let mut seam_runs = (0..header.attributes).map(|_| BitRun::new(bytes)).collect::<Result<Vec<_>>>()?;
    let mut symbols = match standard {
        Some(bits) => Symbols::Standard(bits),
        None => Symbols::Valence(read_contexts(bytes, header.symbols)?),
    };
    let mut builder = Builder::new(header);
    let mut waiting: Vec<u32> = if events.is_empty() { Vec::new() } else { vec![NONE; header.symbols] };
    let mut ahead = None;
    for number in 0..header.symbols {
        let symbol = symbols.read(ahead)?;
        builder.attach(symbol, waiting.get(number).copied().unwrap_or(NONE))?;
        if matches!(symbol, Symbol::Left | Symbol::Right | Symbol::End) {
            let source = header.symbols - number - 1;
            while let Some(event) = events.pop_if(|event| event.source >= source) {
                let corner = builder.active.last().copied().filter(|_| event.source == source).ok_or(BROKEN)?;
                let split = header.symbols.checked_sub(event.split + 1).ok_or(BROKEN)?;
                *waiting.get_mut(split).ok_or(BROKEN)? = if event.right { next(corner) } else { previous(corner) };
            }
        }
        ahead = builder.count_valence(symbol, header.valence)?;
    }
    while let Some(corner) = builder.active.pop() {
        if start_faces.read() {
            builder.close(corner, header.faces)?;
        }
    }
    if builder.label.len() != 3 * header.faces {
        return Err(format!("the connectivity makes {} triangles, wanted {}", builder.label.len() / 3, header.faces));
    }
    let (corners, vertices) = builder.finish(header.attributes == 0)?;
    let seams = read_seams(&corners, &mut seam_runs);
    Ok(Connectivity { corners, vertices, seams })
}

/// Numbers in front of the connectivity.
#[derive(Debug)]
pub(super) struct Header {
    valence: bool,
    vertices: usize,
    pub(super) faces: usize,
    /// Attributes with a connectivity of their own.
    pub(super) attributes: usize,
    symbols: usize,
    splits: usize,
}

impl Header {
    pub(super) fn read(bytes: &mut Bytes<'_>) -> Result<Self> {
        let valence = match bytes.u8()? {
            0 => false,
            2 => true,
            kind => return Err(format!("the EdgeBreaker traversal is number {kind}, wanted 0 or 2")),
        };
        let (vertices, faces, attributes) = (bytes.count()?, bytes.count()?, usize::from(bytes.u8()?));
        let (symbols, splits) = (bytes.count()?, bytes.count()?);
        // A part has one triangle without a symbol, and at least three with one around it.
        if faces < symbols || faces - symbols > symbols / 3 || splits > symbols {
            return Err(format!("{symbols} symbols with {splits} splits cannot make {faces} triangles"));
        }
        Ok(Self { valence, vertices, faces, attributes, symbols, splits })
    }
}

fn read_split_events(bytes: &mut Bytes<'_>, symbols: usize) -> Result<Vec<SplitEvent>> {
    let count = bytes.count()?;
    // Each has two bytes at least.
    if count > bytes.left() / 2 || count > symbols {
        return Err(format!("{count} split events for {symbols} symbols"));
    }
    let mut events = Vec::with_capacity(count);
    let mut source = 0_usize;
    for _ in 0..count {
        // Counts have 31 bits.
        source = source.saturating_add(bytes.count()?);
        let split = source.checked_sub(bytes.count()?).ok_or(BROKEN)?;
        events.push(SplitEvent { source, split, right: false });
    }
    let mut bits = bytes.bits();
    for event in &mut events {
        event.right = bits.read(1)? == 1;
    }
    bytes.skip(&bits)?;
    Ok(events)
}

fn read_contexts(bytes: &mut Bytes<'_>, symbols: usize) -> Result<Vec<Vec<u32>>> {
    let mut left = symbols;
    let mut read = |_| {
        let count = bytes.count()?;
        left = left.checked_sub(count).ok_or_else(|| format!("the valence contexts have more than {symbols} symbols"))?;
        read_symbols(bytes, count, 1)
    };
    (0..6).map(&mut read).collect()
}

impl Symbols<'_> {
    /// The next symbol. `ahead` is the valence of the vertex ahead, none at the beginning.
    fn read(&mut self, ahead: Option<u32>) -> Result<Symbol> {
        let number = match (self, ahead) {
            (Self::Standard(bits), _) => match bits.read(1)? {
                0 => 0,
                _ => bits.read(2)? + 1,
            },
            (Self::Valence(_), None) => 4,
            (Self::Valence(contexts), Some(valence)) => {
                let context = valence.clamp(2, 7) - 2;
                contexts.get_mut(context as usize).and_then(Vec::pop).ok_or("a valence context has too few symbols")?
            }
        };
        match number {
            0 => Ok(Symbol::Center),
            1 => Ok(Symbol::Split),
            2 => Ok(Symbol::Left),
            3 => Ok(Symbol::Right),
            4 => Ok(Symbol::End),
            _ => Err(format!("the connectivity has a symbol {number}, wanted 0 to 4")),
        }
    }
}

impl Builder {
    fn new(header: &Header) -> Self {
        Self {
            opposite: Vec::with_capacity(3 * header.faces),
            label: Vec::with_capacity(3 * header.faces),
            merged: Vec::new(),
            leftmost: Vec::new(),
            emptied: Vec::new(),
            valence: Vec::new(),
            active: Vec::new(),
            vertex_limit: header.vertices + header.splits,
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
    fn attach(&mut self, symbol: Symbol, waiting: u32) -> Result<()> {
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
    fn count_valence(&mut self, symbol: Symbol, wanted: bool) -> Result<Option<u32>> {
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
    fn close(&mut self, a: u32, faces: usize) -> Result<()> {
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

    /// The corner table and the number of vertices. `compact` puts the last vertices in the places of those that were merged away.
    fn finish(mut self, compact: bool) -> Result<(Corners, usize)> {
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

/// Which edges of each attribute are seams. There is a bit for each edge between two triangles.
fn read_seams(corners: &Corners, runs: &mut [BitRun<'_>]) -> Vec<Option<Vec<bool>>> {
    let mut seams: Vec<Option<Vec<bool>>> = vec![None; runs.len()];
    for first in (0..corners.len() as u32).step_by(3) {
        for corner in [first, next(first), previous(first)] {
            // An edge comes with the first of its triangles.
            let Some(opposite) = corners.opposite(corner).filter(|&opposite| opposite >= first) else { continue };
            for (seams, run) in seams.iter_mut().zip(&mut *runs) {
                if run.read() {
                    let seams = seams.get_or_insert_with(|| vec![false; corners.len()]);
                    seams[corner as usize] = true;
                    seams[opposite as usize] = true;
                }
            }
        }
    }
    seams
}
