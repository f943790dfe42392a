//! The best static code in hindsight: the cheapest of a family that meets the target on the very channel.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use groupwire_afec::Scheme;
use groupwire_afec::choice::{Situation, family};
use groupwire_afec::code::Code;
use groupwire_afec::loss::{LAGS, LossModel};

use super::cell::Cell;
use super::pair::{self, Setup};
use super::run::Log;
use crate::sim::LossProcess;
use crate::sim::input::{INTERVAL, Update};

/// Packets from which the family is drawn up.
const SAMPLE: usize = 100_000;
/// A code is tried on so many messages first; those that miss far too much are not tried further.
const GLANCE: usize = 2000;
/// How far is too far: so many times the target, and this much more for targets near 0.
const TOO_FAR: (f64, f64) = (1.8, 0.02);
/// Then on so many.
const TRIAL: usize = 8000;
/// And in full if it missed at most this much more than the target there.
const HOPEFUL: f64 = 1.15;
/// Noise of the full run: a code that misses this much more than the target still meets it.
const NOISE: f64 = 1.02;
/// The family comes by expected cost, so the search ends once so many codes have cost clearly more than the cheapest
/// hopeful one. Not at the first that does, because the order is but expected.
const BEYOND: usize = 15;
const CLEARLY: f64 = 1.1;
/// The most codes that are run in full.
const FINALISTS: usize = 40;
/// Bytes of IP, UDP and our header, of a message, of asking.
const PACKET: f64 = 33.0;
const MESSAGE: f64 = 25.0;
const ASK: f64 = 44.0;

/// What was found: the code and its full run; or, if none meets the target, the one that missed least in its trial.
#[derive(Debug)]
pub(super) struct Best {
    pub(super) code: Code,
    pub(super) log: Log,
    pub(super) feasible: bool,
    /// Codes that were tried.
    pub(super) tried: usize,
}

/// Searches on one path. What a code did for one target or price is known for the others.
#[derive(Debug)]
pub(super) struct Search<'a> {
    input: &'a Arc<[Update]>,
    seed: u64,
    /// Of each family so many codes are tried at the most, evenly spread.
    most: usize,
    trials: Vec<Trial>,
}

/// What a code did on the first messages.
#[derive(Debug)]
struct Trial {
    code: Code,
    /// If the code asks: receivers skip losses that the target permits. Else targets make no difference to it.
    target: Option<f64>,
    messages: usize,
    log: Log,
}

impl<'a> Search<'a> {
    pub(super) fn new(input: &'a Arc<[Update]>, seed: u64, most: usize) -> Self {
        Search { input, seed, most: most.max(1), trials: Vec::new() }
    }

    /// Tries the codes of a family on `cell`, cheapest first. `price`: what a repeat costs, if not its length.
    pub(super) fn best(&mut self, cell: &Cell, price: Option<f64>) -> Best {
        let codes = codes(cell, price);
        let (mut tried, mut beyond) = (0, 0);
        // By what they cost in their trial.
        let mut hopeful: BTreeMap<(u64, usize), Code> = BTreeMap::new();
        let mut least: Option<(f64, Code)> = None;
        let step = codes.len().div_ceil(self.most).max(1);
        for (place, code) in codes.iter().enumerate().step_by(step) {
            tried += 1;
            let (mut mer, mut cost) = self.try_on(cell, code, GLANCE, price);
            if mer <= cell.target * TOO_FAR.0 + TOO_FAR.1 {
                (mer, cost) = self.try_on(cell, code, TRIAL, price);
            }
            if mer <= cell.target * HOPEFUL {
                hopeful.insert(((cost * 1e6) as u64, place), *code);
            }
            if least.is_none_or(|(least, _)| mer < least) {
                least = Some((mer, *code));
            }
            let cheapest = hopeful.first_key_value().map(|((cost, _), _)| *cost as f64 / 1e6);
            beyond += usize::from(cheapest.is_some_and(|cheapest| cost > cheapest * CLEARLY));
            if beyond > BEYOND {
                break;
            }
        }
        let least = least.map_or(Code::PLAIN, |(_, code)| code);
        for code in hopeful.into_values().take(FINALISTS).chain([least]) {
            let log = self.run(cell, code, self.input);
            let mer = log.figures(super::warm_up(self.input.len()), None).mer;
            let feasible = mer <= cell.target * NOISE;
            if feasible || code == least {
                return Best { code, log, feasible, tried };
            }
        }
        unreachable!("the last one is the one that missed least")
    }

    /// The share of messages that a code misses on the first so many, and bytes per message.
    fn try_on(
        &mut self,
        cell: &Cell,
        code: &Code,
        messages: usize,
        price: Option<f64>,
    ) -> (f64, f64) {
        let target = (code.ask > 0).then_some(cell.target);
        let messages = messages.min(self.input.len());
        let known = self.trials.iter().position(|trial| {
            trial.code == *code && trial.target == target && trial.messages == messages
        });
        let place = known.unwrap_or_else(|| {
            let log = self.run(cell, *code, &self.input[..messages].into());
            self.trials.push(Trial { code: *code, target, messages, log });
            self.trials.len() - 1
        });
        let figures = self.trials[place].log.figures(messages / 20, price);
        (figures.mer, figures.bytes_per_message)
    }

    fn run(&self, cell: &Cell, code: Code, input: &Arc<[Update]>) -> Log {
        let scheme = Scheme::Fixed(code);
        let setup = Setup { scheme, price: None, input, seed: self.seed, closely: false };
        pair::run(cell, &setup)
    }
}

/// The family that is tried on a cell.
fn codes(cell: &Cell, price: Option<f64>) -> Vec<Code> {
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
        repeat_bytes: price.unwrap_or(MESSAGE),
        packet_bytes: PACKET,
        ask_bytes: ASK,
        ask_delay: INTERVAL,
    })
}

/// How the channel loses packets that go at the input's pace.
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
