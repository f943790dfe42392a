//! Rooms under a steady load, in turn stored and in memory.

use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant};

use super::people::{self, DurableState, Kept, Pace, Seat, Stage, await_that};
use super::row;
use super::texts::Texts;
use super::verdict::{Told, Verdict};
use super::{Mode, Part, Plan, bare};
use crate::host::{Folder, Used, serve};
use crate::server::cpu;
use crate::statistics::{Summary, median};
use crate::{Result, Row, Update};

/// The longest wait for transactions that are under way after the last one was sent.
const PATIENCE: Duration = Duration::from_secs(10);
/// The time between the last delivery to a writer and the end.
const SETTLING: Duration = Duration::from_millis(300);
/// Syncs of the bare program in one repetition.
const SYNCS: usize = 400;
const QUICK_SYNCS: usize = 100;

/// The number of rooms and writers, and how fast they write.
#[derive(Debug, Clone, Copy)]
pub(super) struct Load {
    pub(super) part: Part,
    pub(super) rooms: u32,
    /// The number of clients in each room.
    pub(super) people: u32,
    /// The number of them that write, in each room.
    pub(super) writers: u32,
    /// Transactions per second in all rooms together.
    pub(super) rate: f64,
}

/// The figures of one run, by their fields.
type Figures = BTreeMap<&'static str, f64>;

/// Runs a load in each mode in turn, several times, and emits a row for each mode.
pub(super) fn measure(load: &Load, plan: &Plan<'_>, emit: &mut dyn FnMut(Update)) -> Result<()> {
    let mut runs: BTreeMap<Mode, (Vec<Figures>, Verdict)> = BTreeMap::new();
    let mut failure = None;
    for repetition in 0..plan.repetitions {
        let mut modes = plan.modes.clone();
        // The modes alternate in coming first, so that the order makes no difference over all
        // repetitions.
        if repetition % 2 == 1 {
            modes.reverse();
        }
        for mode in modes {
            plan.begun(emit, format!("{}, {mode}, {}", load.part, repetition + 1));
            let (figures, verdict) = run(load, mode, plan, &mut failure)?;
            let all = runs.entry(mode).or_default();
            all.0.push(figures);
            all.1 += verdict;
        }
    }
    let cost = |mode| runs.get(&mode).and_then(|(runs, _)| middle(runs, "server_us_per_delivery"));
    let over =
        cost(Mode::Local).zip(cost(Mode::Memory)).map(|(local, memory)| local / memory - 1.0);
    for (&mode, (figures, verdict)) in &runs {
        let mut row = with_medians(row_of(load, mode, plan), figures);
        row = row::with_verdict(row, verdict, failure.clone());
        if mode == Mode::Local {
            row.set("cpu_over_memory", over);
            let sync = row.number("fdatasync_p99_ms").unwrap_or_default();
            let goal = plan.options.tick as f64 + 15.0 + 2.0 * sync;
            let goals = [("confirm_p99_ms", goal), ("cpu_over_memory", 0.1)];
            row.set("goals", BTreeMap::from(goals));
        }
        emit(Update::Row(row));
    }
    Ok(())
}

fn row_of(load: &Load, mode: Mode, plan: &Plan<'_>) -> Row {
    row::row(load.part, mode, plan.options)
        .with("rooms", load.rooms)
        .with("people", load.people)
        .with("writers", load.writers)
        .with("rate", load.rate)
        .with("seconds", plan.measured.as_secs_f64())
        .with("repetitions", plan.repetitions)
}

fn with_medians(mut row: Row, runs: &[Figures]) -> Row {
    for field in runs.iter().flat_map(BTreeMap::keys) {
        row.set(field, middle(runs, field));
    }
    row
}

/// The median of a figure over the runs that have it.
fn middle(runs: &[Figures], field: &str) -> Option<f64> {
    let values: Vec<f64> = runs.iter().filter_map(|figures| figures.get(field).copied()).collect();
    (!values.is_empty()).then(|| median(values))
}

/// A run with a fresh server. Compares all transactions that all clients received.
fn run(
    load: &Load,
    mode: Mode,
    plan: &Plan<'_>,
    failure: &mut Option<String>,
) -> Result<(Figures, Verdict)> {
    let folder = Folder::new(&plan.data)?;
    let stored = (mode == Mode::Local).then(|| folder.path());
    let mut figures = Figures::new();
    if stored.is_some() {
        let count = plan.options.common.quick_or(QUICK_SYNCS, SYNCS);
        let syncs = bare::fdatasync(folder.path(), count)?;
        figures.extend([("fdatasync_p50_ms", syncs.median), ("fdatasync_p99_ms", syncs.p99)]);
    }
    let server = serve(&plan.program, stored, plan.options.tick, 0)?;
    let seed = plan.options.common.seed;
    let shared = DurableState::new(Texts::new(plan.options.bytes, seed), seed);
    let (writers, readers): (Vec<Seat>, Vec<Seat>) =
        seats(load, server.port).into_iter().partition(|seat| !matches!(seat.pace, Pace::Silent));
    thread::scope(|scope| {
        let everybody = writers.len() + readers.len();
        // Listeners have a thread of their own, so that they do not delay the timed writers.
        let threads = [people::run(scope, &shared, writers), people::run(scope, &shared, readers)];
        let window = shared.await_ready(everybody).map(|()| {
            shared.enter(Stage::Writing);
            thread::sleep(plan.warm_up);
            Window::measure(&server, &shared, plan.measured)
        });
        shared.enter(Stage::Listening);
        let due = || shared.sent() * u64::from(load.writers);
        // A client that failed ends the wait.
        await_that(PATIENCE, || shared.delivered() >= due() || shared.failure().is_some());
        // Clients that only listen get the last messages at the same time, but may be served last.
        thread::sleep(SETTLING);
        shared.enter(Stage::Over);
        let kept = threads.into_iter().flat_map(|thread| thread.join().unwrap_or_default());
        let kept: Vec<(Seat, Kept)> = kept.collect();
        if let Some(why) = shared.failure() {
            failure.get_or_insert(why);
        }
        let window = window?;
        figures.extend(window.figures(&kept, load.people.into(), plan.options.bytes));
        if mode == Mode::Memory {
            figures.remove("write_amplification");
        }
        Ok((figures, verdict(kept)))
    })
}

