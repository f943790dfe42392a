//! Every scheme on one path: the parts grid and narrow.

use std::sync::Arc;
use std::time::Duration;

use super::cell::Cell;
use super::contender::Contender;
use super::end::Scheme;
use super::pair::Setup;
use super::row::{Part, row};
use super::run::Log;
use super::search::Search;
use super::{Options, warm_up};
use crate::Row;
use crate::sim::input::Update;

/// The cost of a repeat once gmc compresses packets, in bytes: the second of the two prices (the
/// first is its length). The runs do not compress, so rows at this price are computed.
const COMPRESSED: f64 = 4.0;
/// The bytes of a small message: what gmc leaves of a telepointer's.
pub(super) const SMALL: usize = 4;
/// The number of messages of the run that measures processor time.
const TIMED: usize = 10_000;
/// Codes that a quick search tries, for each target and price.
const QUICK_CODES: usize = 24;

/// A path, and the contenders that run on it.
#[derive(Debug, Clone)]
pub(super) struct Conditions {
    pub(super) part: Part,
    /// The path, whose contract has one of the targets in turn.
    pub(super) cell: Cell,
    pub(super) targets: Vec<f64>,
    pub(super) contenders: Vec<Contender>,
    /// Whether contenders whose rows count bytes also get rows with repeats at 4 bytes.
    pub(super) compressed: bool,
    /// Whether each message has [`SMALL`] bytes, in place of those of the input.
    pub(super) small: bool,
}

impl Conditions {
    fn with_target(&self, target: f64) -> Cell {
        Cell { target, ..self.cell.clone() }
    }

    /// Runs all contenders, and calls `started` before each.
    pub(super) fn rows(
        &self,
        input: &Arc<[Update]>,
        options: &Options,
        started: &mut dyn FnMut(),
    ) -> Vec<Row> {
        let small: Arc<[Update]>;
        let input = match self.small {
            false => input,
            true => {
                small = input.iter().map(|update| Update { len: SMALL, ..*update }).collect();
                &small
            }
        };
        let bench = Bench { conditions: self, input, options };
        let first = self.with_target(self.targets.first().copied().unwrap_or(0.05));
        let plain = Contender::Udp.run(&first, &bench.setup(None));
        let plain_bytes = plain.figures(0, None).bytes_per_message;
        let fixed: Vec<(Contender, Log)> = self
            .contenders
            .iter()
            .filter(|one| one.ignores_target())
            .map(|one| {
                started();
                let log = match one {
                    Contender::Udp => plain.clone(),
                    other => other.run(&first, &bench.setup(None)),
                };
                (*one, log)
            })
            .collect();
        let most = options.common.quick_or(QUICK_CODES, usize::MAX);
        let mut search = Search::new(input, options.common.seed, most);
        let mut rows = Vec::new();
        for target in &self.targets {
            let cell = self.with_target(*target);
            let from = rows.len();
            for contender in &self.contenders {
                if let Some((_, log)) = fixed.iter().find(|(one, _)| one == contender) {
                    let log = log.with_target(*target);
                    rows.push(bench.row(*contender, &cell, &log, None, plain_bytes));
                    continue;
                }
                let prices: &[Option<f64>] = match contender {
                    Contender::Afec2012 | Contender::Afec2012Every(_) => &[None],
                    _ if !self.compressed => &[None],
                    _ => &[None, Some(COMPRESSED)],
                };
                for price in prices {
                    started();
                    rows.push(bench.adaptive(*contender, &cell, *price, &mut search, plain_bytes));
                }
            }
            let known = rows[from..].iter().filter_map(|row: &Row| row.get("feasible").as_bool());
            let feasible = known.reduce(|a, b| a || b);
            rows[from..].iter_mut().for_each(|row| row.set("feasible", feasible));
        }
        rows
    }
}

/// The input and options with which contenders run on a path.
struct Bench<'a> {
    conditions: &'a Conditions,
    input: &'a Arc<[Update]>,
    options: &'a Options,
}

impl Bench<'_> {
    fn setup(&self, price: Option<f64>) -> Setup<'_> {
        let scheme = Scheme::PLAIN;
        Setup { scheme, price, input: self.input, seed: self.options.common.seed, timed: false }
    }

    fn row(
        &self,
        contender: Contender,
        cell: &Cell,
        log: &Log,
        price: Option<f64>,
        plain_bytes: f64,
    ) -> Row {
        let figures = log.figures(warm_up(self.input.len()), price);
        let scheme = (self.conditions.part, contender.to_string());
        let row = row(scheme, cell, (log, figures), plain_bytes, &self.options.common);
        row.with("message_bytes", self.conditions.small.then_some(SMALL))
            .with("repeat_bytes", price)
            .with("computed", price.is_some())
    }

    /// The contenders whose work depends on the target.
    fn adaptive(
        &self,
        contender: Contender,
        cell: &Cell,
        price: Option<f64>,
        search: &mut Search<'_>,
        plain_bytes: f64,
    ) -> Row {
        if contender == Contender::BestStatic {
            let best = search.best(cell, price);
            let row = self.row(contender, cell, &best.log, price, plain_bytes);
            return row
                .with("feasible", best.feasible)
                .with("code", super::code_name(&best.code))
                .with("tried", best.tried);
        }
        let setup = self.setup(price);
        let log = contender.run(cell, &setup);
        let mut row = self.row(contender, cell, &log, price, plain_bytes);
        if contender == Contender::Groupwire {
            set_cost(&mut row, cell, &setup);
            row.set("memory_bytes", log.memory);
        }
        row
    }
}

/// Measures the processor time of our scheme's packets in a run of its own.
pub(super) fn set_cost(row: &mut Row, cell: &Cell, setup: &Setup<'_>) {
    let few: Arc<[Update]> = setup.input[..TIMED.min(setup.input.len())].into();
    let setup = Setup { timed: true, input: &few, ..setup.clone() };
    let mut work = Contender::Groupwire.run(cell, &setup).work;
    work.sort_unstable();
    let us = |time: Duration| time.as_secs_f64() * 1e6;
    row.set("cpu_us", work.get(work.len() / 2).copied().map(us));
    row.set("cpu_mean_us", us(work.iter().sum()) / work.len().max(1) as f64);
}
