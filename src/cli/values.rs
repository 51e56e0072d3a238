//! Values of flags that are more than a word: parsed with their range, shown as they are typed.

use std::fmt;
use std::str::FromStr;

use crate::options::{DeviceChoice, Fps, Looping, MergeClips};
use crate::{Error, Result};

/// Highest rate that `--fps` takes.
pub const MAX_FPS: f64 = 1000.0;
/// Smallest `--memory` in bytes.
pub const MIN_MEMORY: u64 = 1 << 20;
/// Largest factor of `--scale`, and one divided by the smallest.
pub const MAX_SCALE: f64 = 1e6;

/// `--fps`: a rate or `source`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate(pub Fps);

impl FromStr for Rate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.eq_ignore_ascii_case("source") {
            return Ok(Self(Fps::Source));
        }
        match text.parse::<f64>() {
            Ok(rate) if rate > 0.0 && rate <= MAX_FPS => Ok(Self(Fps::Rate(rate))),
            _ => Err(format!("give a number above 0 and at most {MAX_FPS}, or `source` for the rate of each clip's keys")),
        }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Fps::Rate(rate) => write!(f, "{rate}"),
            Fps::Source => f.write_str("source"),
        }
    }
}

/// `--memory`: bytes, shown with the largest suffix that divides them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bytes(pub u64);

const SUFFIXES: [(&str, u32); 3] = [("G", 30), ("M", 20), ("K", 10)];

impl FromStr for Bytes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let upper = text.trim().to_ascii_uppercase();
        let upper = upper.strip_suffix("IB").unwrap_or(&upper);
        let (digits, shift) = SUFFIXES.iter().find_map(|(suffix, shift)| Some((upper.strip_suffix(suffix)?, *shift))).unwrap_or((upper, 0));
        let bytes = digits.trim().parse::<u64>().ok().and_then(|n| n.checked_mul(1 << shift));
        match bytes {
            Some(bytes) if bytes >= MIN_MEMORY => Ok(Self(bytes)),
            _ => Err(format!("give at least {}, as in 512M, 2G or 1GiB (K, M and G count in 1024s)", Self(MIN_MEMORY))),
        }
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match SUFFIXES.iter().find(|(_, shift)| self.0 > 0 && self.0.is_multiple_of(1 << shift)) {
            Some((suffix, shift)) => write!(f, "{}{suffix}", self.0 >> shift),
            None => write!(f, "{}", self.0),
        }
    }
}

/// `--device`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Device(pub DeviceChoice);

impl FromStr for Device {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Ok(Self(match text.trim().to_ascii_lowercase().as_str() {
            "" => return Err("give auto, gpu, software, cpu or a part of a name that `vatbake devices` lists".into()),
            "auto" => DeviceChoice::Auto,
            "gpu" => DeviceChoice::Gpu,
            "software" => DeviceChoice::Software,
            "cpu" => DeviceChoice::Cpu,
            _ => DeviceChoice::Named(text.trim().into()),
        }))
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match &self.0 {
            DeviceChoice::Auto => "auto",
            DeviceChoice::Gpu => "gpu",
            DeviceChoice::Software => "software",
            DeviceChoice::Cpu => "cpu",
            DeviceChoice::Named(name) => name,
        })
    }
}

/// `--scale`: a factor on every length.
pub fn parse_scale(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(scale) if (1.0 / MAX_SCALE..=MAX_SCALE).contains(&scale) => Ok(scale),
        _ => Err(format!("give a factor from {} to {MAX_SCALE}, as in 0.01 for a model in centimetres", 1.0 / MAX_SCALE)),
    }
}

/// `--start` and `--end`.
pub fn parse_seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds >= 0.0 && seconds.is_finite() => Ok(seconds),
        _ => Err("give seconds from 0 up, as in 1.25".into()),
    }
}

/// `--max-error`: a length with its unit, in metres without; the result is in metres.
pub fn parse_length(text: &str) -> Result<f64, String> {
    let text = text.trim();
    // of a metre; divided by, which is exact for what people type
    let units = [("um", 1e6), ("mm", 1e3), ("cm", 1e2), ("m", 1.0)];
    let (number, parts) = units.iter().find_map(|(unit, parts)| Some((text.strip_suffix(unit)?, *parts))).unwrap_or((text, 1.0));
    match number.trim().parse::<f64>() {
        Ok(length) if length > 0.0 && (length / parts).is_normal() => Ok(length / parts),
        _ => Err("give a length above 0, as in 0.5mm, 1cm, 20um or 0.001 (metres)".into()),
    }
}

/// `--max-normal-error`.
pub fn parse_angle(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(degrees) if degrees > 0.0 && degrees <= 180.0 => Ok(degrees),
        _ => Err("give degrees above 0 and at most 180, as in 0.5".into()),
    }
}

/// `--normal-bits`.
pub fn parse_bits(text: &str) -> Result<u8, String> {
    match text {
        "8" => Ok(8),
        "16" => Ok(16),
        _ => Err("give 8 or 16".into()),
    }
}

