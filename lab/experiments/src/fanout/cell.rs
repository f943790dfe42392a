//! Measures one system with a number of clients.

use std::sync::Arc;
use std::thread::{self, sleep};
use std::time::Duration;

use super::certificates::certificates;
use super::crowd::{Seat, run};
use super::ledger::{Ledger, Tally};
use super::message::Pointer;
use super::row;
use super::state::{FanoutState, Stage};
use super::system::{Clients, System};
use super::wire::Left;
use super::{Plan, SAMPLED, webtransport};
use crate::server::{Server, cpu};
use crate::statistics::Summary;
use crate::{Result, Row};

/// The longest time that clients may take to join: a thousand over QUIC, on a slow machine.
const JOINING: Duration = Duration::from_secs(90);
/// The time between the start command and the first message, so that all clients can be ready.
const HEAD_START: Duration = Duration::from_millis(50);
/// The room of all clients.
const ROOM: &str = "fanout";
/// Threads, each with a socket, for the clients of WebTransport that only count. All datagrams for
/// the clients of a thread come to its one socket: with a single thread the socket's buffer was
/// full all the time, while the machine had time left.
const UDP_THREADS: usize = 4;

/// The durations of a measurement.
#[derive(Debug, Clone, Copy)]
pub(super) struct Times {
    /// The time before the measurement, until every receiver has the compression state.
    pub(super) warm_up: Duration,
    pub(super) measured: Duration,
    /// If nothing arrives for this time, all has arrived, and memory has settled.
    pub(super) silence: Duration,
}

/// The memory of idle connections.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Idle {
    pub(super) connections: usize,
    pub(super) kb_each: f64,
}

/// Measures the memory of silent connections.
pub(super) fn idle(system: &System, plan: &Plan<'_>, count: usize) -> Result<Idle> {
    let server = Server::start(system.start(plan)?)?;
    let shared = shared(system, &server, Ledger::new(0, 0), 1)?;
    // The memory for the first client is not counted: it includes what the server needs only once.
    let memory = |shared: &Arc<FanoutState>, count: usize| -> Result<u64> {
        shared.await_ready(count, JOINING)?;
        sleep(plan.times.silence);
        server.memory().ok_or_else(|| "its memory is not to be had here".into())
    };
    let port = server.port;
    let seat = |number| Seat { number, port, pointer: None, is_sampled: false };
    thread::scope(|scope| {
        let first = Arc::clone(&shared);
        scope.spawn(move || run(&first, vec![seat(0)]));
        let before = memory(&shared, 1);
        let rest = Arc::clone(&shared);
        scope.spawn(move || run(&rest, (1..=count).map(seat).collect()));
        let after = memory(&shared, count + 1);
        shared.stage.send_replace(Stage::Over);
        let more = after?.saturating_sub(before?) as f64 / 1024.0;
        Ok(Idle { connections: count, kb_each: more / count.max(1) as f64 })
    })
}

/// Measures a system, and returns the row.
pub(super) fn measure(system: &System, plan: &Plan<'_>, clients: usize) -> Result<Row> {
    let (options, times) = (plan.options, plan.times);
    let server = Server::start(system.start(plan)?)?;
    let senders = options.senders.min(clients);
    let planned = (times.warm_up + times.measured).as_secs_f64() * f64::from(options.rate);
    // The ledger has room for more messages, because measuring takes a little longer than planned.
    let ledger = Ledger::new(senders, planned as usize + 2 * options.rate as usize + 10);
    let interval = 1_000_000_000 / u64::from(options.rate.max(1));
    let shared = shared(system, &server, ledger, interval)?;
    let (sampled, rest) = seats(clients, senders, server.port, options.common.seed);

    thread::scope(|scope| {
        let crowd = |seats: Vec<Seat>| {
            let shared = Arc::clone(&shared);
            scope.spawn(move || run(&shared, seats))
        };
        let threads = if shared.clients == Clients::WebTransport { UDP_THREADS } else { 1 };
        let mut crowds = vec![crowd(sampled)];
        crowds.extend(shares(rest, threads).into_iter().map(crowd));
        let used = shared.await_ready(clients, JOINING).map(|()| play(&server, &shared, times));
        shared.stage.send_replace(Stage::Over);
        let tallies: Vec<Tally> =
            crowds.into_iter().flat_map(|crowd| crowd.join().unwrap_or_default()).collect();
        let row = row::row(system, clients, options).with("version", &server.version);
        let row = with_figures(row, &shared, &used?, &tallies);
        Ok(judged(row, system, &shared, &tallies))
    })
}

fn shared(
    system: &System,
    server: &Server,
    ledger: Ledger,
    interval: u64,
) -> Result<Arc<FanoutState>> {
    let mut shared = FanoutState::new(ledger, system.clients(), ROOM, interval);
    if shared.clients == Clients::WebTransport {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let certificates = runtime?.block_on(certificates(server.port))?;
        shared.quic = Some(webtransport::config(&certificates));
    }
    Ok(Arc::new(shared))
}

/// The senders and some more clients are sampled; the others only count.
fn seats(clients: usize, senders: usize, port: u16, seed: u64) -> (Vec<Seat>, Vec<Seat>) {
    let seat = |number| Seat {
        number,
        port,
        pointer: (number < senders).then(|| Pointer::new(number, seed)),
        is_sampled: number < SAMPLED,
    };
    let mut sampled: Vec<Seat> = (0..clients).map(seat).collect();
    let rest = sampled.split_off(SAMPLED.max(senders).min(clients));
    (sampled, rest)
}

