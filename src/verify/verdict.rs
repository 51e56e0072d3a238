//! What a check says: findings with their codes, and what was measured.

use serde::{Serialize, Serializer};

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// A player shows something else than was baked, or nothing at all.
    Wrong,
    /// It plays, and something about it is not as it should be.
    Warning,
    /// Good to know.
    Note,
}

macro_rules! codes {
    ($( $(#[doc = $doc:literal])* $name:ident = $text:literal; )*) => {
        /// The kinds of finding. The serialised name is stable.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code { $( $(#[doc = $doc])* $name, )* }

        impl Code {
            /// Every kind.
            pub const ALL: &'static [Code] = &[ $( Code::$name, )* ];

            /// The name in reports.
            pub fn name(self) -> &'static str {
                match self { $( Code::$name => $text, )* }
            }
        }
    };
}

codes! {
    /// A field of the sidecar has a form that the schema and the format do not allow.
    Sidecar = "sidecar";
    /// Vertices and frames do not fit the layout.
    Layout = "layout";
    /// A file that the sidecar names is not there.
    FileMissing = "file-missing";
    /// A file cannot be decoded.
    FileUnreadable = "file-unreadable";
    /// A texture is of another pixel format than the sidecar says.
    PixelFormat = "pixel-format";
    /// A texture is of another size than the sidecar says.
    Resized = "resized";
    /// A PNG has a chunk that makes programs convert its colours.
    ColourChunk = "colour-chunk";
    /// The texels are not those that were baked.
    TexelsChanged = "texels-changed";
    /// Texels lost their low bytes.
    CutTo8Bits = "cut-to-8-bits";
    /// Texels went through the sRGB curve.
    SrgbEncoded = "srgb-encoded";
    /// Texels went through the inverse of the sRGB curve.
    SrgbDecoded = "srgb-decoded";
    /// Values below 0 or above 1 were cut.
    Clamped = "clamped";
    /// Texels were averaged with their neighbours.
    MipBlurred = "mip-blurred";
    /// Texels went through a block compression.
    BlockCompressed = "block-compressed";
    /// Channels stand in another order.
    ChannelsSwapped = "channels-swapped";
    /// Only the alpha was changed.
    AlphaChanged = "alpha-changed";
    /// Bytes of each component stand in the other order.
    BytesSwapped = "bytes-swapped";
    /// Row 0 is at the bottom.
    FlippedVertically = "flipped-vertically";
    /// Column 0 is on the right.
    FlippedHorizontally = "flipped-horizontally";
    /// Texels of another bake, or files exchanged.
    OtherBake = "other-bake";
    /// A texel is not a number.
    NotFinite = "not-finite";
    /// A texel that no vertex owns is not zero.
    Padding = "padding";
    /// An unused alpha is not 1.
    Alpha = "alpha";
    /// Normals or tangents are not of unit length.
    NotUnit = "not-unit";
    /// The mesh's file is not the one that was baked.
    MeshChanged = "mesh-changed";
    /// The lookup does not name each vertex once.
    Lookup = "lookup";
    /// The lookup does not survive half floats or 16-bit unorm.
    LookupPrecision = "lookup-precision";
    /// Parts do not cover the mesh.
    Parts = "parts";
    /// Clips overlap, or frames belong to none.
    Clips = "clips";
    /// Frames, rate and length of a clip contradict each other.
    ClipTiming = "clip-timing";
    /// A loop does not close.
    LoopOpen = "loop-open";
    /// A box does not hold its positions, or is too wide.
    Bounds = "bounds";
    /// The largest displacement is another one.
    Displacement = "displacement";
    /// A recorded error is none that the encoding can have.
    RecordedError = "recorded-error";
    /// The model is another file than the one that was baked.
    SourceChanged = "source-changed";
    /// The model cannot be what was baked.
    SourceMismatch = "source-mismatch";
    /// A clip of the bake is not in the model.
    ClipUnknown = "clip-unknown";
    /// The mesh does not stand in the model's rest pose.
    RestDiffers = "rest-differs";
    /// The bake is further from the model than the sidecar says.
    ErrorLarger = "error-larger";
    /// The error is over the limit that was asked for.
    OverMaxError = "over-max-error";
    /// The re-exported mesh lost the lookup.
    MeshLookupLost = "mesh-lookup-lost";
    /// The re-exported mesh has the lookup in another set.
    MeshLookupMoved = "mesh-lookup-moved";
    /// The re-exported mesh has the lookup upside down.
    MeshLookupFlipped = "mesh-lookup-flipped";
    /// The re-exported mesh stores the lookup too coarsely.
    MeshLookupQuantised = "mesh-lookup-quantised";
    /// Vertices are no longer named.
    MeshVerticesMissing = "mesh-vertices-missing";
    /// Vertices that move apart became one.
    MeshVerticesMerged = "mesh-vertices-merged";
    /// Vertices stand elsewhere than in the rest pose.
    MeshVerticesMoved = "mesh-vertices-moved";
    /// Axes or unit were changed.
    MeshAxes = "mesh-axes";
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// One thing that was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// Its kind.
    pub code: Code,
    /// How much it matters.
    pub level: Level,
    /// The file that it is about.
    pub file: Option<String>,
    /// One sentence.
    pub message: String,
}

/// Findings as they come.
#[derive(Debug, Clone, Default)]
pub(super) struct Findings {
    pub(super) all: Vec<Finding>,
}

impl Findings {
    pub(super) fn add(&mut self, code: Code, level: Level, file: Option<&str>, message: impl Into<String>) {
        self.all.push(Finding { code, level, file: file.map(str::to_owned), message: message.into() });
    }

    pub(super) fn wrong(&mut self, code: Code, file: &str, message: impl Into<String>) {
        self.add(code, Level::Wrong, Some(file), message);
    }

    pub(super) fn warn(&mut self, code: Code, file: &str, message: impl Into<String>) {
        self.add(code, Level::Warning, Some(file), message);
    }
}

/// What a check found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verdict {
    /// The sidecar's path.
    pub sidecar: String,
    /// Whether nothing is wrong.
    pub ok: bool,
    /// Vertices of the bake.
    pub vertex_count: u32,
    /// Frames of the bake.
    pub frame_count: u32,
    /// Unit of all lengths: the sidecar's.
    pub unit: &'static str,
    /// The textures.
    pub textures: Vec<TextureVerdict>,
    /// Diagonal of the rest pose; 0 where the mesh cannot be read.
    pub size: f64,
    /// What was measured against the model.
    pub measured: Option<Measured>,
    /// What was found in the re-exported mesh.
    pub mesh: Option<MeshVerdict>,
    /// Everything that was found, what is wrong first.
    pub findings: Vec<Finding>,
}

