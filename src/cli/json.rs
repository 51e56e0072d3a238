//! What machines read on standard output: reports as they are, errors as objects.

use std::path::Path;

use serde::Serialize;

use super::exit::Exit;
use crate::Error;

/// An error where a report would stand.
#[derive(Debug, Serialize)]
pub struct Failure {
    /// One sentence.
    pub error: String,
    /// The model, where the error is about one.
    pub source: Option<String>,
    /// Exit code that this error alone would give.
    pub exit: u8,
}

impl Failure {
    /// A failed model.
    pub fn new(error: &Error, source: Option<&Path>) -> Self {
        Self { error: error.to_string(), source: source.map(|s| s.display().to_string()), exit: Exit::of(error).code() }
    }
}

/// A report or an error.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Answer<'a, T> {
    /// What was asked for.
    Done(&'a T),
    /// What went wrong instead.
    Failed(Failure),
}

impl<'a, T> Answer<'a, T> {
    /// From the result for one model.
    pub fn new(result: &'a Result<T, Error>, source: &Path) -> Self {
        match result {
            Ok(value) => Self::Done(value),
            Err(error) => Self::Failed(Failure::new(error, Some(source))),
        }
    }
}

/// One answer as an object, several as an array, even an array of one.
pub fn answers_text<T: Serialize>(answers: &[Answer<'_, T>], several: bool) -> String {
    match answers {
        [answer] if !several => to_text(answer),
        _ => to_text(&answers),
    }
}

/// Indented JSON.
pub fn to_text(value: &impl Serialize) -> String {
    // Our own types have string keys and finite numbers, so this cannot fail; an error would still be JSON.
    serde_json::to_string_pretty(value).unwrap_or_else(|e| serde_json::json!({ "error": e.to_string() }).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_objects_beside_reports() {
        let results: [Result<u32, Error>; 2] = [Ok(7), Err(Error::Strict(Vec::new()))];
        let answers: Vec<_> = results.iter().map(|r| Answer::new(r, Path::new("a.glb"))).collect();
        let json: serde_json::Value = serde_json::from_str(&answers_text(&answers, true)).expect("JSON");
        assert_eq!(json[0], 7);
        assert_eq!((&json[1]["source"], &json[1]["exit"]), (&"a.glb".into(), &3.into()));
        assert!(json[1]["error"].as_str().is_some_and(|e| e.contains("--strict")));
        assert_eq!(answers_text(&answers[..1], false), "7");
        assert_eq!(answers_text(&answers[..1], true), "[\n  7\n]");
    }
}
