//! Reads Godot's text formats (.tscn, .tres, .import), strictly: tags, then `key = value`, values as Godot's VariantParser takes them.

use std::collections::BTreeMap;

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Text(String),
    Number(f64),
    Flag(bool),
    /// `Vector3(1, 2, 3)`, `ExtResource("id")`.
    Made(String, Vec<Value>),
    List(Vec<Value>),
}

impl Value {
    pub fn text(&self) -> &str {
        match self {
            Value::Text(text) => text,
            other => panic!("a string, found {other:?}"),
        }
    }
    pub fn number(&self) -> f64 {
        match self {
            Value::Number(number) => *number,
            other => panic!("a number, found {other:?}"),
        }
    }
    /// The numbers that a constructor is given.
    pub fn numbers(&self, maker: &str) -> Vec<f64> {
        self.made(maker).iter().map(Value::number).collect()
    }
    /// What a constructor is given.
    pub fn made(&self, maker: &str) -> &[Value] {
        match self {
            Value::Made(name, values) if name == maker => values,
            other => panic!("{maker}(...), found {other:?}"),
        }
    }
}

/// `[name field=value]` and the assignments below it.
#[derive(Debug, Clone, PartialEq)]
pub struct Tag {
    pub name: String,
    pub fields: BTreeMap<String, Value>,
    pub values: BTreeMap<String, Value>,
}

/// Takes a file apart.
pub fn parse(text: &str) -> Result<Vec<Tag>, String> {
    assert!(!text.contains('\r') && text.ends_with('\n'));
    let mut reader = Reader { rest: text };
    let mut tags: Vec<Tag> = Vec::new();
    loop {
        reader.skip();
        if reader.rest.is_empty() {
            return Ok(tags);
        }
        if reader.take('[') {
            let mut tag = Tag { name: reader.word()?, fields: BTreeMap::new(), values: BTreeMap::new() };
            while !reader.take(']') {
                let (key, value) = reader.pair()?;
                if tag.fields.insert(key.clone(), value).is_some() {
                    return Err(format!("{key} twice in [{}]", tag.name));
                }
            }
            tags.push(tag);
        } else {
            let (key, value) = reader.pair()?;
            let tag = tags.last_mut().ok_or("an assignment before any tag")?;
            if tag.values.insert(key.clone(), value).is_some() {
                return Err(format!("{key} twice below [{}]", tag.name));
            }
        }
    }
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn skip(&mut self) {
        self.rest = self.rest.trim_start();
    }
    fn fault<T>(&self, wanted: &str) -> Result<T, String> {
        Err(format!("{wanted} expected at {:?}", self.rest.chars().take(40).collect::<String>()))
    }
    fn take(&mut self, wanted: char) -> bool {
        self.skip();
        match self.rest.strip_prefix(wanted) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }
    fn word(&mut self) -> Result<String, String> {
        self.skip();
        let end = self.rest.find(|c: char| !(c.is_ascii_alphanumeric() || "_/.".contains(c))).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        if word.is_empty() {
            return self.fault("a name");
        }
        self.rest = rest;
        Ok(word.to_owned())
    }
    fn pair(&mut self) -> Result<(String, Value), String> {
        let key = self.word()?;
        if !self.take('=') {
            return self.fault("=");
        }
        Ok((key, self.value()?))
    }
    fn list(&mut self, end: char) -> Result<Vec<Value>, String> {
        let mut values = Vec::new();
        while !self.take(end) {
            if !values.is_empty() && !self.take(',') {
                return self.fault("a comma");
            }
            values.push(self.value()?);
        }
        Ok(values)
    }
    fn value(&mut self) -> Result<Value, String> {
        self.skip();
        if self.take('"') {
            let mut text = String::new();
            let mut letters = self.rest.char_indices();
            while let Some((at, letter)) = letters.next() {
                match letter {
                    '"' => {
                        self.rest = &self.rest[at + 1..];
                        return Ok(Value::Text(text));
                    }
                    '\\' => match letters.next() {
                        Some((_, escaped @ ('"' | '\\'))) => text.push(escaped),
                        other => return Err(format!("the escape {other:?}")),
                    },
                    '\n' => return Err("a line feed in a string".into()),
                    other => text.push(other),
                }
            }
            return self.fault("the end of a string");
        }
        if self.take('[') {
            return Ok(Value::List(self.list(']')?));
        }
        let end = self.rest.find(|c: char| !(c.is_ascii_digit() || "+-.e".contains(c))).unwrap_or(self.rest.len());
        if let Ok(number) = self.rest[..end].parse::<f64>() {
            self.rest = &self.rest[end..];
            return Ok(Value::Number(number));
        }
        let word = self.word()?;
        match word.as_str() {
            "true" => Ok(Value::Flag(true)),
            "false" => Ok(Value::Flag(false)),
            _ if self.take('(') => Ok(Value::Made(word, self.list(')')?)),
            _ => self.fault("a value"),
        }
    }
}
