//! Names of files, made from names of models and clips.

/// Longest name in bytes: leaves room for suffixes below the 255 that file systems take.
const NAME_LIMIT: usize = 100;

/// Makes a text a file's name that every file system and URL takes. Characters that one of them forbids become `_`, also `#` and
/// `%` (a URL's fragment and escapes; Bevy's asset paths end at a `#`) and a dot at the beginning, which hides a file from engines.
/// Device names of Windows get one appended, spaces at the ends and dots at the end go, length is at most 100 bytes; what is left of
/// nothing is `unnamed`.
pub fn safe_name(text: &str) -> String {
    let replaced: String = text.chars().map(|c| if c.is_control() || r##"<>:"/\|?*#%"##.contains(c) { '_' } else { c }).collect();
    let mut name = trim(&replaced).to_string();
    if name.starts_with('.') {
        name.replace_range(..1, "_");
    }
    let stem = name.split('.').next().unwrap_or_default();
    if is_device(stem) {
        name.insert(stem.len(), '_');
    }
    let name = trim(&name[..name.floor_char_boundary(NAME_LIMIT)]);
    if name.is_empty() { "unnamed".into() } else { name.into() }
}

fn trim(name: &str) -> &str {
    name.trim_start().trim_end_matches(|c: char| c == '.' || c.is_whitespace())
}

/// Names that Windows keeps for devices, with any extension.
fn is_device(stem: &str) -> bool {
    let stem = stem.trim_end().to_uppercase();
    let numbered = |base: &str| stem.strip_prefix(base).is_some_and(|n| n.chars().count() == 1 && "0123456789¹²³".contains(n));
    ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$"].contains(&stem.as_str()) || numbered("COM") || numbered("LPT")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_become_safe() {
        let cases = [
            ("", "unnamed"),
            ("..", "unnamed"),
            (" . ", "unnamed"),
            ("Idle", "Idle"),
            ("A|B", "A_B"),
            ("hero#2 100%", "hero_2 100_"),
            ("a/b\\c", "a_b_c"),
            ("../../etc", "_._.._etc"),
            (".hidden", "_hidden"),
            ("x:y*?\"<>", "x_y_____"),
            ("tab\tnewline\n", "tab_newline_"),
            ("CON", "CON_"),
            ("con.glb", "con_.glb"),
            ("nul .txt", "nul _.txt"),
            ("LPT9", "LPT9_"),
            ("com¹", "com¹_"),
            ("COM10", "COM10"),
            ("console", "console"),
            ("dots...", "dots"),
            (" both ends ", "both ends"),
            ("🦊 läuft", "🦊 läuft"),
        ];
        for (text, wanted) in cases {
            assert_eq!(safe_name(text), wanted, "{text:?}");
        }
        assert_eq!(safe_name(&"é".repeat(300)), "é".repeat(50));
        assert_eq!(safe_name(&format!("x{}", "é".repeat(300))).len(), 99);
        assert_eq!(safe_name(&format!("{}. .tail", "x".repeat(98))), "x".repeat(98));
    }

    proptest! {
        #[test]
        fn every_name_is_safe_and_stays_as_it_is(text in "(\\PC|[\\x00-\\x1f]|[. ]|CON|nul|/|\\\\){0,60}") {
            let name = safe_name(&text);
            prop_assert!(!name.is_empty() && name.len() <= NAME_LIMIT);
            prop_assert!(!name.contains(['/', '\\', ':', '\0']) && !name.ends_with(['.', ' ']) && !name.starts_with(['.', ' ']));
            prop_assert_eq!(safe_name(&name), name);
        }
    }
}
