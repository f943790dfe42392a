//! All contenders over one link, with one payload and size.

use std::collections::BTreeMap;
use std::{fmt, io};

use groupwire_codecs::Costs;

use super::connection::Connection;
use super::contender::Contender;
use super::payload::Payload;
use super::player::{Course, Failure, Player};
use super::row::{Part, row};
use super::work::Work;
use crate::Row;
use crate::emulator::{Carried, Ethernet, Wire};
use crate::options::Common;
use crate::statistics::Summary;

/// Messages that a contender sends before the next one's turn, so that all share the machine's
/// disturbances.
const TURN: usize = 50;
/// The number of different messages: as many as the paper had packets.
const DISTINCT: usize = 100;
/// The least number of times that each message is sent, if there are that many.
const REPEATS: usize = 5;
/// The share of the slowest round trips that is left out.
const TRIMMED: f64 = 0.02;

/// The wire, connections and costs with which a cell is measured.
pub(super) struct CellSetup<'a> {
    pub(super) wire: &'a Wire,
    pub(super) connections: &'a mut [Connection; 2],
    /// The costs of codecs on this machine.
    pub(super) costs: &'a Costs,
}

/// The messages, the link and the codec of one measurement.
pub(super) struct Cell<'a> {
    pub(super) payload: &'a Payload,
    pub(super) size: usize,
    pub(super) ethernet: Ethernet,
    /// The number of timed messages of each contender.
    pub(super) messages: usize,
    pub(super) baseline_us: Option<f64>,
    pub(super) common: Common,
}

impl fmt::Display for Cell<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ethernet.rate {
            Some(rate) => write!(f, "{} Mbit/s, {} hops, ", rate / 1e6, self.ethernet.switches)?,
            None => f.write_str("baseline, ")?,
        }
        write!(f, "{} bytes of {}", self.size, self.payload.name)
    }
}

impl Cell<'_> {
    /// Whether the payload has enough bytes for a message.
    pub(super) fn has_messages(&self) -> bool {
        !self.payload.messages(self.size, 1, self.common.seed).is_empty()
    }

    /// Measures the contenders. The first one is no compression, whose row comes first.
    pub(super) fn run(
        &self,
        contenders: &[Contender],
        place: &mut CellSetup<'_>,
    ) -> Result<Vec<Row>, io::Error> {
        let distinct =
            DISTINCT.min(self.messages.div_ceil(REPEATS).max(REPEATS)).min(self.messages);
        let messages = self.payload.messages(self.size, distinct, self.common.seed);
        place.wire.change(self.ethernet);
        let mut runs: Vec<Run> =
            contenders.iter().map(|one| Run::new(*one, distinct, place.costs)).collect();
        for run in &mut runs {
            // A warm-up: the contender allocates its memory, and its code gets into the caches.
            run.turn(&messages, 1, place)?;
            run.forget();
        }
        let mut done = 0;
        while done < self.messages {
            let turn = TURN.min(self.messages - done);
            for run in &mut runs {
                run.turn(&messages, turn, place)?;
            }
            done += turn;
        }
        for run in &mut runs {
            run.work = run.player.work(&messages);
        }
        let plain = runs.first().map_or(0.0, Run::round_trip_us);
        Ok(runs.iter().map(|run| self.row(run, plain)).collect())
    }

    fn row(&self, run: &Run, plain: f64) -> Row {
        let times = Summary::of(&run.times.concat());
        let (rtt_us, count) = (run.round_trip_us(), times.count.max(1) as f64);
        let memory = run.player.memory();
        let part = if self.ethernet.rate.is_some() { Part::Pingpong } else { Part::Baseline };
        let link = (self.ethernet.rate.map(|rate| rate / 1e6), self.ethernet.switches);
        let failure = run.failure.as_deref();
        let is_short = (times.count < self.messages).then_some("messages are missing");
        // Q · B, where B is the size over the time of one way without compression: the size over
        // our time.
        let effective_mbit = if rtt_us > 0.0 { 16.0 * self.size as f64 / rtt_us } else { 0.0 };
        row(part, run.contender, (self.payload, self.size), link, &self.common)
            .with("messages", times.count)
            .with("distinct", run.times.len())
            .with("ratio", (2 * times.count * self.size) as f64 / run.packed.max(1) as f64)
            .with("rtt_us", rtt_us)
            .with("trimmed_us", run.trimmed_us())
            .with("mean_us", times.mean)
            .with("p50_us", times.median)
            .with("p99_us", times.p99)
            .with("wire_us", run.carried.time.as_secs_f64() * 1e6 / count)
            .with("wire_octets", run.carried.bytes as f64 / count)
            .with("packets", run.carried.packets as f64 / count)
            .with("baseline_us", self.baseline_us)
            .with("effective_mbit", effective_mbit)
            .with("effective_trimmed_mbit", 16.0 * self.size as f64 / run.trimmed_us())
            .with("q", if rtt_us > 0.0 { plain / rtt_us } else { 0.0 })
            .with("memory_bytes", memory.compress + memory.decompress)
            .with("cpu_us", run.work.map(|work| work.cpu_us))
            .with("energy_uj", run.work.and_then(|work| work.energy_uj))
            .with("picked", (run.contender == Contender::Auto).then(|| run.picked()))
            .failed(failure.or(is_short))
    }
}

