//! URIs of buffers and images: data URIs, percent-escapes, and the rule that a model reads nothing outside its own folder.

use std::path::{Component, Path, PathBuf};

use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use percent_encoding::percent_decode_str;

/// The folder from which side files are read.
#[derive(Debug, Clone)]
pub(super) struct Folder {
    /// Absent where the model came as bytes: then only data URIs are read.
    base: Option<PathBuf>,
    allow_outside: bool,
}

/// What a URI stands for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// The data itself.
    Data {
        /// Media type, where one is given.
        mime_type: Option<String>,
        bytes: Vec<u8>,
    },
    /// Files to try in turn: the unescaped name, the name as written, the name with `/` for `\`.
    Files(Vec<PathBuf>),
}

/// Why a URI is not followed, and what helps.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) problem: String,
    pub(super) remedy: &'static str,
}

impl Folder {
    /// The folder of a model's file.
    pub(super) fn of(path: &Path, allow_outside: bool) -> Self {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        Self { base: path.parent().map(Path::to_path_buf), allow_outside }
    }

    /// No folder: side files are out of reach.
    pub(super) fn none() -> Self {
        Self { base: None, allow_outside: false }
    }

    /// What a URI stands for, or why it is refused.
    pub(super) fn resolve(&self, uri: &str) -> Result<Target, Refusal> {
        if is_data(uri) {
            let refused = |problem| Refusal { problem, remedy: "the file is damaged; export the model again" };
            return decode_data(&uri[5..]).map_err(refused);
        }
        let shown = shorten(uri);
        let Some(base) = &self.base else {
            let problem = format!("the URI `{shown}` names a side file, which a model passed as bytes cannot have");
            return Err(Refusal { problem, remedy: "pass the model's path, or export it as one .glb" });
        };
        let uri = match scheme(uri) {
            Some("file") if self.allow_outside => uri[5..].strip_prefix("//").unwrap_or(&uri[5..]),
            Some(scheme) => {
                let problem = format!("the URI `{shown}` has the scheme `{scheme}:`, only files and data URIs are read");
                return Err(Refusal { problem, remedy: "put the file beside the model and let its bare name be the URI" });
            }
            None => uri,
        };
        let decoded = percent_decode_str(uri).decode_utf8().map_or_else(|_| uri.to_owned(), |s| s.into_owned());
        let mut names = vec![decoded.clone(), uri.to_owned(), decoded.replace('\\', "/")];
        names.dedup();
        if names.len() > 2 && names[0] == names[2] {
            names.truncate(2);
        }
        if !self.allow_outside {
            for name in &names {
                let remedy = "put the file beside the model, or pass --allow-outside";
                check_contained(name).map_err(|why| Refusal { problem: format!("the URI `{shown}` {why}"), remedy })?;
            }
        }
        Ok(Target::Files(names.iter().map(|name| base.join(name)).collect()))
    }
}

/// Reads the first of `candidates` that is there. The error is the first candidate's.
pub(super) fn read_first(candidates: &[PathBuf]) -> Result<(PathBuf, Vec<u8>), String> {
    let mut first_error = None;
    for path in candidates {
        let answer = match std::fs::metadata(path) {
            Ok(meta) if !meta.is_file() => Err("it is not a file".to_owned()),
            Ok(_) => std::fs::read(path).map_err(|e| e.to_string()),
            Err(e) => Err(e.to_string()),
        };
        match answer {
            Ok(bytes) => return Ok((path.clone(), bytes)),
            Err(e) => first_error.get_or_insert(e),
        };
    }
    Err(first_error.unwrap_or_else(|| "it has no name".to_owned()))
}

/// Whether a URI holds its data itself.
pub(super) fn is_data(uri: &str) -> bool {
    uri.get(..5).is_some_and(|s| s.eq_ignore_ascii_case("data:"))
}

/// At most 60 characters of a URI, for messages.
pub(super) fn shorten(uri: &str) -> String {
    match uri.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &uri[..end]),
        None => uri.to_owned(),
    }
}

/// The scheme before the first colon (RFC 3986, 3.1); a single letter is a drive, not a scheme.
fn scheme(uri: &str) -> Option<&str> {
    let (scheme, _) = uri.split_once(':')?;
    let valid = scheme.len() > 1
        && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+.-".contains(c));
    valid.then_some(scheme)
}

