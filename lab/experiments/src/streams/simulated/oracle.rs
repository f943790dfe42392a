//! Results that need knowledge of the future: the best choices, and a bound on all choices.

use std::collections::VecDeque;
use std::time::Duration;

use groupwire_ace::{Candidate, Decision, Delivered, Forecast, Packed, Policy, Situation};

use super::conditions::Course;
use super::table::{Cell, Trace};

/// Knows what each block becomes and takes and what the link and the processors are, and takes for
/// each block the candidate whose slowest stage is the fastest.
#[derive(Debug)]
pub(in crate::streams) struct Oracle {
    choices: VecDeque<Candidate>,
}

impl Oracle {
    /// An oracle for these blocks over this course, whose phases are those at `at` seconds.
    pub(in crate::streams) fn new(trace: &Trace<'_>, course: &Course) -> Self {
        let choice = |(at, (_, cells)): (usize, &(&[u8], &[Cell]))| {
            let slowest = |cell: &Cell| stages(cell, course, at).into_iter().fold(0.0, f64::max);
            let best =
                (0..cells.len()).min_by(|a, b| slowest(&cells[*a]).total_cmp(&slowest(&cells[*b])));
            trace.candidates[best.unwrap_or(0)]
        };
        Oracle { choices: trace.blocks.iter().enumerate().map(choice).collect() }
    }
}

/// The times of packing, of the link and of unpacking, in seconds.
fn stages(cell: &Cell, course: &Course, at: usize) -> [f64; 3] {
    let (conditions, _) = course.at(0.0, at);
    let packing = f64::from(cell.packing) / 1e9 / conditions.server;
    let unpacking = f64::from(cell.unpacking) / 1e9 / conditions.client;
    [packing, f64::from(cell.wire + 4) / conditions.rate(), unpacking]
}

/// A lower bound of the time, in seconds, in which any choices send the blocks: for any weights of
/// the three stages that sum to one, the sum over the blocks of the least weighted time.
pub(in crate::streams) fn bound(trace: &Trace<'_>, course: &Course) -> f64 {
    let at = |a: f64, b: f64| {
        let weights = [a, b, 1.0 - a - b];
        let least = |(at, (_, cells)): (usize, &(&[u8], &[Cell]))| {
            let weighted = |cell: &Cell| {
                let stages = stages(cell, course, at);
                stages.iter().zip(weights).map(|(time, weight)| time * weight).sum::<f64>()
            };
            cells.iter().map(weighted).fold(f64::INFINITY, f64::min)
        };
        trace.blocks.iter().enumerate().map(least).sum::<f64>()
    };
    let mut best = (0.0, (1.0 / 3.0, 1.0 / 3.0));
    let mut step = 0.25;
    for _ in 0..12 {
        for across in -2..=2 {
            for down in -2..=2 {
                let a = best.1.0 + step * f64::from(across);
                let b = best.1.1 + step * f64::from(down);
                if a >= 0.0 && b >= 0.0 && a + b <= 1.0 && at(a, b) > best.0 {
                    best = (at(a, b), (a, b));
                }
            }
        }
        step /= 2.0;
    }
    best.0
}

impl Policy for Oracle {
    fn choose(&mut self, _: Duration, _: &[u8], _: &Situation) -> Decision {
        Decision { candidate: self.choices.pop_front().unwrap_or(Candidate::NONE) }
    }

    fn packed(&mut self, _: Duration, _: &Packed) {}

    fn delivered(&mut self, _: Duration, _: &Delivered) {}

    fn peer_has(&mut self, _: u16, _: bool) {}

    fn forecast(&self) -> Forecast {
        Forecast::default()
    }
}
