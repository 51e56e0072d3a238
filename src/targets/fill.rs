//! Templates of kits: files in an engine's own language with `{{key}}` where a bake's values go.

/// The template with every `{{key}}` replaced. What is put in is not looked at again, whatever it holds.
pub(super) fn fill<V: AsRef<str>>(template: &str, values: &[(&str, V)]) -> String {
    let mut text = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        text.push_str(before);
        let value = after.split_once("}}").and_then(|(key, left)| {
            let (_, value) = values.iter().find(|(name, _)| *name == key)?;
            Some((value, left))
        });
        match value {
            Some((value, left)) => {
                text.push_str(value.as_ref());
                rest = left;
            }
            None => {
                text.push_str("{{");
                rest = after;
            }
        }
    }
    text + rest
}

/// A name for a line of text or a comment: it can't leave it, and is cut where it is long.
pub(super) fn line(name: &str) -> String {
    const MOST: usize = 80;
    let clean = |c: char| if c.is_control() || "\u{2028}\u{2029}".contains(c) { ' ' } else { c };
    let mut text: String = name.chars().take(MOST).map(clean).collect();
    if name.chars().nth(MOST).is_some() {
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::fill;

    #[test]
    fn values_are_put_in_once() {
        let values = [("a", "{{b}}"), ("b", "2")];
        assert_eq!(fill("x {{a}} {{b}}{{b}} {{c}} {{", &values), "x {{b}} 22 {{c}} {{");
        assert_eq!(fill("", &values), "");
    }
}
