//! Exit codes: part of the interface, scripts depend on them.

use std::process::ExitCode;

use crate::Error;

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Everything asked for was done.
    Done = 0,
    /// A model could not be read or baked, or the user stopped the run.
    Failed = 1,
    /// A flag, or flags together, make no sense.
    Usage = 2,
    /// Warnings under `--strict`.
    Strict = 3,
}

impl Exit {
    /// What an error that ends the whole run means.
    pub fn of(error: &Error) -> Self {
        match error {
            Error::Usage(_) => Self::Usage,
            Error::Strict(_) => Self::Strict,
            _ => Self::Failed,
        }
    }

    /// The end of a run over several models: failed if any failed, strict if nothing but warnings stood in the way.
    pub fn of_several(ends: impl IntoIterator<Item = Self>) -> Self {
        ends.into_iter().fold(Self::Done, |so_far, end| match (so_far, end) {
            (so_far, Self::Done) => so_far,
            (Self::Done | Self::Strict, Self::Strict) => Self::Strict,
            _ => Self::Failed,
        })
    }

    /// The number that the shell sees.
    pub fn code(self) -> u8 {
        self as u8
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Fault;

    #[test]
    fn codes_are_stable() {
        assert_eq!([Exit::Done, Exit::Failed, Exit::Usage, Exit::Strict].map(Exit::code), [0, 1, 2, 3]);
    }

    #[test]
    fn each_error_has_its_code() {
        let model = Error::Model { fault: Fault::new("/nodes/0", "broken", ""), path: "a.glb".into() };
        let io = Error::io("read the model", "a.glb")(std::io::ErrorKind::NotFound.into());
        for error in [model, io, Error::Bake("too large".into()), Error::Device("none".into()), Error::Interrupted] {
            assert_eq!(Exit::of(&error), Exit::Failed, "{error}");
        }
        assert_eq!(Exit::of(&Error::Usage("no".into())), Exit::Usage);
        assert_eq!(Exit::of(&Error::Strict(Vec::new())), Exit::Strict);
    }

    #[test]
    fn several_models_end_with_the_worst() {
        use Exit::{Done, Failed, Strict, Usage};
        assert_eq!(Exit::of_several([]), Done);
        assert_eq!(Exit::of_several([Done, Done]), Done);
        assert_eq!(Exit::of_several([Done, Strict, Done]), Strict);
        assert_eq!(Exit::of_several([Strict, Failed]), Failed);
        assert_eq!(Exit::of_several([Failed, Strict]), Failed);
        // A clip name that only one of the models lacks is that model's failure, not a wrong command line.
        assert_eq!(Exit::of_several([Done, Usage]), Failed);
    }
}
