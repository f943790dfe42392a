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
/// A code is tried on so many messages first.
const TRIAL: usize = 8000;
/// And in full if it missed at most this much more than the target there.
const HOPEFUL: f64 = 1.15;
/// Noise of the full run: a code that misses this much more than the target still meets it.
const NOISE: f64 = 1.02;
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

/// Tries the codes of a family on `cell`, cheapest first. `every`: only each so manieth.
pub(super) fn best(
    cell: &Cell,
    input: &Arc<[Update]>,
    price: Option<f64>,
    seed: u64,
    every: usize,
) -> Best {
    let codes = codes(cell, price);
    let trial: Arc<[Update]> = input[..TRIAL.min(input.len())].into();
    let mut tried = 0;
    let mut beyond = 0;
    // By what they cost in their trial: the family's own order is but expected.
    let mut hopeful: BTreeMap<(u64, usize), Code> = BTreeMap::new();
    let mut least: Option<(f64, Code)> = None;
    let skip = |messages: usize| messages / 20;
    for (place, code) in codes.iter().enumerate().step_by(every.max(1)) {
        let setup =
            Setup { scheme: Scheme::Fixed(*code), price, input: &trial, seed, timed: false };
        let figures = pair::run(cell, &setup).figures(skip(trial.len()));
        tried += 1;
        if hopeful.first_key_value().is_some_and(|((cost, _), _)| figures.bytes_per_message * 1e6 > *cost as f64 * 1.10) {
            beyond += 1;
            if beyond > 15 { break; }
        }
        if figures.mer <= cell.target * HOPEFUL {
            hopeful.insert(((figures.bytes_per_message * 1e6) as u64, place), *code);
        }
        if least.is_none_or(|(mer, _)| figures.mer < mer) {
            least = Some((figures.mer, *code));
        }
    }
    let full = |code: Code| {
        let setup = Setup { scheme: Scheme::Fixed(code), price, input, seed, timed: false };
        pair::run(cell, &setup)
    };
    for code in hopeful.into_values() {
        let log = full(code);
        if log.figures(super::warm_up(input.len())).mer <= cell.target * NOISE {
            return Best { code, log, feasible: true, tried };
        }
    }
    let code = least.map_or(Code::PLAIN, |(_, code)| code);
    Best { code, log: full(code), feasible: false, tried }
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
    LossModel { rate: all / SAMPLE as f64, again, weight: SAMPLE as f64, ..LossModel::default() }
}
