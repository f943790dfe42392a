//! Names that become parts of subjects, streams and schemas.

use crate::error::OpenError;

/// A schema's name in PostgreSQL has at most 63 bytes, and there is a prefix before the name.
const LONGEST: usize = 48;

/// Refuses names that a service could misread.
pub(crate) fn check(what: &str, name: &str) -> Result<(), OpenError> {
    let is_fine = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if (1..=LONGEST).contains(&name.len()) && name.chars().all(is_fine) {
        return Ok(());
    }
    Err(OpenError::Options(format!(
        "the name {name:?} of the {what} is not allowed: use 1 to {LONGEST} ASCII letters, digits, - and _"
    )))
}

/// True for a name of a node or blob: parts that are 1 to 128 bytes together, with points between.
#[cfg(feature = "service")]
pub(crate) fn is_key(name: &str) -> bool {
    let is_fine = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    name.len() <= 128 && name.split('.').all(|part| !part.is_empty() && part.chars().all(is_fine))
}

#[cfg(all(test, feature = "service"))]
mod tests {
    use super::*;

    #[test]
    fn names_have_no_signs_of_the_services() {
        for name in ["a", "prod-1", "A_b", &"x".repeat(LONGEST)] {
            check("cluster", name).unwrap();
        }
        for name in ["", "a.b", "a b", "a*", ">", "a\"", "ä", &"x".repeat(LONGEST + 1)] {
            check("cluster", name).unwrap_err();
        }
    }

    #[test]
    fn keys_may_have_points_inside() {
        for key in ["node", "node-0.groupwire.svc", "a.b"] {
            assert!(is_key(key), "{key}");
        }
        for key in ["", ".", "a.", ".a", "a..b", "a.*", "a>", "a b", &"x".repeat(129)] {
            assert!(!is_key(key), "{key}");
        }
    }
}
