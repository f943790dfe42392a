//! Rates by the WEB paper's method (Message Send Rate, Message Receive Rate): numbered messages as
//! fast as possible, all of which have to come, once, in order and unchanged.

use std::time::Instant;

use super::loaded::{Loaded, add, rated};
use super::plan::{SIZES, STANDARD};
use super::protocol::Received;
use super::row::{Direction, Measure};
use crate::statistics::Summary;
use crate::Result;

/// The share of a trial's messages that goes ahead, so that no trial counts the time in which TCP
/// finds its rate and the browser compiles the page.
const AHEAD: u32 = 20;

impl Loaded<'_, '_> {
    /// Measures the rates of the paper's Figures 1, 2 and 3.
    pub(super) fn numbered(&mut self) -> Result<()> {
        if self.plan.wants(Measure::SendRate) {
            self.rate(Measure::SendRate, Direction::Up, STANDARD)?;
        }
        for size in SIZES {
            if self.plan.wants(Measure::ReceiveRate) {
                self.rate(Measure::ReceiveRate, Direction::Down, size)?;
            }
        }
        Ok(())
    }

    /// Runs trials until their standard error is small, or their time is over.
    fn rate(&mut self, measure: Measure, direction: Direction, size: usize) -> Result<()> {
        let trials = self.plan.numbered;
        let most = trials.messages(self.cell.network, direction, size);
        let (_, rate) = self.trial(direction, size, (most / AHEAD).max(2))?;
        let count = trials.at_rate(most, rate);
        let (start, mut rates) = (Instant::now(), Vec::new());
        let mut all = Received { complete: true, ..Received::default() };
        while rates.len() < trials.most as usize && all.wrong.is_none() {
            let (received, rate) = self.trial(direction, size, count)?;
            add(&mut all, received);
            rates.push(rate);
            let is_late = start.elapsed().as_secs_f64() * 1e3 > trials.all_ms;
            let is_enough = rates.len() >= trials.least as usize;
            if is_enough && (is_late || error(&rates) <= trials.good) {
                break;
            }
        }
        let row = self.loaded(measure, direction, size, &all).with("per_trial", count);
        self.emit(rated(row, &rates));
        Ok(())
    }

    /// Sends numbered messages as fast as possible. Returns what came, and its rate: messages per
    /// second, from the time at which the first is sent until the last has come.
    fn trial(&mut self, direction: Direction, size: usize, count: u32) -> Result<(Received, f64)> {
        let network = self.cell.network;
        let bytes = f64::from(count) * size as f64;
        // A slow transport may need several times as long as its link.
        let ms = self.plan.sending_ms + 3e3 * bytes / network.bytes_per_second(direction);
        let send = self.load(size, count, 0.0, false);
        let (mut received, took) = self.timed_transfer(direction, send, ms)?;
        if !received.complete || received.messages != count {
            let came = received.messages;
            received.wrong.get_or_insert_with(|| format!("{came} of {count} came within {ms:.0} ms"));
        }
        let rate = f64::from(received.messages) * 1e3 / took;
        Ok((received, rate))
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
