//! Rules for rooms that are forgotten: `tmp/*=30d` names rooms whose last record is older than 30
//! days.

use std::str::FromStr;
use std::time::Duration;

use thiserror::Error;

/// Which rooms are forgotten, and after how long.
///
/// ```
/// use groupwire_store::Forget;
///
/// let rule: Forget = "tmp/*=30d".parse()?;
/// assert!(rule.matches("tmp/a") && !rule.matches("board"));
/// # Ok::<(), groupwire_store::ForgetError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forget {
    pattern: String,
    pub(crate) after: Duration,
}

/// The text is not a rule.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "{0:?} is not a rule such as tmp/*=30d: a pattern, an equals sign, a number, and s, m, h or d"
)]
pub struct ForgetError(String);

impl Forget {
    /// True if the rule is about the room of this name. A star in the pattern stands for any text.
    pub fn matches(&self, room: &str) -> bool {
        let mut pieces = self.pattern.split('*');
        let first = pieces.next().unwrap_or_default();
        let Some(mut rest) = room.strip_prefix(first) else { return false };
        let Some(last) = pieces.next_back() else { return rest.is_empty() };
        for piece in pieces {
            match rest.find(piece) {
                Some(place) => rest = &rest[place + piece.len()..],
                None => return false,
            }
        }
        rest.ends_with(last)
    }
}

impl FromStr for Forget {
    type Err = ForgetError;

    fn from_str(text: &str) -> Result<Self, ForgetError> {
        parse(text).ok_or_else(|| ForgetError(text.to_owned()))
    }
}

fn parse(text: &str) -> Option<Forget> {
    let (pattern, after) = text.rsplit_once('=')?;
    Some(Forget { pattern: pattern.to_owned(), after: parse_time(after)? })
}

/// Reads a time: a number, and s, m, h or d. `None` if the text is no time.
///
/// ```
/// use std::time::Duration;
///
/// assert_eq!(groupwire_store::parse_time("2h"), Some(Duration::from_secs(7200)));
/// assert_eq!(groupwire_store::parse_time("2"), None);
/// ```
pub fn parse_time(text: &str) -> Option<Duration> {
    let unit = text.chars().last()?;
    let number: u64 = text.strip_suffix(unit)?.parse().ok()?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 60 * 60,
        'd' => 24 * 60 * 60,
        _ => return None,
    };
    number.checked_mul(seconds).map(Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_any_text() {
        let matches = |pattern: &str, room| parse(&format!("{pattern}=1d")).unwrap().matches(room);
        assert!(
            matches("tmp/*", "tmp/")
                && matches("*", "")
                && matches("a", "a")
                && matches("*b*", "abc")
        );
        assert!(matches("a*a", "aa") && matches("a*b*c", "a b b c"));
        assert!(
            !matches("a*a", "a")
                && !matches("a", "ab")
                && !matches("", "a")
                && !matches("*b", "abc")
        );
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "",
            "tmp",
            "tmp=",
            "tmp=30",
            "tmp=d",
            "tmp=-1d",
            "tmp=1y",
            "tmp=1ä",
            "a=99999999999999999999d",
        ] {
            assert!(text.parse::<Forget>().is_err(), "{text}");
        }
        assert_eq!("a=b=2h".parse::<Forget>().unwrap().after, Duration::from_secs(7200));
    }
}
