//! The conditions of the AFEC paper's evaluation (section 4): Figures 5 to 10.

use std::sync::Arc;

use super::cell::{Cell, Judged};
use super::conditions::set_cost;
use super::contender::Contender;
use super::end::Scheme;
use super::pair::Setup;
use super::row::{Part, row_of_seeds};
use super::run::Log;
use super::{Input, Options, series, warm_up};
use crate::Row;
use crate::sim::input::Update;

/// Messages of each seed: 20 windows, and 1000 messages before them that do not count.
const MESSAGES: usize = 21_000;
/// Seeds of each path, and in a quick experiment.
const SEEDS: u64 = 5;
const QUICK_SEEDS: u64 = 2;

/// A path, and what runs on it.
#[derive(Debug, Clone)]
pub(super) struct Paper {
    pub(super) cell: Cell,
    pub(super) contenders: Vec<(Contender, Judged)>,
}

impl Paper {
    pub(super) fn new(cell: Cell, contenders: &[Contender]) -> Self {
        Paper { cell, contenders: judged(contenders) }
    }

    /// Runs all contenders, and calls `started` before each.
    pub(super) fn rows(
        &self,
        input: &Input,
        options: &Options,
        started: &mut dyn FnMut(),
    ) -> Vec<Row> {
        let count = options.messages(MESSAGES);
        let first = options.common.seed;
        let inputs: Vec<(u64, Arc<[Update]>)> = (0..options.seeds(QUICK_SEEDS, SEEDS))
            .map(|nth| first.wrapping_add(nth))
            .map(|seed| (seed, input.updates(seed, count)))
            .collect();
        let run = |contender: Contender, cell: &Cell| -> Vec<Log> {
            let log = |(seed, input): &(u64, _)| contender.run(cell, &setup(input, *seed));
            inputs.iter().map(log).collect()
        };
        let plain = Log::together(run(Contender::Udp, &self.cell), 0);
        let plain_bytes = plain.figures(0, None).bytes_per_message;
        let mut rows = Vec::new();
        let mut all_series = Vec::new();
        for (contender, judged) in &self.contenders {
            started();
            let cell = Cell { judged: *judged, ..self.cell.clone() };
            let logs = run(*contender, &cell);
            let of_first = logs.first().cloned().unwrap_or_default();
            let scheme = (Part::Paper, contender.to_string());
            let logs = (logs, warm_up(count));
            let mut row = row_of_seeds(scheme, &cell, logs, plain_bytes, &options.common);
            if *contender == Contender::Groupwire {
                set_cost(&mut row, &cell, &setup(&inputs[0].1, first));
                row.set("memory_bytes", of_first.memory);
            }
            row.set("code", of_first.code.as_ref().map(super::code_name));
            if *judged == Judged::Arrival && self.has_series(*contender) {
                if let Some(directory) = &options.series
                    && let Err(error) = series::write(directory, &row, &of_first)
                {
                    row.set("failure", format!("no time series: {error}"));
                }
                all_series.push(series::row(&row, &of_first, &options.common));
            }
            rows.push(row);
        }
        rows.extend(all_series);
        rows
    }

    /// Whether the paper has a time series of the scheme on this path: Figures 6 and 10.
    fn has_series(&self, contender: Contender) -> bool {
        use Contender::{Afec2012, Afec2012Every, Groupwire, Tcp, Udp};
        match self.cell.loss.to_string().as_str() {
            _ if self.cell.link_kbit != Some(56.0) => false,
            "rand10" => matches!(contender, Tcp | Udp),
            "rand20" => matches!(contender, Afec2012 | Afec2012Every(_) | Groupwire),
            _ => false,
        }
    }
}

/// All schemes as the paper judges, and those that judge themselves a second time by the deadline.
pub(super) fn judged(contenders: &[Contender]) -> Vec<(Contender, Judged)> {
    use Contender::{Afec2012, Afec2012Every, BestStatic, Groupwire};
    let known = contenders.iter().filter(|one| **one != BestStatic);
    let adaptive = contenders
        .iter()
        .filter(|one| matches!(one, Afec2012 | Afec2012Every(_) | Groupwire))
        .map(|one| (*one, Judged::Deadline));
    known.map(|one| (*one, Judged::Arrival)).chain(adaptive).collect()
}

fn setup(input: &Arc<[Update]>, seed: u64) -> Setup<'_> {
    Setup { scheme: Scheme::PLAIN, price: None, input, seed, timed: false }
}
