//! JSON exactly as JavaScript reads and writes it, so that programs in both languages keep the same
//! state and send the same bytes.
//!
//! It differs from most JSON libraries in four ways: the members of an object keep their order,
//! except that names which are indexes (`"7"`) come first; a number is an `f64`, and is written
//! with the digits that JavaScript takes; texts may have lone surrogates; any depth can be read.

mod object;
mod parse;
mod write;

pub use object::Object;
pub use parse::JsonError;

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use crate::text::Text;

/// A JSON value. Clones are cheap: they share arrays, objects and texts.
///
/// ```
/// use groupwire_shared::Json;
///
/// let shape = Json::parse(r#"{"x":1,"y":2.50}"#)?;
/// assert_eq!(shape.get("y").and_then(Json::as_f64), Some(2.5));
/// assert_eq!(shape.to_string(), r#"{"x":1,"y":2.5}"#);
/// assert_eq!(shape, Json::object([("x", 1.into()), ("y", 2.5.into())]));
/// # Ok::<(), groupwire_shared::JsonError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Json {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number. JSON cannot carry those that are not finite, but `1e400` is read as infinity.
    Number(f64),
    /// A text.
    Text(Text),
    /// An array.
    Array(Arc<Vec<Json>>),
    /// An object.
    Object(Arc<Object>),
    /// A value within more than [`DEEPEST`](Json::DEEPEST) others. Shared data cannot have it.
    TooDeep,
}

impl Json {
    /// The levels of arrays and objects of which the contents are read.
    pub const DEEPEST: usize = 2100;

    /// Reads JSON.
    ///
    /// # Errors
    /// The text is not JSON.
    pub fn parse(text: &str) -> Result<Json, JsonError> {
        parse::parse(text.as_bytes())
    }

    /// Reads JSON that may have lone surrogates.
    ///
    /// # Errors
    /// The text is not JSON.
    pub fn parse_text(text: &Text) -> Result<Json, JsonError> {
        parse::parse(text.bytes())
    }

    /// An object with these members.
    pub fn object<'a>(members: impl IntoIterator<Item = (&'a str, Json)>) -> Json {
        members
            .into_iter()
            .map(|(name, value)| (Text::from(name), value))
            .collect::<Object>()
            .into()
    }

    /// A member of an object.
    pub fn get(&self, name: &str) -> Option<&Json> {
        self.as_object()?.get(name)
    }

    /// An item of an array.
    pub fn at(&self, index: usize) -> Option<&Json> {
        self.as_array()?.get(index)
    }

    /// The items, if this is an array.
    pub fn as_array(&self) -> Option<&[Json]> {
        if let Json::Array(items) = self { Some(items) } else { None }
    }

    /// The members, if this is an object.
    pub fn as_object(&self) -> Option<&Object> {
        if let Json::Object(members) = self { Some(members) } else { None }
    }

    /// The text, if this is one.
    pub fn as_text(&self) -> Option<&Text> {
        if let Json::Text(text) = self { Some(text) } else { None }
    }

    /// The text, if this is one without lone surrogates.
    pub fn as_str(&self) -> Option<&str> {
        self.as_text()?.as_str()
    }

    /// The number, if this is one.
    pub fn as_f64(&self) -> Option<f64> {
        if let Json::Number(number) = self { Some(*number) } else { None }
    }

    /// The number, if this is a whole one between -2^53 and 2^53.
    pub fn as_whole(&self) -> Option<i64> {
        let number = self.as_f64()?;
        // Exact: between these bounds each whole number is an f64.
        let whole = number as i64;
        let is_safe = number.abs() <= MAX_SAFE as f64 && whole as f64 == number;
        is_safe.then_some(whole)
    }

    /// The number, if this is a whole one that can count something.
    pub(crate) fn as_count(&self) -> Option<u64> {
        self.as_whole()?.try_into().ok()
    }

    /// True if the value has at most this many levels of arrays and objects, and no number that
    /// JSON lacks.
    pub(crate) fn is_within(&self, levels: usize) -> bool {
        self.fits(levels, &|number| number.is_finite())
    }

    /// True if the value has at most this many levels of arrays and objects.
    pub(crate) fn is_flat(&self, levels: usize) -> bool {
        self.fits(levels, &|_| true)
    }

    fn fits(&self, levels: usize, is_kept: &impl Fn(f64) -> bool) -> bool {
        let fewer = levels.checked_sub(1);
        let fits = |part: &Json| fewer.is_some_and(|fewer| part.fits(fewer, is_kept));
        match self {
            Json::Null | Json::Bool(_) | Json::Text(_) => true,
            Json::Number(number) => is_kept(*number),
            Json::Array(items) => fewer.is_some() && items.iter().all(fits),
            Json::Object(members) => {
                fewer.is_some() && members.iter().all(|(_, value)| fits(value))
            }
            Json::TooDeep => false,
        }
    }

    /// True if JavaScript's `===` would say so of two values: arrays and objects are the same only
    /// if they share their memory.
    pub(crate) fn is_same(&self, other: &Json) -> bool {
        match (self, other) {
            (Json::Array(one), Json::Array(other)) => Arc::ptr_eq(one, other),
            (Json::Object(one), Json::Object(other)) => Arc::ptr_eq(one, other),
            (Json::TooDeep, _) => false,
            _ => self == other,
        }
    }

    /// True if no text in it has lone surrogates.
    pub(crate) fn is_well_formed(&self) -> bool {
        match self {
            Json::Text(text) => text.as_str().is_some(),
            Json::Array(items) => items.iter().all(Json::is_well_formed),
            Json::Object(members) => members
                .iter()
                .all(|(name, value)| name.as_str().is_some() && value.is_well_formed()),
            _ => true,
        }
    }
}

/// The greatest whole number that JavaScript calls safe, 2^53 - 1.
pub(crate) const MAX_SAFE: u64 = (1 << 53) - 1;

/// Writes the JSON, without spaces.
impl fmt::Display for Json {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write::write(self, formatter)
    }
}

impl From<Object> for Json {
    fn from(members: Object) -> Self {
        Json::Object(Arc::new(members))
    }
}

impl From<Vec<Json>> for Json {
    fn from(items: Vec<Json>) -> Self {
        Json::Array(Arc::new(items))
    }
}

impl FromIterator<Json> for Json {
    fn from_iter<Items: IntoIterator<Item = Json>>(items: Items) -> Self {
        items.into_iter().collect::<Vec<_>>().into()
    }
}

impl From<Text> for Json {
    fn from(text: Text) -> Self {
        Json::Text(text)
    }
}

impl From<&Text> for Json {
    fn from(text: &Text) -> Self {
        Json::Text(text.clone())
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Json::Text(text.into())
    }
}

impl From<String> for Json {
    fn from(text: String) -> Self {
        Json::Text(text.into())
    }
}

impl From<f64> for Json {
    fn from(number: f64) -> Self {
        Json::Number(number)
    }
}

impl From<i32> for Json {
    fn from(number: i32) -> Self {
        Json::Number(number.into())
    }
}

impl From<u32> for Json {
    fn from(number: u32) -> Self {
        Json::Number(number.into())
    }
}

impl From<bool> for Json {
    fn from(value: bool) -> Self {
        Json::Bool(value)
    }
}

/// A whole number of at most 2^53.
pub(crate) fn whole(number: u64) -> Json {
    debug_assert!(number <= MAX_SAFE + 1, "{number} has no exact f64");
    Json::Number(number as f64)
}

#[cfg(test)]
mod tests;
