//! Words and numbers for people: where they go, how they look.

use std::io::{self, IsTerminal, Write};

/// Writes to standard output. A reader that closed the pipe has what it wanted: no error.
///
/// # Errors
/// What else the system says, for example a full disk.
pub fn print(text: &str) -> crate::Result<()> {
    let mut out = io::stdout().lock();
    match writeln!(out, "{}", text.trim_end()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(crate::Error::io("write to", "standard output")(error)),
        _ => Ok(()),
    }
}

/// Writes to standard error; where that is closed nobody listens.
pub fn say(text: &str) {
    let _ = writeln!(io::stderr(), "{}", text.trim_end());
}

/// Writes to standard output, or to standard error where that belongs to JSON.
///
/// # Errors
/// As [`print`].
pub fn print_beside(json: bool, text: &str) -> crate::Result<()> {
    if json {
        say(text);
        return Ok(());
    }
    print(text)
}

/// A text from a file without what steers a terminal: `\u{1b}` for an escape, `\n` for a line's end.
pub fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { c.escape_default().to_string() } else { c.to_string() }).collect()
}

/// Colours on a terminal, unless `NO_COLOR` says no.
#[derive(Debug, Clone, Copy)]
pub struct Paint {
    on: bool,
}

impl Paint {
    /// For standard error.
    pub fn stderr() -> Self {
        Self::on(io::stderr().is_terminal())
    }

    /// For standard output.
    pub fn stdout() -> Self {
        Self::on(io::stdout().is_terminal())
    }

    /// Plain text.
    #[cfg(test)]
    pub fn off() -> Self {
        Self { on: false }
    }

    fn on(terminal: bool) -> Self {
        let refused = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty()) || std::env::var_os("TERM").is_some_and(|v| v == "dumb");
        Self { on: terminal && !refused }
    }

    fn with(self, code: &str, text: &str) -> String {
        if self.on { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.into() }
    }

    /// Errors.
    pub fn red(self, text: &str) -> String {
        self.with("1;31", text)
    }

    /// Warnings.
    pub fn yellow(self, text: &str) -> String {
        self.with("1;33", text)
    }

    /// What matters less.
    pub fn dim(self, text: &str) -> String {
        self.with("2", text)
    }

    /// Headings.
    pub fn bold(self, text: &str) -> String {
        self.with("1", text)
    }
}

/// `1,234,567`.
pub fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 vertex`, `1,728 vertices`.
pub fn many(n: usize, one: &str, more: &str) -> String {
    format!("{} {}", thousands(n as u64), if n == 1 { one } else { more })
}

/// Bytes in the largest binary unit that leaves at least 1: `4.3 MiB`.
pub fn bytes(n: u64) -> String {
    let (unit, shift) = [("GiB", 30), ("MiB", 20), ("KiB", 10)].into_iter().find(|(_, shift)| n >> shift > 0).unwrap_or(("bytes", 0));
    if shift == 0 { format!("{n} {unit}") } else { format!("{:.1} {unit}", n as f64 / f64::from(1 << shift)) }
}

/// A measure with two or three digits that count: `0.00046`, `38.2`, `1728`.
pub fn measure(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.abs().to_string();
    }
    let magnitude = value.abs().log10().floor();
    if magnitude < -6.0 {
        return format!("{value:.1e}");
    }
    // Three digits above 1, two below; `as` is exact: the range is -6..=308.
    let decimals = if magnitude >= 0.0 { 2 - magnitude as i32 } else { 1 - magnitude as i32 };
    let text = format!("{value:.*}", decimals.max(0) as usize);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
}

/// Columns under headings, two spaces apart. A heading that begins with `>` stands right, as its numbers do.
pub fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let rows: Vec<Vec<_>> = rows.iter().map(|row| row.iter().map(|cell| plain(cell)).collect()).collect();
    let shown = |heading: &str| heading.trim_start_matches('>').chars().count();
    let mut widths: Vec<_> = head.iter().map(|h| shown(h)).collect();
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let cells = cells.zip(head).zip(&widths).map(|((cell, heading), width)| match heading.starts_with('>') {
            true => format!("{cell:>width$}"),
            false => format!("{cell:<width$}"),
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_string()
    };
    let mut lines = vec![line(&mut head.iter().map(|h| h.trim_start_matches('>')))];
    lines.extend(rows.iter().map(|row| line(&mut row.iter().map(String::as_str))));
    lines.join("\n")
}

/// Every line moved right by `spaces`.
pub fn indent(text: &str, spaces: usize) -> String {
    text.lines().map(|line| format!("{:spaces$}{line}", "")).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        assert_eq!([0, 999, 1000, 1_234_567].map(thousands), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(many(1, "vertex", "vertices"), "1 vertex");
        assert_eq!(many(7024, "vertex", "vertices"), "7,024 vertices");
    }

    #[test]
    fn sizes_have_binary_units() {
        assert_eq!([0, 1023, 1024, 4_534_272, 3 << 30].map(bytes), ["0 bytes", "1023 bytes", "1.0 KiB", "4.3 MiB", "3.0 GiB"]);
    }

    #[test]
    fn measures_keep_the_digits_that_count() {
        let cases = [
            (0.0, "0"),
            (0.000_461_2, "0.00046"),
            (0.0014, "0.0014"),
            (38.24, "38.2"),
            (1728.4, "1728"),
            (0.05, "0.05"),
            (1.0, "1"),
            (3.2e-9, "3.2e-9"),
        ];
        for (value, text) in cases {
            assert_eq!(measure(value), text);
        }
    }

    #[test]
    fn columns_line_up() {
        let rows = vec![vec!["a".into(), "1,000".into()], vec!["longer".into(), "2".into()]];
        assert_eq!(table(&["name", ">n"], &rows), "name        n\na       1,000\nlonger      2");
        assert_eq!(indent("a\nb", 2), "  a\n  b");
        assert_eq!(table(&["name", "n"], &[vec!["a\nb".into(), "1".into()]]), "name  n\na\\nb  1");
    }

    #[test]
    fn no_name_steers_a_terminal() {
        assert_eq!(plain("läuft 🦊 \u{1b}[31m\r\n\0\u{9b}"), "läuft 🦊 \\u{1b}[31m\\r\\n\\u{0}\\u{9b}");
    }
}