/// The results of one contender.
struct Run {
    contender: Contender,
    player: Player,
    /// The round trips of each message, in µs.
    times: Vec<Vec<f64>>,
    /// The round-trip times in µs, grouped by course: the combination of the choices with which the
    /// two ends compressed a message.
    courses: Vec<(Course, Vec<f64>)>,
    /// The index of the next message.
    next: usize,
    packed: usize,
    carried: Carried,
    /// The work of packing and unpacking a message; `None` where there is no clock for it.
    work: Option<Work>,
    failure: Option<String>,
}

impl Run {
    fn new(contender: Contender, distinct: usize, costs: &Costs) -> Self {
        Run {
            contender,
            player: Player::new(contender, costs),
            times: vec![Vec::new(); distinct],
            courses: Vec::new(),
            next: 0,
            packed: 0,
            carried: Carried::default(),
            work: None,
            failure: None,
        }
    }

    /// Drops the results of the warm-up.
    fn forget(&mut self) {
        self.times.iter_mut().for_each(Vec::clear);
        self.courses.clear();
        (self.next, self.packed, self.carried) = (0, 0, Carried::default());
    }

    fn turn(
        &mut self,
        messages: &[Vec<u8>],
        count: usize,
        place: &mut CellSetup<'_>,
    ) -> Result<(), io::Error> {
        let before = place.wire.carried();
        self.player.rest();
        for _ in 0..count {
            if self.failure.is_some() {
                break;
            }
            let at = self.next;
            self.next = (at + 1) % messages.len().max(1);
            let Some(message) = messages.get(at) else { break };
            match self.player.exchange(place.connections, message) {
                Ok(exchange) => {
                    let time = exchange.time.as_secs_f64() * 1e6;
                    self.times[at].push(time);
                    let mut known = self.courses.iter_mut();
                    match known.find(|(course, _)| *course == exchange.course) {
                        Some((_, times)) => times.push(time),
                        None => self.courses.push((exchange.course, vec![time])),
                    }
                    self.packed += exchange.packed;
                }
                Err(Failure::Contender(why)) => self.failure = Some(why),
                Err(Failure::Connection(error)) => return Err(error),
            }
        }
        self.carried = self.carried.plus(place.wire.carried().since(before));
        Ok(())
    }

    /// The mean over all messages of the median of each message's round trips: medians exclude
    /// delays by the machine.
    fn round_trip_us(&self) -> f64 {
        let medians: Vec<f64> = self
            .times
            .iter()
            .filter(|times| !times.is_empty())
            .map(|times| Summary::of(times).median)
            .collect();
        Summary::of(&medians).mean
    }

    /// The mean of all round trips except the slowest 2 %, which the machine delayed, for each
    /// combination of choices and trials: so rare and expensive combinations count, too.
    fn trimmed_us(&self) -> f64 {
        let (mut sum, mut count) = (0.0, 0);
        for (_, times) in &self.courses {
            let mut sorted = times.clone();
            sorted.sort_by(f64::total_cmp);
            let dropped = (times.len() as f64 * TRIMMED).ceil() as usize;
            sorted.truncate((times.len() - dropped).max(1));
            sum += Summary::of(&sorted).mean * times.len() as f64;
            count += times.len();
        }
        sum / f64::from(u32::try_from(count).unwrap_or(u32::MAX).max(1))
    }

    fn picked(&self) -> BTreeMap<String, f64> {
        let picked = self.player.picked();
        let all: usize = picked.iter().map(|(_, times)| times).sum();
        let share = |times: usize| times as f64 / all.max(1) as f64;
        picked.iter().map(|(choice, times)| (choice.to_string(), share(*times))).collect()
    }
}
