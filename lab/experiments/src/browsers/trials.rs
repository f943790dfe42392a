//! Rates by the WEB paper's method (Message Send Rate, Message Receive Rate): numbered messages as
//! fast as possible, all of which have to come, once, in order and unchanged. Beside the product
//! the same by the paper's own techniques, which carry one message at a time.

use std::time::{Duration, Instant};

use super::bare::{SENDING, TECHNIQUES};
use super::browser::Engine;
use super::cell::{LOADED, PATIENCE};
use super::loaded::{Loaded, add, rated};
use super::plan::{SIZES, STANDARD};
use super::protocol::{Bare, Command, Received, Reply, StageError};
use super::row::{Direction, Measure};
use crate::Result;
use crate::statistics::Summary;

/// The share of a trial's messages that goes ahead, so that no trial counts the time in which TCP
/// finds its rate and the browser compiles the page.
const AHEAD: u32 = 20;
/// The messages that go ahead by a bare technique: some need a round trip for each.
const BARE_AHEAD: u32 = 10;

/// What carries the messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum System {
    Groupwire,
    Bare,
}

impl Loaded<'_, '_> {
    /// Measures the rates of the paper's Figures 1, 2 and 3, by these systems.
    pub(super) fn numbered(&mut self, systems: &[System]) -> Result<()> {
        let transport = self.cell.transport;
        let has_pages = self.cell.place.engine != Engine::Native;
        let is_papers = has_pages && TECHNIQUES.contains(&transport);
        for system in systems.iter().copied() {
            if system == System::Bare && !is_papers {
                continue;
            }
            let can_send = system == System::Groupwire || SENDING.contains(&transport);
            if can_send && self.plan.wants(Measure::SendRate) {
                self.rate(system, Direction::Up, STANDARD)?;
            }
            for size in SIZES {
                if self.plan.wants(Measure::ReceiveRate) {
                    self.rate(system, Direction::Down, size)?;
                }
            }
        }
        Ok(())
    }

    /// Runs trials until their standard error is small, or their time is over.
    fn rate(&mut self, system: System, direction: Direction, size: usize) -> Result<()> {
        let trials = self.plan.numbered;
        let most = trials.messages(self.cell.network, direction, size);
        let ahead = match system {
            System::Groupwire => most / AHEAD,
            System::Bare => BARE_AHEAD.min(most),
        };
        let (_, rate) = self.trial(system, direction, size, ahead.max(2))?;
        let count = trials.at_rate(most, rate, (self.cell.network, direction));
        let (start, mut rates) = (Instant::now(), Vec::new());
        let mut all = Received { complete: true, ..Received::default() };
        while rates.len() < trials.most as usize && all.wrong.is_none() {
            let (received, rate) = self.trial(system, direction, size, count)?;
            add(&mut all, received);
            rates.push(rate);
            let is_late = start.elapsed().as_secs_f64() * 1e3 > trials.all_ms;
            let is_enough = rates.len() >= trials.least as usize;
            if is_enough && (is_late || error(&rates) <= trials.good) {
                break;
            }
        }
        let measure = match direction {
            Direction::Up => Measure::SendRate,
            Direction::Down => Measure::ReceiveRate,
        };
        let row = self.loaded(measure, direction, size, &all).with("per_trial", count);
        let row = match system {
            System::Groupwire => row,
            System::Bare => row.with("system", "bare"),
        };
        self.emit(rated(row, &rates));
        Ok(())
    }

    /// Sends numbered messages as fast as possible. Returns what came, and its rate: messages per
    /// second, from the time at which the first is sent until the last has come.
    fn trial(
        &mut self,
        system: System,
        direction: Direction,
        size: usize,
        count: u32,
    ) -> Result<(Received, f64)> {
        let network = self.cell.network;
        let bytes = f64::from(count) * size as f64;
        // A slow transport may need several times as long as its link.
        let ms = self.plan.sending_ms + 3e3 * bytes / network.bytes_per_second(direction);
        let (mut received, took) = match system {
            System::Groupwire => {
                let send = self.load(size, count, 0.0, false);
                self.timed_transfer(direction, send, ms)?
            }
            System::Bare => self.bare(direction, size, (count, ms))?,
        };
        if !received.complete || received.messages != count {
            let came = received.messages;
            let why = || format!("{came} of {count} came within {ms:.0} ms");
            received.wrong.get_or_insert_with(why);
        }
        let rate = f64::from(received.messages) * 1e3 / took;
        Ok((received, rate))
    }

    /// Sends a load by the technique that this transport is like. Returns what came and in how many
    /// milliseconds.
    fn bare(
        &mut self,
        direction: Direction,
        size: usize,
        (count, ms): (u32, f64),
    ) -> Result<(Received, f64)> {
        let technique = self.cell.transport.to_owned();
        let (host, ports) = (self.cell.paths.address(LOADED), self.cell.place.ports.bare);
        let server = match technique.as_str() {
            "websocket" => format!("ws://{host}:{}", ports.socket),
            _ => format!("http://{host}:{}", ports.http),
        };
        self.cell.runs += 1;
        // Cells that are measured at the same time have runs of their own.
        let run = (self.cell.place.worker as u32) << 24 | self.cell.runs;
        let is_up = direction == Direction::Up;
        let bare = Bare { technique, is_up, server, run, count, size, ms };
        self.stage.start(Command::Bare(bare))?;
        match self.stage.finish(PATIENCE + Duration::from_secs_f64(ms / 1e3))? {
            Reply::Receive(received) => {
                let took = received.span_ms.max(0.1);
                Ok((received, took))
            }
            _ => Err(StageError::Confused.into()),
        }
    }
}

/// The standard error of these rates, as a share of their mean.
fn error(rates: &[f64]) -> f64 {
    let Summary { count, mean, .. } = Summary::of(rates);
    let squares: f64 = rates.iter().map(|rate| (rate - mean).powi(2)).sum();
    let variance = squares / (count.max(2) - 1) as f64;
    (variance / count.max(1) as f64).sqrt() / mean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trials_that_agree_have_a_small_error() {
        assert_eq!(error(&[100.0, 100.0, 100.0]), 0.0);
        // A deviation of 10 in 4 trials.
        let rates = [90.0, 110.0, 100.0 - 50_f64.sqrt(), 100.0 + 50_f64.sqrt()];
        assert!((error(&rates) - 0.05).abs() < 1e-9, "{}", error(&rates));
    }
}
