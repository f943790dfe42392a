//! Which rooms are stored: modes by patterns of names.

use groupwire_session::Durability;

use crate::tools::pattern::matches;

/// Modes by patterns of room names. Of the rules that match a name, the last one holds; without
/// one, the room is [`Durability::Local`].
///
/// ```
/// use groupwire_server::Modes;
/// use groupwire_server::session::Durability;
///
/// let modes = Modes::parse(["*=memory", "docs/*=local"])?;
/// assert_eq!(modes.of("docs/plan"), Durability::Local);
/// assert_eq!(modes.of("game"), Durability::Memory);
/// # Ok::<(), groupwire_server::ModesError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Modes {
    rules: Vec<(String, Durability)>,
}

/// A text that is not a rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not a rule such as docs/*=local: a pattern of room names, an equals sign, and memory or local"
)]
pub struct ModesError(String);

impl Modes {
    /// Reads rules such as `docs/*=local`. A star in the pattern stands for any text, also for
    /// none.
    ///
    /// # Errors
    /// The first text that is not a rule.
    pub fn parse<'a>(rules: impl IntoIterator<Item = &'a str>) -> Result<Self, ModesError> {
        let rule = |text: &'a str| {
            let (pattern, mode) = text.rsplit_once('=')?;
            let mode = match mode {
                "memory" => Durability::Memory,
                "local" => Durability::Local,
                _ => return None,
            };
            Some((pattern.to_owned(), mode))
        };
        let read = |text: &'a str| rule(text).ok_or_else(|| ModesError(text.to_owned()));
        Ok(Modes { rules: rules.into_iter().map(read).collect::<Result<_, _>>()? })
    }

    /// The mode of the room of this name.
    pub fn of(&self, room: &str) -> Durability {
        let rule = self.rules.iter().rfind(|(pattern, _)| matches(pattern, room));
        rule.map_or(Durability::Local, |(_, mode)| *mode)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_rule_that_matches_holds() {
        let modes = Modes::parse(["docs/*=memory", "docs/*/final=local", "a=b=memory"]).unwrap();
        for (room, mode) in [
            ("docs/x", Durability::Memory),
            ("docs/x/final", Durability::Local),
            ("docs/", Durability::Memory),
            ("docs", Durability::Local),
            ("a=b", Durability::Memory),
            ("other", Durability::Local),
        ] {
            assert_eq!(modes.of(room), mode, "{room}");
        }
    }

    #[test]
    fn what_is_no_rule_is_named() {
        for text in ["docs", "docs/*=disk", "", "docs/*=cluster"] {
            let error = Modes::parse(["*=local", text]).unwrap_err().to_string();
            assert!(
                error.contains(&format!("{text:?}")) && error.contains("docs/*=local"),
                "{error}"
            );
        }
    }
}
