//! Recorded sessions: each line is a step of one program, `[seed, program, step, [result, sent]]`.

use std::collections::BTreeMap;
use std::fmt;

use groupwire_shared::Json;

use crate::program::Program;

/// The sessions that were repeated so far.
#[derive(Default)]
pub(crate) struct Sessions {
    seed: Option<f64>,
    /// The programs of the session that is being repeated.
    programs: Vec<Program>,
    sessions: u64,
    steps: u64,
    bytes: u64,
    /// How often each kind of step came.
    kinds: BTreeMap<String, u64>,
}

impl Sessions {
    /// Repeats a step. The error says what differs.
    pub(crate) fn repeat(&mut self, line: &str) -> Result<(), String> {
        let json = Json::parse(line).map_err(|error| format!("{error}: {line}"))?;
        let Some([seed, at, step, expected]) = json.as_array() else {
            return Err(format!("no step: {line}"));
        };
        let at = at.as_whole().unwrap_or_default() as usize;
        let (what, arguments) = split(step).ok_or_else(|| format!("no step: {line}"))?;
        if seed.as_f64() != self.seed {
            self.seed = seed.as_f64();
            self.programs.clear();
            self.sessions += 1;
        }
        self.steps += 1;
        *self.kinds.entry(what.to_owned()).or_default() += 1;
        if what == "open" {
            self.programs.push(Program::open(arguments));
        }
        let program = self.programs.get_mut(at).ok_or("a program is missing")?;
        let outcome = program.run(what, arguments);
        self.bytes += outcome.at(1).map_or(0, |sent| sent.to_string().len() as u64);
        let (outcome, expected) = (outcome.to_string(), expected.to_string());
        if outcome == expected {
            return Ok(());
        }
        let step = step.to_string();
        Err(format!(
            "SHARED_SEED={seed}: program {at} differs, step {} of all, {}\n  TypeScript: {}\n  Rust:       {}\n  last look:  {}",
            self.steps,
            shortened(&step),
            shortened(&expected),
            shortened(&outcome),
            shortened(&program.looked),
        ))
    }

    /// True if there was no step.
    pub(crate) fn is_empty(&self) -> bool {
        self.steps == 0
    }

    /// How often a kind of step came.
    #[allow(dead_code, reason = "the test of the recorded sessions asks for it")]
    pub(crate) fn count(&self, what: &str) -> u64 {
        self.kinds.get(what).copied().unwrap_or(0)
    }
}

/// The name of a step, and its arguments.
pub(crate) fn split(step: &Json) -> Option<(&str, &[Json])> {
    let (what, arguments) = step.as_array()?.split_first()?;
    Some((what.as_str()?, arguments))
}

fn shortened(text: &str) -> String {
    text.chars().take(3000).collect()
}

impl fmt::Display for Sessions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Sessions { sessions, steps, bytes, .. } = self;
        write!(
            formatter,
            "replay: {sessions} sessions are equal: {steps} steps, {bytes} bytes sent"
        )?;
        self.kinds.iter().try_for_each(|(kind, count)| write!(formatter, ", {kind} {count}"))
    }
}
