//! Values of fields, and how vectors write them.

use std::fmt::Write as _;

/// What a field holds.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    None,
    Number(u64),
    /// Used only for the balance in a report.
    Signed(i64),
    Text(String),
    Bytes(Vec<u8>),
    Numbers(Vec<u64>),
    Fields(Fields),
    List(Vec<Fields>),
}

/// Named values, in order.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Fields(pub(crate) Vec<(&'static str, Value)>);

/// Larger numbers are written as strings in JSON, because some languages do not read them exactly.
const EXACT: u64 = 1 << 53;

impl Fields {
    pub(crate) fn push(&mut self, name: &'static str, value: Value) {
        self.0.push((name, value));
    }

    /// The same fields with this one, which replaces a field of its name. The order of fields in a
    /// packet is that of the grammar, not the order here.
    pub(crate) fn with(mut self, name: &'static str, value: Value) -> Self {
        self.0.retain(|(other, _)| *other != name);
        self.push(name, value);
        self
    }

    /// The same fields with this number.
    pub(crate) fn num(self, name: &'static str, number: u64) -> Self {
        self.with(name, Value::Number(number))
    }

    pub(crate) fn find(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(other, _)| *other == name).map(|(_, value)| value)
    }

    pub(crate) fn get(&self, name: &str) -> &Value {
        self.find(name).unwrap_or_else(|| panic!("there is no field {name} in {self:?}"))
    }

    pub(crate) fn number(&self, name: &str) -> u64 {
        match self.get(name) {
            Value::Number(number) => *number,
            other => panic!("{name} is {other:?}"),
        }
    }

    pub(crate) fn bytes(&self, name: &str) -> &[u8] {
        match self.get(name) {
            Value::Bytes(bytes) => bytes,
            other => panic!("{name} is {other:?}"),
        }
    }

    pub(crate) fn list(&self, name: &str) -> &[Fields] {
        match self.get(name) {
            Value::List(list) => list,
            other => panic!("{name} is {other:?}"),
        }
    }

    pub(crate) fn fields(&self, name: &str) -> &Fields {
        match self.get(name) {
            Value::Fields(fields) => fields,
            other => panic!("{name} is {other:?}"),
        }
    }

    pub(crate) fn json(&self) -> String {
        let fields =
            self.0.iter().map(|(name, value)| format!("{}: {}", quoted(name), value.json()));
        format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
    }
}

impl Value {
    pub(crate) fn json(&self) -> String {
        let list = |items: Vec<String>| format!("[{}]", items.join(", "));
        match self {
            Value::None => "null".into(),
            Value::Number(number) if *number > EXACT => format!("\"{number}\""),
            Value::Number(number) => number.to_string(),
            Value::Signed(number) => number.to_string(),
            Value::Text(text) => quoted(text),
            Value::Bytes(bytes) => quoted(&hex(bytes)),
            Value::Numbers(numbers) => list(numbers.iter().map(u64::to_string).collect()),
            Value::Fields(fields) => fields.json(),
            Value::List(items) => list(items.iter().map(Fields::json).collect()),
        }
    }
}

pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            ' '..='~' => out.push(c),
            _ => {
                let mut units = [0; 2];
                for unit in c.encode_utf16(&mut units) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
        }
    }
    out.push('"');
    out
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

pub(crate) fn unhex(text: &str) -> Vec<u8> {
    let digit = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).expect("hexadecimal digits");
    (0..text.len()).step_by(2).map(digit).collect()
}