fn seats(load: &Load, port: u16) -> Vec<Seat> {
    let mean = Duration::from_secs_f64(f64::from(load.rooms * load.writers) / load.rate);
    let seat = |number: u32| {
        let (room, place) = (number / load.people, number % load.people);
        let pace = if place < load.writers { Pace::Every(mean) } else { Pace::Silent };
        Seat { room: format!("room {room}"), port, number, pace }
    };
    (0..load.rooms * load.people).map(seat).collect()
}

/// Compares the transactions that the clients of each room received.
pub(crate) fn verdict(kept: Vec<(Seat, Kept)>) -> Verdict {
    let mut rooms: BTreeMap<String, Vec<Told>> = BTreeMap::new();
    for (seat, kept) in kept {
        rooms.entry(seat.room).or_default().push(kept.told);
    }
    let mut all = Verdict::default();
    for told in rooms.values() {
        // The longest list is taken as the order: a participant with fewer entries misses some.
        let order = told.iter().max_by_key(|told| told.lines.len());
        all += order.map_or_else(Verdict::default, |order| Verdict::of(order, told));
    }
    all
}

/// The measured time, and the resources used in it.
struct Window {
    from: Instant,
    until: Instant,
    used: Used,
    generator: Option<Duration>,
    sent: u64,
}

impl Window {
    fn measure(server: &crate::server::Server, shared: &DurableState, length: Duration) -> Self {
        let generator = || cpu(std::process::id());
        let (before, clients) = (Used::before(server), generator());
        let (from, sent) = (Instant::now(), shared.sent());
        thread::sleep(length);
        let until = Instant::now();
        let used = Used::after(server).since(before);
        let generator =
            generator().zip(clients).and_then(|(after, before)| after.checked_sub(before));
        Window { from, until, used, generator, sent: shared.sent() - sent }
    }

    fn figures(&self, kept: &[(Seat, Kept)], people: u64, bytes: usize) -> Figures {
        let within = |at: &Instant| *at >= self.from && *at < self.until;
        let arrivals = kept.iter().flat_map(|(_, kept)| &kept.arrivals);
        let deliveries = arrivals.filter(|at| within(at)).count() as u64;
        let all = kept.iter().flat_map(|(_, kept)| &kept.confirmations);
        let times: Vec<f64> = all
            .filter(|(sent, _)| within(sent))
            .map(|(_, time)| time.as_secs_f64() * 1e3)
            .collect();
        let times = Summary::of(&times);
        let seconds = (self.until - self.from).as_secs_f64();
        let per_second = |count: u64| count as f64 / seconds;
        let content = self.sent as f64 * bytes as f64;
        let cpu = self.used.cpu.map(|cpu| cpu.as_secs_f64());
        let found = [
            ("transactions", Some(self.sent as f64)),
            ("deliveries", Some(deliveries as f64)),
            ("delivered", Some(deliveries as f64 / (self.sent * people).max(1) as f64)),
            ("confirm_p50_ms", Some(times.median)),
            ("confirm_p99_ms", Some(times.p99)),
            ("server_us_per_delivery", cpu.map(|cpu| cpu * 1e6 / deliveries.max(1) as f64)),
            ("server_cpu", cpu.map(|cpu| cpu / seconds)),
            ("generator_cpu", self.generator.map(|cpu| cpu.as_secs_f64() / seconds)),
            ("commits_per_s", self.used.commits.map(per_second)),
            ("fsyncs_per_s", self.used.syncs.map(per_second)),
            ("write_amplification", self.used.written.map(|written| written as f64 / content)),
        ];
        found.into_iter().filter_map(|(field, value)| Some((field, value?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writers_share_the_rate() {
        let load = Load { part: Part::Load, rooms: 3, people: 4, writers: 2, rate: 60.0 };
        let seats = seats(&load, 80);
        assert_eq!(seats.len(), 12);
        let means: Vec<_> = seats
            .iter()
            .filter_map(|seat| match seat.pace {
                Pace::Every(mean) => Some(mean),
                _ => None,
            })
            .collect();
        assert_eq!(means, [Duration::from_millis(100); 6]);
        assert_eq!(seats.iter().filter(|seat| seat.room == "room 2").count(), 4);
    }

    #[test]
    fn medians_are_over_the_runs_that_have_the_figure() {
        let runs = [1.0, 9.0, 2.0].map(|value| Figures::from([("rate", value)]));
        assert_eq!(middle(&runs, "rate"), Some(2.0));
        assert_eq!(middle(&runs, "bytes"), None);
    }
}