/// `--name`: a file name without folders.
pub fn parse_name(text: &str) -> Result<String, String> {
    if text.trim().is_empty() || text.contains(['/', '\\']) || text == "." || text == ".." {
        return Err("give a name without folders; -o/--output says which folder".into());
    }
    Ok(text.into())
}

/// `--merge-clips`: parts, after a name and `=` where the whole shall have one of its own.
pub fn parse_merge(text: &str) -> Result<MergeClips, String> {
    let (name, parts) = text.split_once('=').map_or((None, text), |(name, parts)| (Some(name.trim().to_owned()), parts));
    let clips: Vec<String> = parts.split(',').map(|part| part.trim().to_owned()).collect();
    if name.as_ref().is_some_and(String::is_empty) || clips.iter().any(String::is_empty) {
        return Err("give clips as in Walk_Hips,Walk_Spine or Walk=Walk_*; a clip with = or a comma in its name has a number too".into());
    }
    Ok(MergeClips { name, clips })
}

/// `--loop`: what the words mean together.
pub fn resolve_looping(words: Vec<String>) -> Result<Looping> {
    let special = words.iter().find(|w| *w == "all" || *w == "none");
    match (special.map(String::as_str), words.len()) {
        (_, 0) => Ok(Looping::Detect),
        (Some("all"), 1) => Ok(Looping::All),
        (Some(_), 1) => Ok(Looping::None),
        (None, _) => Ok(Looping::Named(words)),
        (Some(word), _) => Err(Error::Usage(format!("--loop takes `{word}` alone or the names of clips; leave out one of them"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_above_zero_and_finite() {
        assert_eq!("30".parse(), Ok(Rate(Fps::Rate(30.0))));
        assert_eq!("Source".parse(), Ok(Rate(Fps::Source)));
        for bad in ["0", "-1", "nan", "inf", "1001", "", "fast"] {
            assert!(bad.parse::<Rate>().is_err(), "{bad}");
        }
    }

    #[test]
    fn bytes_take_binary_suffixes() {
        for (text, bytes) in [("1048576", 1 << 20), ("2048K", 2 << 20), ("512m", 512 << 20), ("2GiB", 2 << 30), ("1 G", 1 << 30)] {
            assert_eq!(text.parse(), Ok(Bytes(bytes)), "{text}");
        }
        for bad in ["", "M", "1", "-5M", "1.5G", "512MB", "99999999999G", "iB"] {
            assert!(bad.parse::<Bytes>().is_err(), "{bad}");
        }
        assert_eq!([Bytes(512 << 20), Bytes(2 << 30), Bytes(1025)].map(|b| b.to_string()), ["512M", "2G", "1025"]);
    }

    #[test]
    fn what_is_shown_is_parsed_back() {
        for device in ["auto", "gpu", "software", "cpu", "GeForce RTX"] {
            assert_eq!(device.parse::<Device>().map(|d| d.to_string()), Ok(device.into()));
        }
        assert_eq!(Bytes(crate::options::DEFAULT_MEMORY).to_string().parse(), Ok(Bytes(crate::options::DEFAULT_MEMORY)));
    }

    #[test]
    fn lengths_have_units() {
        for (text, metres) in [("0.5mm", 0.5e-3), ("1 cm", 0.01), ("20um", 20e-6), ("2m", 2.0), ("0.001", 0.001), (" 3 ", 3.0)] {
            assert_eq!(parse_length(text), Ok(metres), "{text}");
        }
        for bad in ["", "mm", "0", "-1mm", "nan", "inf", "1km", "1e-320m", "0,5mm"] {
            assert!(parse_length(bad).is_err(), "{bad}");
        }
        assert_eq!(parse_angle("0.5"), Ok(0.5));
        assert!(["0", "-1", "181", "nan", ""].iter().all(|bad| parse_angle(bad).is_err()));
    }

    #[test]
    fn loops_are_a_word_or_names() {
        let words = |text: &str| resolve_looping(text.split_terminator(',').map(String::from).collect());
        assert_eq!(words("").ok(), Some(Looping::Detect));
        assert_eq!(words("all").ok(), Some(Looping::All));
        assert_eq!(words("none").ok(), Some(Looping::None));
        assert_eq!(words("Walk,Run").ok(), Some(Looping::Named(vec!["Walk".into(), "Run".into()])));
        assert!(words("Walk,all").is_err() && words("none,all").is_err());
    }

    #[test]
    fn merges_are_parts_and_perhaps_a_name() {
        let merge = |name: Option<&str>, clips: &[&str]| MergeClips {
            name: name.map(String::from),
            clips: clips.iter().map(ToString::to_string).collect(),
        };
        assert_eq!(parse_merge("a,b"), Ok(merge(None, &["a", "b"])));
        assert_eq!(parse_merge("Walk = Walk_*, 3"), Ok(merge(Some("Walk"), &["Walk_*", "3"])));
        for bad in ["", "=a,b", "a,", "x=", ",a"] {
            assert!(parse_merge(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn names_are_no_paths() {
        assert!(parse_name("knight").is_ok());
        for bad in ["", " ", "a/b", "a\\b", "..", "."] {
            assert!(parse_name(bad).is_err(), "{bad}");
        }
    }
}
