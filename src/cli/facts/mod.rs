//! What is worth knowing about a model: none of it is wrong, all of it has surprised a reader, an engine or a rigger. Each fact
//! has a stable key for machines and a sentence for people.

mod file;
mod motion;
mod tree;

use serde::Serialize;

use crate::scene::Scene;
use crate::source::Facts;

/// One thing worth knowing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fact {
    /// Stable name of its kind.
    pub key: &'static str,
    /// What tells it from others of its kind, for example `JOINTS_0 u16`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub what: Option<String>,
    /// How many: the text says what is counted.
    pub count: u64,
    /// Out of how many, where that says more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<u64>,
    /// One sentence.
    pub text: String,
}

/// Everything worth knowing, in a fixed order: the file, its tree, its motion.
pub fn find_facts(scene: &Scene, facts: &Facts) -> Vec<Fact> {
    let mut list = List::default();
    file::add(facts, &mut list);
    tree::add(scene, facts, &mut list);
    motion::add(scene, &mut list);
    list.facts
}

/// Facts found so far.
#[derive(Debug, Default)]
struct List {
    facts: Vec<Fact>,
}

impl List {
    /// Adds a fact, unless there is nothing to count.
    fn add(&mut self, key: &'static str, count: usize, text: impl FnOnce() -> String) {
        self.push(key, None, count, None, text);
    }

    /// Adds a fact that counts some of `of`.
    fn add_of(&mut self, key: &'static str, count: usize, of: usize, text: impl FnOnce() -> String) {
        self.push(key, None, count, Some(of), text);
    }

    /// Adds a fact of which a file may have several.
    fn add_what(&mut self, key: &'static str, what: impl Into<String>, count: usize, text: impl FnOnce() -> String) {
        self.push(key, Some(what.into()), count, None, text);
    }

    fn push(&mut self, key: &'static str, what: Option<String>, count: usize, of: Option<usize>, text: impl FnOnce() -> String) {
        if count > 0 {
            self.facts.push(Fact { key, what, count: count as u64, of: of.map(|of| of as u64), text: text() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_occur_is_not_listed() {
        let mut list = List::default();
        list.add("none", 0, || panic!("nothing to say"));
        list.add_of("some", 1, 2, || "one of two".into());
        list.add_what("kind", "a", 3, || "three of a".into());
        let json = serde_json::to_value(&list.facts).unwrap();
        assert_eq!(
            json,
            serde_json::json!([
                { "key": "some", "count": 1, "of": 2, "text": "one of two" },
                { "key": "kind", "what": "a", "count": 3, "text": "three of a" },
            ])
        );
    }
}
