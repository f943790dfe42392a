//! The part `floor`: what the bits of Groupwire's datagrams are spent on, and how few would do.
//!
//! A datagram has a header, which names the state of the model (all that was learned) that it was
//! coded under, and its content: the choice of a template, and values. The content depends on how
//! old that state is. Bounds are of this model: a better one may need fewer bits.

mod accountant;
mod knowledge;
mod ledger;
mod row;

#[cfg(test)]
mod tests;

use super::Options;
use super::conditions::Conditions;
use super::drive;
use super::input::Session;
use super::technique::Message;
use crate::{Result, Row, Update};
use accountant::Accountant;
use row::row;

/// The most messages of a trace in a quick experiment.
const QUICK_MESSAGES: usize = 2000;

/// How many messages late acknowledgements come, as in the other parts.
const ACK_DELAY: u32 = 10;

/// Other delays, to show what the age of the state costs.
const AGES: [u32; 7] = [0, 1, 2, 4, 6, 10, 20];

/// Loss for datagrams, as in the other parts.
const LOSSES: [f64; 2] = [0.0, 0.2];

/// The bits by which a packet of whole bytes is longer than its information, in the mean over
/// packets whose information is any number of bits, and whose codes are the shortest possible. If
/// 2^(8k + 8f) packets are equally likely, of which 2^8k have k bytes or fewer, and the others one
/// more, the mean length is k + 1 - 2^-8f bytes (but for a 256th). The mean of 1 - f - 2^-8f over f
/// from 0 to 1 is 1/2 - (255/256) / (8 ln 2) bytes.
const END_BITS: f64 = 4.0 - 255.0 / 256.0 / std::f64::consts::LN_2;

const BITS: f64 = 8.0;

/// Measures all sessions.
///
/// # Errors
/// A message cannot be encoded.
pub(super) fn measure(
    sessions: &[Session],
    options: &Options,
    emit: &mut dyn FnMut(Update),
) -> Result<()> {
    let limit = options.common.quick_or(QUICK_MESSAGES, usize::MAX);
    let total = sessions.len() * (LOSSES.len() + 1);
    let mut done = 0;
    for session in sessions {
        let messages = session.messages(limit);
        let trial = Trial { session, messages: &messages, options };
        let mut step = |rows: Result<Vec<Row>>, what: &str| {
            let what = format!("{} {what}", session.name);
            emit(Update::Progress { done, total, what });
            done += 1;
            rows?.into_iter().for_each(|row| emit(Update::Row(row)));
            Ok::<_, crate::Error>(())
        };
        for loss in LOSSES {
            step(trial.bounds(loss), "bounds")?;
        }
        step(trial.ages(), "ages")?;
    }
    Ok(())
}

/// A trace that is measured.
struct Trial<'a> {
    session: &'a Session,
    messages: &'a [Message<'a>],
    options: &'a Options,
}

/// How messages are sent.
#[derive(Clone, Copy)]
struct Way {
    ack_delay: u32,
    loss: f64,
    /// Whether acknowledgements get lost as packets do.
    loses_acknowledgements: bool,
    /// Whether the model has learned the whole trace before.
    is_trained: bool,
}

impl Way {
    const fn usual(loss: f64) -> Self {
        Way { ack_delay: ACK_DELAY, loss, loses_acknowledgements: true, is_trained: false }
    }
}

impl Trial<'_> {
    /// The account of the packets, and the bounds.
    fn bounds(&self, loss: f64) -> Result<Vec<Row>> {
        let usual = Way::usual(loss);
        let known = Way { loses_acknowledgements: false, ..usual };
        let (coded, failure) = self.run(usual)?;
        let (known, known_failure) = self.run(known)?;
        let (trained, trained_failure) = self.run(Way { is_trained: true, ..usual })?;
        let row = |figure| self.row(figure, usual);

        let mut rows = Vec::new();
        for (spent_on, field, bits) in coded.ledger.shares() {
            rows.push(
                row("account")
                    .with("spent_on", spent_on)
                    .with("field", field)
                    .with("bits", bits)
                    .with("bytes_per_message", bits / BITS)
                    .failed(failure.as_ref()),
            );
        }
        let (content, knowledge) = (known.ledger.content(), &known.knowledge);
        let content_trained = trained.ledger.content();
        let (state, window) = (knowledge.state_bits(), knowledge.window_bits());
        let bounds = [
            ("coded", coded.ledger.all(), &failure),
            ("content", coded.ledger.content(), &failure),
            ("content-known", content, &known_failure),
            ("content-trained", content_trained, &trained_failure),
            ("state", state, &known_failure),
            ("state-window", window, &known_failure),
            ("number", knowledge.number_bits(), &known_failure),
            ("end", END_BITS, &None),
            ("floor", content + state + END_BITS, &known_failure),
            ("floor-window", content + window + END_BITS, &known_failure),
            ("floor-trained", content_trained + state + END_BITS, &trained_failure),
            ("repeat-median", coded.ledger.repeat_median(), &failure),
        ];
        rows.extend(bounds.map(|(bound, bits, failure)| {
            row("floor")
                .with("bound", bound)
                .with("bits", bits)
                .with("bytes_per_message", bits / BITS)
                .failed(failure.as_ref())
        }));
        Ok(rows)
    }

    /// The content by the age of the state, where nothing is lost.
    fn ages(&self) -> Result<Vec<Row>> {
        let mut rows = Vec::new();
        for ack_delay in AGES {
            let (coded, failure) = self.run(Way { ack_delay, ..Way::usual(0.0) })?;
            for (bound, bits) in
                [("coded", coded.ledger.all()), ("content", coded.ledger.content())]
            {
                rows.push(
                    self.row("age", Way::usual(0.0))
                        .with("state_age", ack_delay)
                        .with("bound", bound)
                        .with("bits", bits)
                        .with("bytes_per_message", bits / BITS)
                        .failed(failure.as_ref()),
                );
            }
        }
        Ok(rows)
    }

    /// Sends all messages, each in a datagram. Returns the account, and what went wrong if
    /// something did.
    fn run(&self, way: Way) -> Result<(Accountant, Option<String>)> {
        let conditions = Conditions::datagrams(way.ack_delay, way.loss);
        let sent_at = |message: usize| conditions.sent_at(self.session, message);
        let mut path = conditions.path(&sent_at, self.options.common.seed);
        if !way.loses_acknowledgements {
            path.back.loss = 0.0;
        }
        let twice = [self.messages, self.messages].concat();
        let (messages, untold) = match way.is_trained {
            true => (twice.as_slice(), self.messages.len()),
            false => (self.messages, 0),
        };
        let mut accountant = Accountant::new(untold);
        let outcome = drive::run(&mut accountant, messages, &path)?;
        Ok((accountant, outcome.failure))
    }

    fn row(&self, figure: &str, way: Way) -> Row {
        let conditions = Conditions::datagrams(way.ack_delay, way.loss);
        row(&self.session.name, figure, &conditions, &self.options.common)
            .with("messages", self.messages.len())
    }
}
