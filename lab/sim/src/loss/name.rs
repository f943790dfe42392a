//! The names of losses.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use super::Loss;

/// The time of a parsed step: names do not contain it.
const STEP_AT: Duration = Duration::from_secs(60);

/// A text that is not the name of a loss.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{name:?} names no loss: write it like rand5, pb5@4, ge10b3, out80, out100/5000 or step0-20"
)]
pub struct UnknownLoss {
    /// The text.
    pub name: String,
}

impl FromStr for Loss {
    type Err = UnknownLoss;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        parse(name).ok_or_else(|| UnknownLoss { name: name.to_owned() })
    }
}

fn parse(name: &str) -> Option<Loss> {
    match name.strip_prefix("step") {
        Some(sides) => {
            let (before, after) = sides.split_once('-')?;
            let side = |side| percent(side).map(|percent| Loss::Random { percent });
            let side = |name| side(name).or_else(|| parse_steady(name)).map(Box::new);
            Some(Loss::Step { at: STEP_AT, before: side(before)?, after: side(after)? })
        }
        None => parse_steady(name),
    }
}

/// Parses the name of any loss but a step.
fn parse_steady(name: &str) -> Option<Loss> {
    if let Some(number) = name.strip_prefix("rand") {
        return Some(Loss::Random { percent: percent(number)? });
    }
    if let Some(numbers) = name.strip_prefix("pb") {
        let (longest, start) = numbers.split_once('@')?;
        let longest = longest.parse().ok().filter(|packets| *packets > 0)?;
        return Some(Loss::Bursts { start_percent: percent(start)?, longest });
    }
    if let Some(numbers) = name.strip_prefix("ge") {
        let (share, mean) = numbers.split_once('b')?;
        let (percent, mean_burst) = (percent(share)?, number(mean).filter(|mean| *mean >= 1.0)?);
        // With a higher share the state that loses nothing would have to be left with a probability
        // above 1.
        let possible = percent <= 100.0 * mean_burst / (mean_burst + 1.0);
        return possible.then_some(Loss::GilbertElliott { percent, mean_burst });
    }
    let numbers = name.strip_prefix("out")?;
    let (length, every) = match numbers.split_once('/') {
        Some((length, every)) => (length.parse().ok()?, every.parse().ok()?),
        None => {
            let length = numbers.parse().ok()?;
            (length, usual_period(length)?)
        }
    };
    let (length, every) = (Duration::from_millis(length), Duration::from_millis(every));
    (length < every).then_some(Loss::Outages { length, every })
}

/// The period that a name leaves out for outages of this length. Both are in ms.
fn usual_period(length: u64) -> Option<u64> {
    match length {
        80 => Some(2000),
        200 => Some(3000),
        _ => None,
    }
}

fn percent(text: &str) -> Option<f64> {
    number(text).filter(|percent| *percent <= 100.0)
}

fn number(text: &str) -> Option<f64> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    text.parse().ok().filter(|number: &f64| plain && number.is_finite())
}

impl fmt::Display for Loss {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Loss::Random { percent } => write!(out, "rand{percent}"),
            Loss::Bursts { start_percent, longest } => write!(out, "pb{longest}@{start_percent}"),
            Loss::GilbertElliott { percent, mean_burst } => write!(out, "ge{percent}b{mean_burst}"),
            Loss::Outages { length, every } => {
                let (length, every) = (length.as_millis() as u64, every.as_millis() as u64);
                match usual_period(length) {
                    Some(usual) if usual == every => write!(out, "out{length}"),
                    _ => write!(out, "out{length}/{every}"),
                }
            }
            Loss::Step { before, after, .. } => {
                out.write_str("step")?;
                side(before, out)?;
                out.write_str("-")?;
                side(after, out)
            }
        }
    }
}

/// Writes a side of a step. Random loss is written as its percentage alone.
fn side(loss: &Loss, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    match loss {
        Loss::Random { percent } => write!(out, "{percent}"),
        other => write!(out, "{other}"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_are_written_as_they_are_read() {
        let others = ["rand0.5", "out100/5000", "step0-pb5@8", "stepge5b3-20", "ge12.5b1.5"];
        for name in Loss::CHANNELS.into_iter().chain(others) {
            assert_eq!(name.parse::<Loss>().unwrap().to_string(), name);
        }
    }

    #[test]
    fn other_names_are_refused() {
        for name in [
            "",
            "rand",
            "rand-1",
            "rand101",
            "randNaN",
            "rand1e1",
            "pb0@4",
            "pb5",
            "pb5@101",
            "ge5",
            "ge5b0.5",
            "ge80b2",
            "out81",
            "out80/80",
            "out80/",
            "step5",
            "stepstep0-1-2",
            "Rand5",
        ] {
            let error = name.parse::<Loss>().unwrap_err();
            assert_eq!(error.name, name);
        }
    }

    proptest! {
        #[test]
        fn no_name_makes_it_panic(name in "(rand|pb|ge|out|step)?[0-9a-z@./-]{0,12}") {
            if let Ok(loss) = name.parse::<Loss>() {
                prop_assert_eq!(loss.to_string().parse::<Loss>().unwrap(), loss);
            }
        }
    }
}
