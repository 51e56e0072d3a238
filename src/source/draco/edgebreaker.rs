//! EdgeBreaker connectivity (chapters "EdgeBreaker Decoder", "EdgeBreaker Traversal" and "EdgeBreaker Traversal Valence"): triangles
//! are attached one by one to the active edge, as the symbols say.

use super::Result;
use super::bitstream::{Bits, Bytes};
use super::builder::{BROKEN, Builder, Symbol};
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
    let mut builder = Builder::new(header.faces, header.vertices + header.splits);
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
    if builder.faces() != header.faces {
        return Err(format!("the connectivity makes {} triangles, wanted {}", builder.faces(), header.faces));
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
