//! The part `paper`: the tables and figures of the GMC paper's sections 3 to 6, by its methods.
//!
//! Every technique compresses the same messages, one at a time; each message is decoded and
//! compared. lab/README.md says which rows answer which table.

mod bandwidth;
mod example;
mod memory;
mod numbers;
mod row;
mod sizes;
mod trial;
mod tuning;

#[cfg(test)]
mod tests;

use super::Options;
use super::dictionary::Dictionary;
use super::input::Session;
use super::technique::Message;
use crate::{Result, Update};
use trial::Trial;

/// The formats of the paper's traces.
const TRACES: [&str; 3] = ["text", "xml", "java"];

/// The most messages of a trace in a quick experiment.
const QUICK_MESSAGES: usize = 2000;

/// Measures everything on the sessions that are in one of the paper's formats. `origin` says where
/// they come from.
///
/// # Errors
/// A session without events, which the message types and the formats written by hand need.
pub(super) fn measure(
    sessions: &[Session],
    origin: &'static str,
    options: &Options,
    emit: &mut dyn FnMut(Update),
) -> Result<()> {
    let sessions: Vec<_> =
        sessions.iter().filter(|session| TRACES.contains(&&*session.name)).collect();
    if sessions.is_empty() {
        return Err("the paper's traces are text, xml and java: name recordings of these".into());
    }
    if !sessions.iter().all(|session| session.has_events()) {
        return Err("--part paper needs the values in the messages: name them with --events".into());
    }
    let common = &options.common;
    let limit = common.quick_or(QUICK_MESSAGES, usize::MAX);
    let total = sessions.len() * STEPS;
    let traces: Vec<_> = sessions
        .iter()
        .map(|one| Trial {
            origin,
            session: one,
            messages: one.messages(limit),
            dictionary: Dictionary::default(),
            common: *common,
            rounds: common.quick_or(1, super::ROUNDS),
        })
        .collect();

    let mut rows = example::rows(common);
    rows.extend(sizes::message_types(&traces[0]));
    rows.extend(numbers::rows(&traces[0]));
    rows.into_iter().for_each(|row| emit(Update::Row(row)));
    for (at, trial) in traces.iter().enumerate() {
        let mut done = at * STEPS;
        let mut step = |what: &str| {
            let what = format!("{} {what}", trial.session.name);
            done += 1;
            Update::Progress { done: done - 1, total, what }
        };
        emit(step("sizes and times"));
        let measured = sizes::measure(trial)?;
        measured.rows(trial).into_iter().for_each(|row| emit(Update::Row(row)));
        emit(step("time budgets"));
        tuning::rows(trial)?.into_iter().for_each(|row| emit(Update::Row(row)));
        emit(step("memory"));
        memory::rows(trial)?.into_iter().for_each(|row| emit(Update::Row(row)));
        emit(step("bandwidth"));
        let rows = bandwidth::rows(trial, &measured)?;
        rows.into_iter().for_each(|row| emit(Update::Row(row)));
    }
    Ok(())
}

/// The measurements of a trace whose progress is told.
const STEPS: usize = 4;

/// The name of a message's type, in the words of the paper's Table 3.
fn message_type(message: &Message<'_>) -> &'static str {
    match message.event.map_or("", |event| event.kind.name()) {
        "tele" => "telepointer position",
        "create" => "object create",
        "move" => "object move",
        "resize" => "object resize",
        "chat" => "text chat",
        "edit" => "text box edit",
        _ => "model update",
    }
}

/// The types in the order of Table 3.
const MESSAGE_TYPES: [&str; 7] = [
    "telepointer position",
    "object create",
    "object move",
    "object resize",
    "text chat",
    "text box edit",
    "model update",
];
