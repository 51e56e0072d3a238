//! JSON for people: like the usual indented form, but arrays of numbers stand on one line.

use std::io::{self, Write};

use serde_json::ser::Formatter;

/// Two spaces a level, every value on a line of its own but numbers in arrays.
#[derive(Debug, Default)]
pub struct Lines {
    level: usize,
    /// Whether the innermost object or array has had a value on a line of its own.
    broken: bool,
    /// An array's value is due and has not told its type yet.
    due: Option<Due>,
}

/// Place of a value in an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Due {
    First,
    Later,
}

impl Lines {
    fn new_line<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.broken = true;
        out.write_all(b"\n")?;
        (0..self.level).try_for_each(|_| out.write_all(b"  "))
    }

    /// Before anything that is not a number.
    fn settle<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        match self.due.take() {
            None => return Ok(()),
            Some(Due::First) => {}
            Some(Due::Later) => out.write_all(b",")?,
        }
        self.new_line(out)
    }

    /// Before a number.
    fn settle_number<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        if self.due.take() == Some(Due::Later) { out.write_all(b", ") } else { Ok(()) }
    }

    fn open<W: ?Sized + Write>(&mut self, out: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.settle(out)?;
        self.level += 1;
        self.broken = false;
        out.write_all(bracket)
    }

    fn close<W: ?Sized + Write>(&mut self, out: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.level -= 1;
        if self.broken {
            self.new_line(out)?;
        }
        // What is around it stands on several lines, since this stood on one of its own.
        self.broken = true;
        out.write_all(bracket)
    }
}

/// Numbers of each type, as the default formatter writes them.
macro_rules! numbers {
    ($($name:ident: $type:ty),*) => { $(
        fn $name<W: ?Sized + Write>(&mut self, out: &mut W, value: $type) -> io::Result<()> {
            self.settle_number(out)?;
            serde_json::ser::CompactFormatter.$name(out, value)
        }
    )* };
}

impl Formatter for Lines {
    numbers!(write_f32: f32, write_f64: f64, write_u8: u8, write_u32: u32, write_u64: u64, write_i32: i32, write_i64: i64);

    fn write_null<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.settle(out)?;
        out.write_all(b"null")
    }
    fn write_bool<W: ?Sized + Write>(&mut self, out: &mut W, value: bool) -> io::Result<()> {
        self.settle(out)?;
        out.write_all(if value { b"true" } else { b"false" })
    }
    fn begin_string<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.settle(out)?;
        out.write_all(b"\"")
    }
    fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.open(out, b"[")
    }
    fn end_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.close(out, b"]")
    }
    fn begin_array_value<W: ?Sized + Write>(&mut self, _: &mut W, first: bool) -> io::Result<()> {
        self.due = Some(if first { Due::First } else { Due::Later });
        Ok(())
    }
    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.open(out, b"{")
    }
    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.close(out, b"}")
    }
    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        if !first {
            out.write_all(b",")?;
        }
        self.new_line(out)
    }
    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        out.write_all(b": ")
    }
}