/// Divides the seats into `parts` parts of nearly the same size.
fn shares(mut seats: Vec<Seat>, parts: usize) -> Vec<Vec<Seat>> {
    let each = seats.len().div_ceil(parts).max(1);
    let mut shares = Vec::new();
    while !seats.is_empty() {
        let others = seats.split_off(each.min(seats.len()));
        shares.push(std::mem::replace(&mut seats, others));
    }
    shares
}

/// The resources that were used within the measured time.
struct Used {
    server: Option<Duration>,
    generator: Option<Duration>,
    /// Bytes that the clients received.
    bytes: u64,
    /// Bytes on the wire for each byte that the server sent.
    factor: Option<f64>,
}

/// Lets the senders send, and measures the resources that the server uses.
fn play(server: &Server, shared: &FanoutState, times: Times) -> Used {
    let over_tcp = shared.clients != Clients::WebTransport;
    let left = || if over_tcp { Left::over_tcp(server.port) } else { Some(shared.received()) };
    let start = shared.ledger.now() + HEAD_START.as_nanos() as u64;
    shared.stage.send_replace(Stage::Sending(start));
    sleep(HEAD_START + times.warm_up);

    let left_before = left();
    let used = || (server.cpu(), cpu(std::process::id()), shared.received());
    let before = used();
    shared.ledger.open();
    sleep(times.measured);
    shared.ledger.close();
    let after = used();
    // Reading the counters of all connections takes the kernel some time; no client sends
    // meanwhile.
    shared.stage.send_replace(Stage::Listening);
    let left_after = left();
    shared.await_silence(times.silence);

    Used {
        server: difference(after.0, before.0),
        generator: difference(after.1, before.1),
        bytes: after.2.bytes.saturating_sub(before.2.bytes),
        factor: left_after.zip(left_before).and_then(|(after, before)| after.factor_since(before)),
    }
}

fn difference(after: Option<Duration>, before: Option<Duration>) -> Option<Duration> {
    after?.checked_sub(before?)
}

/// Adds the figures that follow from the measurements to a row.
fn with_figures(row: Row, shared: &FanoutState, used: &Used, tallies: &[Tally]) -> Row {
    let totals = shared.ledger.totals();
    let sum = |of: &dyn Fn(&Tally) -> u64| tallies.iter().map(of).sum::<u64>();
    let (due, arrived) = (sum(&|tally| tally.due(&totals)), sum(&|tally| tally.arrived));
    let deliveries = sum(&|tally| tally.counted);
    let latencies: Vec<f64> =
        tallies.iter().filter_map(|tally| tally.latencies.as_ref()).flatten().copied().collect();
    let latency = (!latencies.is_empty()).then(|| Summary::of(&latencies));
    let each = |value: f64| (deliveries > 0).then(|| value / deliveries as f64);
    let seconds = shared.ledger.window().as_secs_f64();
    let busy = |time: Option<Duration>| time.map(|time| time.as_secs_f64() / seconds);
    let socket = each(used.bytes as f64);
    row.with("senders", totals.len())
        .with("seconds", seconds)
        .with("messages", totals.iter().sum::<u64>())
        .with("delivered", arrived as f64 / due.max(1) as f64)
        .with("deliveries", deliveries)
        .with("sampled", tallies.iter().filter(|tally| tally.latencies.is_some()).count())
        .with("p50_ms", latency.map(|latency| latency.median))
        .with("p99_ms", latency.map(|latency| latency.p99))
        .with("mean_ms", latency.map(|latency| latency.mean))
        .with("server_us_per_delivery", used.server.and_then(|time| each(time.as_secs_f64() * 1e6)))
        .with("socket_bytes_per_delivery", socket)
        .with(
            "wire_bytes_per_delivery",
            socket.zip(used.factor).map(|(socket, factor)| socket * factor),
        )
        .with("server_cpu", busy(used.server))
        .with("generator_cpu", busy(used.generator))
        .with("cores", thread::available_parallelism().map_or(1, usize::from))
}

/// Adds the faults of deliveries to a row. A peer that is too slow for the work is not wrong, nor
/// are losses that a channel's QoS permits; but messages that arrived must be what was sent.
fn judged(row: Row, system: &System, shared: &FanoutState, tallies: &[Tally]) -> Row {
    let totals = shared.ledger.totals();
    let sum = |of: &dyn Fn(&Tally) -> u64| tallies.iter().map(of).sum::<u64>();
    let (altered, repeated) = (sum(&|tally| tally.altered), sum(&|tally| tally.repeated));
    let disordered = sum(&|tally| tally.disordered);
    // Datagrams overtake each other; values of an aggregated channel are delivered as they come
    // (W42).
    let is_ordered = system.clients() == Clients::WebTransport || disordered == 0;
    let must_have_all = system.clients() == Clients::WebSocket;
    let perfect = tallies.iter().filter(|tally| tally.is_perfect(&totals)).count();
    let all_have_all = perfect == tallies.len();
    if altered > 0 || repeated > 0 || !is_ordered || (must_have_all && !all_have_all) {
        let why = format!(
            "{perfect} of {} receivers had everything; {altered} messages were altered, {repeated} repeated, \
             {disordered} out of order",
            tallies.len()
        );
        return row.failed(Some(shared.failure().unwrap_or(why)));
    }
    row.failed(shared.failure())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_is_in_one_share() {
        for (clients, parts, sizes) in
            [(500, 1, &[468][..]), (42, 4, &[3, 3, 3, 1]), (33, 4, &[1]), (20, 4, &[])]
        {
            let (sampled, rest) = seats(clients, 10, 80, 1);
            let shares = shares(rest, parts);
            assert_eq!(shares.iter().map(Vec::len).collect::<Vec<_>>(), sizes);
            let numbers = sampled.iter().chain(shares.iter().flatten()).map(|seat| seat.number);
            assert!(numbers.eq(0..clients));
        }
    }
}
