//! Which rooms are stored: modes by patterns of names.

use groupwire_session::Durability;

use crate::tools::pattern::matches;

/// Modes by patterns of room names. Of the rules that match a name, the last one holds; without
/// one, the room is stored: [`Durability::Cluster`] on a server of a cluster, otherwise
/// [`Durability::Local`].
///
/// ```
/// use groupwire_server::Modes;
/// use groupwire_server::session::Durability;
///
/// let modes = Modes::parse(["*=memory", "docs/*=local"])?;
/// assert_eq!(modes.of("docs/plan"), Some(Durability::Local));
/// assert_eq!(modes.of("game"), Some(Durability::Memory));
/// # Ok::<(), groupwire_server::ModesError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Modes {
    rules: Vec<(String, Durability)>,
}

/// A text that is not a rule, or a rule that this server cannot keep.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModesError {
    /// The text is not a rule.
    #[error(
        "{0:?} is not a rule such as docs/*=local: a pattern of room names, an equals sign, and memory, local or cluster"
    )]
    NoRule(String),
    /// The rule needs the engine of a cluster.
    #[error(
        "{0}=cluster: the server needs the engine of a cluster for it; without one, write {0}=local"
    )]
    NoCluster(String),
    /// The rooms of a cluster are stored in its engine.
    #[error(
        "{0}=local: a cluster stores rooms in its engine, so that any server can have them; write {0}=cluster"
    )]
    Cluster(String),
}

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
                "cluster" => Durability::Cluster,
                _ => return None,
            };
            Some((pattern.to_owned(), mode))
        };
        let read = |text: &'a str| rule(text).ok_or_else(|| ModesError::NoRule(text.to_owned()));
        Ok(Modes { rules: rules.into_iter().map(read).collect::<Result<_, _>>()? })
    }

    /// The mode of the room of this name, if a rule matches it.
    pub fn of(&self, room: &str) -> Option<Durability> {
        let rule = self.rules.iter().rfind(|(pattern, _)| matches(pattern, room));
        rule.map(|(_, mode)| *mode)
    }

    /// Checks that a server can keep the rules. `is_member`: it is a server of a cluster.
    ///
    /// # Errors
    /// The first rule that it cannot keep.
    pub fn check(&self, is_member: bool) -> Result<(), ModesError> {
        for (pattern, mode) in &self.rules {
            match (mode, is_member) {
                (Durability::Cluster, false) => return Err(ModesError::NoCluster(pattern.clone())),
                (Durability::Local, true) => return Err(ModesError::Cluster(pattern.clone())),
                _ => {}
            }
        }
        Ok(())
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
            ("a=b", Durability::Memory),
        ] {
            assert_eq!(modes.of(room), Some(mode), "{room}");
        }
        assert_eq!([modes.of("docs"), modes.of("other")], [None, None]);
    }

    #[test]
    fn what_is_no_rule_is_named() {
        for text in ["docs", "docs/*=disk", ""] {
            let error = Modes::parse(["*=local", text]).unwrap_err().to_string();
            assert!(
                error.contains(&format!("{text:?}")) && error.contains("docs/*=local"),
                "{error}"
            );
        }
    }

    #[test]
    fn rules_for_another_kind_of_server_say_what_to_write() {
        let modes = |rule| Modes::parse(["*=memory", rule]).unwrap();
        let (local, cluster) = (modes("docs/*=local"), modes("docs/*=cluster"));
        assert_eq!((local.check(false), cluster.check(true)), (Ok(()), Ok(())));
        let error = local.check(true).unwrap_err().to_string();
        assert!(error.contains("write docs/*=cluster"), "{error}");
        let error = cluster.check(false).unwrap_err().to_string();
        assert!(error.contains("write docs/*=local"), "{error}");
    }
}
