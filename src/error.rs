//! What can go wrong, each in one sentence: what failed, the numbers, the remedy, the path last.

use std::path::{Path, PathBuf};

use crate::warning::Warning;

/// Result of everything in this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that ends a bake.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused.
    #[error("cannot {action}: {source}: {}", path.display())]
    Io {
        /// What was tried, as in "read the model".
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// Its answer.
        source: std::io::Error,
    },
    /// The model is broken or asks for what is not supported.
    #[error("{fault}: {}", path.display())]
    Model {
        /// What is wrong and where.
        fault: Fault,
        /// The file.
        path: PathBuf,
    },
    /// A flag's value does not fit the model or another flag.
    #[error("{0}")]
    Usage(String),
    /// The bake cannot be done as asked (size limits, value ranges).
    #[error("{0}")]
    Bake(String),
    /// No adapter, or the adapter failed.
    #[error("{0}")]
    Device(String),
    /// Warnings under `--strict`; nothing was written.
    #[error("{}", strict_message(.0))]
    Strict(Vec<Warning>),
    /// The caller asked to stop.
    #[error("interrupted; nothing was written")]
    Interrupted,
}

/// What is wrong with a model, and where in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// JSON pointer (RFC 6901) into the file, for example `/animations/2/samplers/0`; empty for the file as a whole.
    pub pointer: String,
    /// What was found and what was wanted, with the numbers.
    pub problem: String,
    /// What helps.
    pub remedy: String,
}

impl Fault {
    /// A fault at a JSON pointer.
    pub fn new(pointer: impl Into<String>, problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), problem: problem.into(), remedy: remedy.into() }
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if !self.pointer.is_empty() {
            write!(f, "{}: ", self.pointer)?;
        }
        write!(f, "{}", self.problem)?;
        if !self.remedy.is_empty() {
            write!(f, "; {}", self.remedy)?;
        }
        Ok(())
    }
}

impl Error {
    /// Wraps an operating-system error.
    pub fn io(action: &'static str, path: impl AsRef<Path>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.as_ref().to_path_buf();
        move |source| Self::Io { action, path, source }
    }
}

fn strict_message(warnings: &[Warning]) -> String {
    let list: Vec<_> = warnings.iter().map(|w| format!("[{}] {}", w.code.name(), w.message)).collect();
    format!("{} under --strict, nothing was written: {}", count(list.len(), "warning"), list.join("; "))
}

/// "1 warning", "2 warnings".
pub(crate) fn count(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}