/// A texture in short.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TextureVerdict {
    /// What it holds.
    pub role: crate::output::sidecar::Role,
    /// File name.
    pub file: String,
    /// Pixel format that the sidecar says.
    pub pixel: crate::output::sidecar::Pixel,
    /// Encoding that the sidecar says.
    pub encoding: crate::output::sidecar::Encoding,
    /// Width and height as found; absent where the file cannot be read.
    pub size: Option<[u32; 2]>,
    /// Whether the texels are those that were baked.
    pub intact: bool,
    /// Largest error that the sidecar records.
    pub recorded_error: f32,
}

/// The bake against the model, over every vertex of every frame.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Measured {
    /// Largest distance of a position from the reference, in the sidecar's unit.
    pub position_max: f64,
    /// Root mean square of the distances.
    pub position_rms: f64,
    /// The largest as a share of the model's size.
    pub position_share: f64,
    /// Where the largest distance is.
    pub position_worst: Option<Place>,
    /// Largest angle between a normal and the reference, degrees; absent without normals.
    pub normal_max: Option<f64>,
    /// Where it is.
    pub normal_worst: Option<Place>,
    /// Normals without a direction in the reference, which were left out.
    pub normals_without_direction: u64,
    /// Largest distance of the mesh's rest pose from the reference.
    pub rest_max: f64,
    /// Positions that were compared.
    pub compared: u64,
    /// One row a clip.
    pub clips: Vec<ClipMeasured>,
}

/// One clip against the model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClipMeasured {
    /// Its name.
    pub name: String,
    /// Its frames.
    pub frame_count: u32,
    /// Largest distance.
    pub position_max: f64,
    /// Root mean square.
    pub position_rms: f64,
    /// Largest angle of a normal, degrees.
    pub normal_max: Option<f64>,
    /// Frame of the clip and vertex of the largest distance.
    pub worst: Option<Place>,
}

/// A vertex in a frame.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Place {
    /// Name of the clip.
    pub clip: String,
    /// Frame within the clip.
    pub frame: u32,
    /// Number of the vertex in the bake.
    pub vertex: u32,
}

/// A mesh that went through an engine or a DCC tool.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MeshVerdict {
    /// The file.
    pub file: String,
    /// Its vertices.
    pub vertices: usize,
    /// Vertices of the bake that it names.
    pub named: usize,
    /// UV set in which the lookup was found.
    pub texcoord: Option<u32>,
    /// Whether v has to be turned over.
    pub flipped: bool,
    /// What became of an axis: `(x, y, z)` where nothing changed.
    pub axes: String,
    /// Factor on lengths.
    pub factor: f64,
    /// Vertices of the bake that no vertex names.
    pub missing: usize,
    /// Of these, how many became one with a neighbour.
    pub merged: usize,
    /// Vertices that stand elsewhere than in the rest pose.
    pub moved: usize,
    /// Largest distance from the rest pose, in the bake's metres, axes and factor undone.
    pub largest_distance: f64,
}
