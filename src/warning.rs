//! What a bake found worth saying: collected once a kind, counted, shown at the end.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Good to know; `--strict` does not mind it.
    Note,
    /// Something was repaired or looks wrong; `--strict` refuses it.
    Warning,
}

macro_rules! codes {
    ($( $(#[doc = $doc:literal])* $name:ident = $text:literal, $level:ident; )*) => {
        /// The kinds of finding. The serialised name is stable.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum Code { $( $(#[doc = $doc])* $name, )* }

        impl Code {
            /// Every kind, in the order in which they are shown.
            pub const ALL: &'static [Code] = &[ $( Code::$name, )* ];

            /// The name in reports and sidecars.
            pub fn name(self) -> &'static str {
                match self { $( Code::$name => $text, )* }
            }

            /// Whether `--strict` refuses it.
            pub fn level(self) -> Level {
                match self { $( Code::$name => Level::$level, )* }
            }
        }
    };
}

codes! {
    /// Weights of a vertex did not sum to 1 and were divided by their sum.
    WeightsRenormalised = "weights-renormalised", Warning;
    /// A vertex had no weight at all and follows the first joint it names.
    ZeroWeights = "zero-weights", Warning;
    /// A negative or not-finite weight was taken as 0.
    InvalidWeights = "invalid-weights", Warning;
    /// A joint index out of range with weight 0 was taken as joint 0.
    UnusedJointOutOfRange = "unused-joint-out-of-range", Warning;
    /// A quaternion was not of unit length and was normalised, or was zero and became the identity.
    QuaternionNormalised = "quaternion-normalised", Warning;
    /// A normal or tangent was not of unit length and was normalised.
    NormalRepaired = "normal-repaired", Warning;
    /// A node with a matrix is animated; its matrix was decomposed.
    MatrixNodeAnimated = "matrix-node-animated", Warning;
    /// Key times are equal or negative.
    KeyTimes = "key-times", Warning;
    /// An animation, or one channel of it, moves nothing and was left out.
    EmptyAnimation = "empty-animation", Warning;
    /// A channel without a node, or with a path that moves no vertex, was left out.
    ChannelIgnored = "channel-ignored", Note;
    /// A weights channel drives a mesh without morph targets and was left out.
    WeightsWithoutTargets = "weights-without-targets", Warning;
    /// A joint is not part of the scene that is baked.
    JointOutsideScene = "joint-outside-scene", Warning;
    /// A primitive of points or lines, or without positions or triangles, was left out.
    PrimitiveSkipped = "primitive-skipped", Warning;
    /// Indices that make no whole triangle were left out.
    IncompleteTriangle = "incomplete-triangle", Warning;
    /// A mesh node names a skin but its primitive has no influences, or the reverse.
    SkinWithoutInfluences = "skin-without-influences", Warning;
    /// An extension that does not move vertices was left aside.
    ExtensionIgnored = "extension-ignored", Note;
    /// An image could not be read; the material keeps its other parts.
    ImageMissing = "image-missing", Warning;
    /// Something in the JSON departs from the specification without harm and was mended.
    JsonMended = "json-mended", Warning;
    /// Data stands at an offset that its type does not allow; it was read all the same.
    Misaligned = "misaligned", Note;
    /// The file holds several scenes; one was taken.
    SceneChosen = "scene-chosen", Note;
    /// A node stands otherwise at rest in a file that clips were taken from.
    RestPoseDiffers = "rest-pose-differs", Warning;
    /// A joint of the model has no counterpart in a file that clips were taken from.
    JointsMissing = "joints-missing", Warning;
    /// Nodes without a name of their own were matched with another file's by their place in the tree.
    MatchedByPath = "matched-by-path", Note;
    /// A channel of another file drives a node that the model does not have.
    ChannelUnmatched = "channel-unmatched", Note;
    /// Normals are absent; flat ones are computed per frame and vertices are no longer shared.
    FlatNormals = "flat-normals", Note;
    /// Normals could not be computed (no area, or a matrix without volume).
    DegenerateNormal = "degenerate-normal", Warning;
    /// Tangents were asked for where there are no texture coordinates to compute them from.
    TangentGuessed = "tangent-guessed", Warning;
    /// A skinned part is mirrored by its joints; its winding was left as it is.
    MirroredSkin = "mirrored-skin", Warning;
    /// A part's mirroring changes over time; one index buffer cannot follow.
    MirroringAnimated = "mirroring-animated", Warning;
    /// A clip in which no vertex moves.
    NothingMoves = "nothing-moves", Warning;
    /// A clip drifts far from where it starts.
    RootDrift = "root-drift", Warning;
    /// A clip's pose cycle lacked its closing pose, which was added.
    CycleClosed = "cycle-closed", Note;
    /// An existing second UV set that no material reads was replaced by the lookup.
    UvSetReplaced = "uv-set-replaced", Note;
    /// The lookup stands in a UV set that some engines do not read.
    UvSetMoved = "uv-set-moved", Warning;
    /// A name had to be changed to be a file's name.
    NameChanged = "name-changed", Note;
    /// The texture format is cut or converted by some engines.
    EngineCuts = "engine-cuts", Note;
    /// Half floats are coarse for this model.
    CoarseHalf = "coarse-half", Warning;
    /// A kit cannot show something of the bake.
    KitLimits = "kit-limits", Warning;
    /// The encoding was chosen by the largest error that is allowed.
    EncodingChosen = "encoding-chosen", Note;
    /// Something of the input was left out of the output mesh.
    NotCarried = "not-carried", Note;
}

/// One kind of finding, with its count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Warning {
    /// Kind.
    pub code: Code,
    /// Note or warning.
    pub level: Level,
    /// How often (vertices, keys, channels ... whatever the message counts).
    pub count: u64,
    /// One sentence: what was found, where first, what was done, what helps.
    pub message: String,
}

/// A collection that holds each kind once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Warnings {
    found: std::collections::BTreeMap<Code, Warning>,
}

impl Warnings {
    /// Adds `count` cases of one kind. The first message of a kind is kept; counts add up. A message may hold `{count}`, which
    /// is replaced by the total when the list is taken.
    pub fn add(&mut self, code: Code, count: u64, message: impl FnOnce() -> String) {
        if count == 0 {
            return;
        }
        let entry = self.found.entry(code).or_insert_with(|| Warning { code, level: code.level(), count: 0, message: message() });
        entry.count += count;
    }

    /// Adds everything of another collection.
    pub fn merge(&mut self, other: Warnings) {
        for (code, warning) in other.found {
            self.add(code, warning.count, || warning.message);
        }
    }

    /// Adds what was found in another file, whose name goes before each message.
    pub fn merge_from(&mut self, file: &str, other: Warnings) {
        for (code, warning) in other.found {
            self.add(code, warning.count, || format!("{file}: {}", warning.message));
        }
    }

    /// The list in the order of [`Code::ALL`], `{count}` filled in.
    pub fn list(&self) -> Vec<Warning> {
        let fill = |w: &Warning| Warning { message: w.message.replace("{count}", &w.count.to_string()), ..w.clone() };
        self.found.values().map(fill).collect()
    }

    /// Whether nothing above a note was found.
    pub fn is_clean(&self) -> bool {
        self.found.values().all(|w| w.level == Level::Note)
    }
}
