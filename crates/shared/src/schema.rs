//! Schemas: what values of a map or list a program understands, and versions of them.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use core::fmt;

use crate::json::Json;

type Check = dyn Fn(&Json) -> Result<Json, String> + Send;
type Upgrade = dyn Fn(&Json, u64) -> Json + Send;

/// Checks the values of a map or the items of a list. What does not fit is hidden from this
/// program, and stays for the others.
///
/// ```
/// use groupwire_shared::{Json, Schema};
///
/// let text = Schema::new(|value| value.as_str().map(Json::from).ok_or_else(|| "no text".into()));
/// let titled = Schema::new(|value| {
///     value.get("title").map(|_| value.clone()).ok_or_else(|| "a title is missing".into())
/// })
/// .version(2, |old, _version| Json::object([("title", old.clone())]));
/// ```
pub struct Schema {
    check: Box<Check>,
    version: u64,
    upgrade: Option<Box<Upgrade>>,
}

/// Why a value is hidden from this program.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// It does not fit the schema.
    Schema(String),
    /// It does not fit, and comes from this newer version of the application.
    Newer(u64),
}

impl Schema {
    /// `check` returns the value as the program reads it, or what is wrong with it.
    pub fn new(check: impl Fn(&Json) -> Result<Json, String> + Send + 'static) -> Self {
        Schema { check: Box::new(check), version: 1, upgrade: None }
    }

    /// The version of the schema, from 1: it grows when data of the version before does not fit.
    /// `upgrade` makes data of an older version fit.
    #[must_use]
    pub fn version(
        mut self,
        version: u32,
        upgrade: impl Fn(&Json, u64) -> Json + Send + 'static,
    ) -> Self {
        self.version = u64::from(version.max(1));
        self.upgrade = Some(Box::new(upgrade));
        self
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Schema").field("version", &self.version).finish_non_exhaustive()
    }
}

/// The version of a schema; 1 without one.
pub(crate) fn version_of(schema: Option<&Schema>) -> u64 {
    schema.map_or(1, |schema| schema.version)
}

/// Checks a value that another program sent, in its version.
pub(crate) fn read(schema: Option<&Schema>, value: &Json, version: u64) -> Result<Json, Fault> {
    let Some(schema) = schema else { return Ok(value.clone()) };
    let upgraded = match &schema.upgrade {
        Some(upgrade) if version < schema.version => &upgrade(value, version),
        _ => value,
    };
    // Data of a newer version that fits is taken: the new version may only have more fields.
    (schema.check)(upgraded).map_err(|why| {
        if version <= schema.version { Fault::Schema(why) } else { Fault::Newer(version) }
    })
}

/// Checks a value that this program is about to send.
pub(crate) fn check(schema: Option<&Schema>, value: &Json) -> Result<(), String> {
    schema.map_or(Ok(()), |schema| (schema.check)(value).map(drop))
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Fault::Schema(why) => why.clone(),
            Fault::Newer(version) => {
                format!("version {version} of the application sent it: use that one")
            }
        };
        formatter.write_str(&text)
    }
}
