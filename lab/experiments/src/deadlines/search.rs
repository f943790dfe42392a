//! The best static code in hindsight: the cheapest of a family that meets the target on the very
//! channel.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use groupwire_afec::choice::{Situation, family};
use groupwire_afec::code::{Code, Repeat, Repeats};
use groupwire_afec::loss::{LAGS, LossModel};

use super::cell::Cell;
use super::end::Scheme;
use super::pair::{self, Setup};
use super::run::Log;
use crate::sim::LossProcess;
use crate::sim::input::{INTERVAL, Update};

/// The number of packets from which the loss model of the channel is built.
const SAMPLE: usize = 100_000;
/// The number of messages of the first trial. Codes that miss far too much are not tried further.
const GLANCE: usize = 2000;
/// A code misses far too much beyond this multiple of the target, plus a constant for targets near
/// 0.
const TOO_FAR: (f64, f64) = (1.8, 0.02);
/// The number of messages of the second trial.
const TRIAL: usize = 8000;
/// A code is run in full if it misses at most this multiple of the target in the second trial.
const HOPEFUL: f64 = 1.15;
/// Noise of the full run: a code that misses this much more than the target still meets it.
const NOISE: f64 = 1.02;
/// The codes of the family are in the order of expected cost, so the search ends after this many
/// codes that cost clearly more than the cheapest hopeful one. It does not end at the first,
/// because the order is only an expectation.
const BEYOND: usize = 15;
const CLEARLY: f64 = 1.1;
/// Bytes of the headers of a packet: IP, UDP, Groupwire's own and that of a message; and of a
/// request.
const PACKET: f64 = 33.0;
const MESSAGE: f64 = 5.0;
const ASK: f64 = 44.0;

/// The result: the code and its full run; or, if no code meets the target, the code that missed
/// least in its trial.
#[derive(Debug)]
pub(super) struct Best {
    pub(super) code: Code,
    pub(super) log: Log,
    pub(super) feasible: bool,
    /// Codes that were tried.
    pub(super) tried: usize,
}

/// Searches on one path. Trials are reused for other targets and prices.
#[derive(Debug)]
pub(super) struct Search<'a> {
    input: &'a Arc<[Update]>,
    seed: u64,
    /// The largest number of codes of each family that are tried, evenly spread.
    most: usize,
    trials: Vec<Trial>,
}

/// The result of a code on the first messages.
#[derive(Debug)]
struct Trial {
    code: Code,
    /// The target, for codes that request repeats: receivers skip losses that the target permits.
    /// Otherwise none.
    target: Option<f64>,
    messages: usize,
    mer: f64,
    /// Per message: the bytes with repeats at full price, the repeats, and the repeats' bytes.
    bytes: f64,
    repeats: f64,
    repeated_bytes: f64,
}

impl<'a> Search<'a> {
    pub(super) fn new(input: &'a Arc<[Update]>, seed: u64, most: usize) -> Self {
        Search { input, seed, most: most.max(1), trials: Vec::new() }
    }

    /// Tries the codes of a family on `cell`, cheapest first. `price` is the cost of a repeat in
    /// bytes, if it is not the repeat's length.
    pub(super) fn best(&mut self, cell: &Cell, price: Option<f64>) -> Best {
        let (mut tried, mut beyond) = (0, 0);
        // Codes that are worth a full run, in the order of their cost in the trial.
        let mut hopeful: BTreeMap<(u64, usize), (f64, Code)> = BTreeMap::new();
        let mut least: Option<(f64, Code)> = None;
        let simple = thinned(simple(), self.most).map(|code| (code, false));
        let family = thinned(codes(cell, price.unwrap_or_else(|| self.repeat_bytes())), self.most)
            .map(|code| (code, true));
        for (code, is_ordered) in simple.chain(family) {
            let (mut mer, mut cost) = self.try_on(cell, &code, GLANCE, price);
            if mer <= cell.target * TOO_FAR.0 + TOO_FAR.1 {
                (mer, cost) = self.try_on(cell, &code, TRIAL, price);
            }
            if mer <= cell.target * HOPEFUL {
                hopeful.insert(((cost * 1e6) as u64, tried), (mer, code));
            }
            tried += 1;
            if least.is_none_or(|(least, _)| mer < least) {
                least = Some((mer, code));
            }
            let cheapest = hopeful.first_key_value().map(|((cost, _), _)| *cost as f64 / 1e6);
            let is_beyond = cheapest.is_some_and(|cheapest| cost > cheapest * CLEARLY);
            beyond += usize::from(is_ordered && is_beyond);
            if beyond > BEYOND {
                break;
            }
        }
        let least = least.unwrap_or((1.0, Code::PLAIN));
        // A code that misses no less in its trial than one that failed in full is not run, because
        // both meet the same losses.
        let mut failed = f64::INFINITY;
        for (mer, code) in hopeful.into_values().chain([least]) {
            if mer >= failed && code != least.1 {
                continue;
            }
            failed = mer;
            let log = self.run(cell, code, self.input);
            let missed = log.figures(super::warm_up(self.input.len()), None).mer;
            let feasible = missed <= cell.target * NOISE;
            if feasible || code == least.1 {
                return Best { code, log, feasible, tried };
            }
        }
        unreachable!("the last one is the one that missed least")
    }