/// Refuses absolute paths, drives, and `..` that climbs above the model's folder, in the manner of every system.
fn check_contained(name: &str) -> Result<(), &'static str> {
    let name = name.replace('\\', "/");
    let drive = name.as_bytes().get(1) == Some(&b':') && name.as_bytes()[0].is_ascii_alphabetic();
    if name.starts_with('/') || drive || Path::new(&name).components().any(|c| matches!(c, Component::Prefix(_))) {
        return Err("is an absolute path");
    }
    let mut depth = 0_i64;
    for part in name.split('/') {
        match part {
            ".." => depth -= 1,
            "" | "." => {}
            _ => depth += 1,
        }
        if depth < 0 {
            return Err("leaves the model's folder");
        }
    }
    Ok(())
}

/// Decodes what follows `data:` (RFC 2397), with or without padding, in either base64 alphabet.
fn decode_data(rest: &str) -> Result<Target, String> {
    let (head, body) = rest.split_once(',').ok_or_else(|| "the data URI has no comma before its data".to_owned())?;
    let (mime, base64) = match head.rsplit_once(';') {
        Some((mime, mark)) if mark.trim().eq_ignore_ascii_case("base64") => (mime, true),
        _ => (head, head.trim().eq_ignore_ascii_case("base64")),
    };
    let mime = mime.split(';').next().unwrap_or_default().trim();
    let mime_type = (!mime.is_empty() && !mime.eq_ignore_ascii_case("base64")).then(|| mime.to_ascii_lowercase());
    let bytes = if base64 { decode_base64(body)? } else { percent_decode_str(body).collect() };
    Ok(Target::Data { mime_type, bytes })
}

fn decode_base64(body: &str) -> Result<Vec<u8>, String> {
    let config = GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent).with_decode_allow_trailing_bits(true);
    if let Ok(bytes) = GeneralPurpose::new(&alphabet::STANDARD, config).decode(body) {
        return Ok(bytes);
    }
    let normal: Vec<u8> = percent_decode_str(body)
        .filter(|b| !b.is_ascii_whitespace())
        .map(|b| match b {
            b'-' => b'+',
            b'_' => b'/',
            b => b,
        })
        .collect();
    GeneralPurpose::new(&alphabet::STANDARD, config).decode(normal).map_err(|e| format!("the base64 of the data URI is broken ({e})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(allow_outside: bool) -> Folder {
        Folder { base: Some(PathBuf::from("/models")), allow_outside }
    }

    fn files(uri: &str) -> Result<Vec<PathBuf>, String> {
        match folder(false).resolve(uri).map_err(|refusal| refusal.problem)? {
            Target::Files(files) => Ok(files),
            Target::Data { .. } => Err("data".into()),
        }
    }

    #[test]
    fn what_leaves_the_folder_is_refused() {
        for uri in [
            "../a.bin",
            "x/../../a.bin",
            "/etc/passwd",
            "%2e%2e/a.bin",
            "..\\a.bin",
            "C:\\a.bin",
            "c:/a.bin",
            "http://a/b.bin",
            "file:///a",
        ] {
            assert!(files(uri).is_err(), "{uri}");
        }
        for uri in ["A..B.bin", "x/../a.bin", "..a/b.bin", "./a.bin", "a:b".replace(':', "%20").as_str()] {
            assert!(files(uri).is_ok(), "{uri}");
        }
        assert!(folder(true).resolve("../a.bin").is_ok());
        assert!(folder(true).resolve("http://a/b.bin").is_err());
    }

    #[test]
    fn escapes_come_first_and_the_raw_name_after() {
        assert_eq!(files("a%20b.bin").unwrap(), [PathBuf::from("/models/a b.bin"), PathBuf::from("/models/a%20b.bin")]);
        assert_eq!(files("a.bin").unwrap(), [PathBuf::from("/models/a.bin")]);
        assert_eq!(files("t\\a.bin").unwrap().last().unwrap(), &PathBuf::from("/models/t/a.bin"));
        assert_eq!(files("100%.bin").unwrap(), [PathBuf::from("/models/100%.bin")]);
    }

    #[test]
    fn data_uris_are_lenient() {
        for uri in [
            "data:application/octet-stream;base64,AAEC/w==",
            "data:application/gltf-buffer;base64,AAEC/w",
            "data:;base64,AAEC_w",
            "data:base64,AAEC\n/w==",
            "data:application/octet-stream,%00%01%02%FF",
        ] {
            let Ok(Target::Data { bytes, .. }) = folder(false).resolve(uri) else { panic!("{uri}") };
            assert_eq!(bytes, [0, 1, 2, 255], "{uri}");
        }
        let Ok(Target::Data { mime_type, .. }) = Folder::none().resolve("data:Image/PNG;base64,") else { panic!() };
        assert_eq!(mime_type.as_deref(), Some("image/png"));
        assert!(folder(false).resolve("data:;base64,A*==").is_err());
        assert!(folder(false).resolve("data:text/plain").is_err());
    }
}
