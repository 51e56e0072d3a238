//! Makes the page's code smaller: comments and needless white space go, names stay. Not a parser: it knows comments, strings and
//! templates, and the code beside it is written so that this is enough (a regular expression holds no quote, white space or comment).

/// What a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// CSS.
    Style,
    /// JavaScript.
    Script,
    /// GLSL.
    Shader,
}

impl Kind {
    /// Whether white space is needless after (or before) this character.
    fn joins(self, c: char, before: bool) -> bool {
        match self {
            // A space before a colon or a bracket is a descendant, and one around + or - is needed in calc().
            Self::Style => matches!(c, '{' | '}' | ';' | ',') || (c == ':' && !before),
            Self::Script | Self::Shader => "{}()[];,:?=<>*/&|!".contains(c),
        }
    }

    /// Whether a line's end can go after this character: none where JavaScript would put a semicolon.
    fn goes_on(self, c: char) -> bool {
        match self {
            Self::Style => self.joins(c, false),
            Self::Script => "{([;,:?=&|".contains(c),
            Self::Shader => "{(;,=".contains(c),
        }
    }
}

/// The text without comments and needless white space.
pub(super) fn squeeze(text: &str, kind: Kind) -> String {
    let text = text.replace('\r', "");
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    // White space that was passed since the last character: nothing, a space or a line's end.
    let mut gap: Option<char> = None;
    while let Some(c) = rest.chars().next() {
        if c.is_whitespace() {
            gap = if c == '\n' || gap == Some('\n') { Some('\n') } else { Some(' ') };
            rest = &rest[c.len_utf8()..];
            continue;
        }
        if rest.starts_with("/*") {
            rest = rest.split_once("*/").map_or("", |(_, after)| after);
            gap = gap.or(Some(' '));
            continue;
        }
        if kind != Kind::Style && rest.starts_with("//") {
            rest = rest.find('\n').map_or("", |end| &rest[end..]);
            continue;
        }
        let last = out.chars().next_back();
        put_gap(&mut out, kind, last, gap.take(), c);
        let length = match c {
            '#' if kind == Kind::Shader => directive(rest),
            '\'' | '"' | '`' if kind != Kind::Shader => quoted(rest, c),
            _ => c.len_utf8(),
        };
        out.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    out.push('\n');
    out
}

/// Writes what is left of the white space between two characters.
fn put_gap(out: &mut String, kind: Kind, last: Option<char>, gap: Option<char>, next: char) {
    let (Some(last), Some(gap)) = (last, gap) else { return };
    let on_a_line_of_its_own = kind == Kind::Shader && (next == '#' || out.lines().next_back().is_some_and(|line| line.starts_with('#')));
    if gap == '\n' {
        if on_a_line_of_its_own || !(kind.goes_on(last) || (kind == Kind::Style && kind.joins(next, true))) {
            out.push('\n');
        }
    } else if !(kind.joins(last, false) || kind.joins(next, true)) {
        out.push(' ');
    }
}

/// Length of a directive of the preprocessor: the line, without a comment.
fn directive(text: &str) -> usize {
    let line = text.lines().next().unwrap_or(text);
    line.split("//").next().unwrap_or(line).trim_end().len()
}

/// Length of a string or a template with its quotes. What a template holds in `${}` may hold templates again.
fn quoted(text: &str, quote: char) -> usize {
    let mut inner = text.char_indices().skip(1).peekable();
    while let Some((at, c)) = inner.next() {
        match c {
            '\\' => drop(inner.next()),
            _ if c == quote => return at + 1,
            '$' if quote == '`' && text[at..].starts_with("${") => {
                let end = at + 2 + placeholder(&text[at + 2..]);
                while inner.next_if(|&(i, _)| i < end).is_some() {}
            }
            _ => (),
        }
    }
    text.len()
}

/// Length of what stands in `${}`, with the closing brace.
fn placeholder(text: &str) -> usize {
    let mut depth = 1;
    let mut inner = text.char_indices().peekable();
    while let Some((at, c)) = inner.next() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            '\'' | '"' | '`' => {
                let end = at + quoted(&text[at..], c);
                while inner.next_if(|&(i, _)| i < end).is_some() {}
            }
            _ => (),
        }
        if depth == 0 {
            return at + 1;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn script_keeps_strings_templates_and_line_ends() {
        let text = "/** a */\nconst a = { b: 'x  // y' }; // c\n  let d = `${ e ? ` { ` : \"}\" }  //f`\nreturn a +\n  +b\n";
        assert_eq!(squeeze(text, Kind::Script), "const a={b:'x  // y'};let d=`${ e ? ` { ` : \"}\" }  //f`\nreturn a +\n+b\n");
        assert_eq!(squeeze("a = 'it\\'s'  ;  b()\nc()", Kind::Script), "a='it\\'s';b()\nc()\n");
    }

    #[test]
    fn style_keeps_descendants_and_sums() {
        let text = "a :is(b, c) > d {\n  width: calc(1px - 2px);\n}\n/* e */ @media (max-width: 5em) { f { g: h } }";
        assert_eq!(squeeze(text, Kind::Style), "a :is(b,c) > d{width:calc(1px - 2px);}@media (max-width:5em){f{g:h}}\n");
    }

    #[test]
    fn shader_keeps_directives_on_their_lines() {
        let text = "// a\n#ifndef A  // b\nint a = 1;\n#define B(c) (c + 1)\n#endif\n\nvoid main() {\n    a = b - -c;\n}";
        assert_eq!(squeeze(text, Kind::Shader), "#ifndef A\nint a=1;\n#define B(c) (c + 1)\n#endif\nvoid main(){a=b - -c;}\n");
    }
}