    /// The mean length of a repeat with its header.
    fn repeat_bytes(&self) -> f64 {
        let bytes: usize = self.input.iter().map(|update| update.len).sum();
        MESSAGE + (bytes as f64 / self.input.len().max(1) as f64).round()
    }

    /// Runs a code on the first `messages` messages. Returns the share of messages that it misses,
    /// and bytes per message.
    fn try_on(
        &mut self,
        cell: &Cell,
        code: &Code,
        messages: usize,
        price: Option<f64>,
    ) -> (f64, f64) {
        let target = (code.answers > 0).then_some(cell.target);
        let messages = messages.min(self.input.len());
        let known = self.trials.iter().position(|trial| {
            trial.code == *code && trial.target == target && trial.messages == messages
        });
        let place = known.unwrap_or_else(|| {
            let log = self.run(cell, *code, &self.input[..messages].into());
            let figures = log.figures(messages / 20, None);
            self.trials.push(Trial {
                code: *code,
                target,
                messages,
                mer: figures.mer,
                bytes: figures.bytes_per_message,
                repeats: figures.repeats_per_message,
                repeated_bytes: log.repeated_bytes as f64 / messages.max(1) as f64,
            });
            self.trials.len() - 1
        });
        let trial = &self.trials[place];
        let cost = match price {
            Some(price) => trial.bytes - trial.repeated_bytes + price * trial.repeats,
            None => trial.bytes,
        };
        (trial.mer, cost)
    }

    fn run(&self, cell: &Cell, code: Code, input: &Arc<[Update]>) -> Log {
        let scheme = Scheme::fixed(code);
        let setup = Setup { scheme, price: None, input, seed: self.seed, timed: false };
        pair::run(cell, &setup)
    }
}

/// Thins the codes out evenly, to at most `most`.
fn thinned(codes: Vec<Code>, most: usize) -> impl Iterator<Item = Code> {
    let step = codes.len().div_ceil(most).max(1);
    codes.into_iter().step_by(step)
}

/// Codes that are tried whatever a model expects of them, because the model may be wrong: no
/// repeat; one repeat at each near distance, for shares of the messages in steps of one sixteenth;
/// two repeats, the second at twice the distance; repeats of the last 2 to 12 messages.
fn simple() -> Vec<Code> {
    let mut codes = vec![Code::PLAIN];
    for distance in 1..=6 {
        let one = Repeats::new([Repeat::Piggyback(distance)]);
        let two = Repeats::new([Repeat::Piggyback(distance), Repeat::Piggyback(2 * distance)]);
        for tail_flush in [false, true] {
            let shares = (1..16).map(|share| f64::from(share) / 16.0);
            codes.extend(shares.map(|share| Code { other: one, share, tail_flush, ..Code::PLAIN }));
            let whole = |repeats| Code { repeats, other: repeats, tail_flush, ..Code::PLAIN };
            codes.extend([whole(one), whole(two)]);
        }
    }
    let fec = (2..=12).map(Repeats::repeat_last);
    codes.extend(fec.map(|repeats| Code {
        repeats,
        other: repeats,
        tail_flush: true,
        ..Code::PLAIN
    }));
    codes
}

/// The codes that are tried on a cell.
fn codes(cell: &Cell, repeat_bytes: f64) -> Vec<Code> {
    let loss = sampled(cell);
    family(&Situation {
        loss: &loss,
        loss_back: loss.rate,
        one_way: cell.round_trip / 2,
        round_trip: cell.round_trip,
        jitter: Duration::from_millis(3),
        deadline: cell.deadline,
        interval: INTERVAL,
        cluster: 44.0,
        target: cell.target,
        repeat_bytes,
        packet_bytes: PACKET,
        ask_bytes: ASK,
        ask_delay: INTERVAL,
        request_copies: 1,
        requests_all: false,
    })
}

/// The loss model of the channel for packets that are sent at the input's pace.
fn sampled(cell: &Cell) -> LossModel {
    let mut process = LossProcess::new(&cell.loss, 77);
    let lost: Vec<bool> = (0..SAMPLE).map(|nth| process.lost(INTERVAL * nth as u32)).collect();
    let all = lost.iter().filter(|lost| **lost).count().max(1) as f64;
    let mut again = [0.0; LAGS];
    for (lag, again) in (1..).zip(&mut again) {
        let both =
            lost.iter().zip(&lost[lag..]).filter(|(first, second)| **first && **second).count();
        *again = both as f64 / all;
    }
    LossModel { rate: all / SAMPLE as f64, again, weight: SAMPLE as f64 }
}
