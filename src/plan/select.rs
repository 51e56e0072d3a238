//! Names, globs and numbers that a user types to mean clips or nodes.

use wildmatch::WildMatch;

use crate::{Error, Result};

/// Indices of `names` that `patterns` mean, in the order of the patterns, each once. A pattern is a name, else a number from 0,
/// else a glob (`*` and `?`) that matches at least one name.
///
/// # Errors
/// [`Error::Usage`] listing what there is, where a pattern means nothing. `what` is "clip" or "node".
pub fn select(patterns: &[String], names: &[String], what: &str) -> Result<Vec<usize>> {
    let mut chosen = Vec::new();
    for pattern in patterns {
        let mut found: Vec<usize> = (0..names.len()).filter(|&i| names[i] == *pattern).collect();
        if found.is_empty() {
            found.extend(pattern.parse().ok().filter(|&i: &usize| i < names.len()));
        }
        if found.is_empty() {
            let glob = WildMatch::new(pattern);
            found.extend((0..names.len()).filter(|&i| glob.matches(&names[i])));
        }
        if found.is_empty() {
            return Err(Error::Usage(format!("no {what} is called '{pattern}'; there are {}", list_names(names))));
        }
        for index in found {
            if !chosen.contains(&index) {
                chosen.push(index);
            }
        }
    }
    Ok(chosen)
}

/// "'Idle', 'Walk', 'Run'", cut after 40 names.
pub fn list_names(names: &[String]) -> String {
    const MOST: usize = 40;
    let shown: Vec<_> = names.iter().take(MOST).map(|n| format!("'{n}'")).collect();
    let rest = names.len().saturating_sub(MOST);
    match (shown.is_empty(), rest) {
        (true, _) => "none".into(),
        (_, 0) => shown.join(", "),
        _ => format!("{} and {rest} more", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(patterns: &[&str]) -> Result<Vec<usize>> {
        let strings = |list: &[&str]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
        select(&strings(patterns), &strings(&["Idle", "Walk", "Walk_Back", "2"]), "clip")
    }

    #[test]
    fn names_before_numbers_before_globs() {
        assert_eq!(chosen(&["Walk"]).unwrap(), [1]);
        assert_eq!(chosen(&["Walk*", "0"]).unwrap(), [1, 2, 0]);
        assert_eq!(chosen(&["2"]).unwrap(), [3], "a clip called 2 is meant, not clip number 2");
        assert_eq!(chosen(&["*", "Idle"]).unwrap(), [0, 1, 2, 3]);
    }

    #[test]
    fn an_unknown_name_lists_what_there_is() {
        let message = chosen(&["Jump"]).unwrap_err().to_string();
        assert_eq!(message, "no clip is called 'Jump'; there are 'Idle', 'Walk', 'Walk_Back', '2'");
    }
}
