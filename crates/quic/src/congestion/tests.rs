use std::cmp::Reverse;
use std::collections::BinaryHeap;

use groupwire_sim::{Capacity, Link, LinkConfig, Queue};
use proptest::prelude::*;

use super::*;

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);
const PACKET: u64 = 1200;

/// Sends a packet of 200 bytes every 20 ms for `time`; each is acknowledged after the round trip,
/// or lost.
fn converse(
    congestion: &mut Congestion,
    from: Duration,
    time: Duration,
    round_trip: Duration,
    is_lost: impl Fn(u32) -> bool,
) -> Duration {
    let steps = (time.as_millis() / 20) as u32;
    for step in 0..steps {
        let sent = from + step * 20 * MS;
        congestion.on_sent(sent, 200);
        let now = sent + round_trip;
        if is_lost(step) {
            congestion.on_lost(now, sent, 200);
        } else {
            congestion.on_round_trip(now, round_trip);
            congestion.on_acknowledged(now, sent, 200, true);
        }
    }
    from + time + round_trip
}

/// Lets five seconds pass without packets, in which the floor saves up all it can, and then lets an
/// acknowledgement arrive.
fn quiet(congestion: &mut Congestion, from: Duration) -> Duration {
    let now = from + 5 * SECOND;
    congestion.on_round_trip(now, 50 * MS);
    congestion.floor.on_acknowledged(now);
    now
}

#[test]
fn losses_without_a_queue_leave_the_window_of_a_conversation() {
    let mut congestion = Congestion::new(1200);
    let now = converse(&mut congestion, Duration::ZERO, 30 * SECOND, 50 * MS, |n| n % 5 > 1);
    assert_eq!(congestion.window(now), INITIAL * PACKET);
}

#[test]
fn a_queue_lowers_the_window_to_what_the_path_holds() {
    let mut congestion = Congestion::new(1200);
    let now = converse(&mut congestion, Duration::ZERO, SECOND, 50 * MS, |_| false);
    let now = converse(&mut congestion, now, SECOND / 5, 120 * MS, |_| false);
    assert_eq!(congestion.queue(), 70 * MS);
    assert_eq!(congestion.window(now), LEAST * PACKET);
}

#[test]
fn with_a_queue_losses_count() {
    let mut congestion = Congestion::new(1200);
    let now = converse(&mut congestion, Duration::ZERO, SECOND, 50 * MS, |_| false);
    let now = converse(&mut congestion, now, SECOND, 60 * MS, |n| n == 10);
    assert_eq!(congestion.window(now), (INITIAL * PACKET * 7) / 10);
}

#[test]
fn in_silence_a_packet_may_be_sent_now_and_then_though_the_window_is_full() {
    let mut congestion = Congestion::new(1200);
    let now = converse(&mut congestion, Duration::ZERO, SECOND, 50 * MS, |_| false);
    // The smallest window, which a lost packet and another one fill.
    let mut now = converse(&mut congestion, now, SECOND / 5, 120 * MS, |_| false);
    congestion.on_sent(now, 1452);
    congestion.on_sent(now, 550);
    let may_send = |congestion: &Congestion, now| {
        congestion.window(now) > congestion.in_flight.saturating_add(PACKET)
    };
    for _ in 0..20 {
        assert!(!may_send(&congestion, now + SILENCE - MS));
        now += SILENCE;
        assert!(may_send(&congestion, now));
        congestion.on_sent(now, 60);
    }
    // It is no more than this on a path whose round trip is longer.
    let mut far = Congestion::new(1200);
    far.on_sent(SECOND, INITIAL * PACKET);
    far.on_round_trip(SECOND, 700 * MS);
    assert!(!may_send(&far, SECOND + 1399 * MS) && may_send(&far, SECOND + 1400 * MS));
}

#[test]
fn a_route_that_became_longer_is_no_queue_of_others_for_long() {
    let mut congestion = Congestion::new(1200);
    let now = converse(&mut congestion, Duration::ZERO, 10 * SECOND, 50 * MS, |_| false);
    let now = converse(&mut congestion, now, 5 * SECOND, 90 * MS, |_| false);
    assert_eq!(congestion.mode, Mode::Beside);
    let now = converse(&mut congestion, now, 60 * SECOND, 90 * MS, |_| false);
    assert_eq!(congestion.queue(), Duration::ZERO);
    assert_eq!(congestion.mode, Mode::Alone);
    // A loss is not taken for congestion any more.
    let window = congestion.window(now);
    converse(&mut congestion, now, SECOND, 90 * MS, |n| n == 10);
    assert!(congestion.window >= window, "{} {window}", congestion.window);
}

#[test]
fn waits_within_a_burst_are_no_standing_queue() {
    let mut congestion = Congestion::new(1200);
    let mut now = converse(&mut congestion, Duration::ZERO, SECOND, 50 * MS, |_| false);
    // One acknowledgement is for five packets that left together. The last of them waited 40 ms for
    // the others.
    for _ in 0..20 {
        for _ in 0..5 {
            congestion.on_sent(now, 1000);
            congestion.on_acknowledged(now + 90 * MS, now, 1000, false);
        }
        congestion.on_round_trip(now + 90 * MS, 90 * MS);
        now += 100 * MS;
    }
    assert_eq!(congestion.queue(), Duration::ZERO);
    assert!(congestion.window(now) >= INITIAL * PACKET);
    // Without bursts the same round trip is that of a queue.
    let now = converse(&mut congestion, now, SECOND, 90 * MS, |_| false);
    assert_eq!(congestion.queue(), 40 * MS);
    assert!(congestion.window(now) < INITIAL * PACKET);
}

#[test]
fn losses_that_go_on_while_others_do_not_yield_lower_the_window_little() {
    let mut congestion = Congestion::new(1200);
    let now = converse(&mut congestion, Duration::ZERO, SECOND, 50 * MS, |_| false);
    let now = converse(&mut congestion, now, 2 * SECOND, 120 * MS, |_| false);
    assert_eq!(congestion.mode, Mode::Beside);
    congestion.window = 20 * PACKET;
    let now = converse(&mut congestion, now, SECOND, 120 * MS, |n| n == 10);
    assert_eq!(congestion.window(now), 14 * PACKET);
    let now = converse(&mut congestion, now, SECOND, 120 * MS, |n| n > 0 && n % 10 == 0);
    assert!(congestion.window(now) > 9 * PACKET, "{}", congestion.window(now));
}

#[test]
fn a_measured_limit_makes_losses_count() {
    let mut congestion = Congestion::new(1200);
    congestion.set_limited(true);
    let now = converse(&mut congestion, Duration::ZERO, SECOND, 50 * MS, |n| n == 10);
    assert_eq!(congestion.window(now), (INITIAL * PACKET * 7) / 10);
}

#[test]
fn the_floor_is_the_minimum_rate_of_at_most_64_kbit() {
    for (asked, granted) in [(1000, 1000), (8000, 8000), (u32::MAX, 8000)] {
        let mut congestion = Congestion::new(1200);
        congestion.set_minimum_rate(asked);
        congestion.window = LEAST * PACKET;
        let now = converse(&mut congestion, Duration::ZERO, SECOND, 50 * MS, |_| false);
        let mut now = quiet(&mut congestion, now);
        // More bytes than the window are in flight, and acknowledgements of other packets arrive:
        // only the floor permits to send.
        congestion.set_in_flight(1_000_000);
        let mut sent = 0;
        for _ in 0..10_000 {
            congestion.on_round_trip(now, 50 * MS);
            congestion.floor.on_acknowledged(now);
            if congestion.window(now) > 1_000_000 + PACKET {
                congestion.on_sent(now, 100);
                congestion.set_in_flight(1_000_000);
                sent += 100;
            }
            now += MS;
        }
        // The rate of ten seconds, and the tokens that were saved up.
        let seconds = f64::from(sent) / f64::from(granted);
        assert!((9.9..11.2).contains(&seconds), "{asked}: {seconds}");
    }
}

#[test]
fn the_floor_ends_with_acknowledgements_and_with_a_queue() {
    let mut congestion = Congestion::new(1200);
    congestion.set_minimum_rate(8000);
    congestion.window = LEAST * PACKET;
    let now = converse(&mut congestion, Duration::ZERO, 2 * SECOND, 50 * MS, |_| false);
    let now = quiet(&mut congestion, now);
    congestion.set_in_flight(50_000);
    assert!(congestion.window(now) > 50_000 + PACKET);
    assert!(congestion.window(now + SECOND * 9 / 10) > 50_000 + PACKET);
    // Only a sign of life is left of it.
    congestion.on_sent(now + SECOND, 100);
    congestion.set_in_flight(50_000);
    assert_eq!(congestion.window(now + SECOND + MS), LEAST * PACKET);
    let now = converse(&mut congestion, now, SECOND, 120 * MS, |_| false);
    congestion.set_in_flight(50_000);
    assert!(congestion.window(now) < 50_000);
}

#[test]
fn an_outage_takes_back_a_large_window() {
    let mut congestion = Congestion::new(1200);
    congestion.window = 1 << 20;
    congestion.on_outage(SECOND);
    assert_eq!(congestion.window(SECOND), INITIAL * PACKET);
}

/// An event of a congestion control.
#[derive(Debug, Clone, Copy)]
enum Happening {
    Sent(u64),
    Acknowledged(u64, u64, bool),
    RoundTrip(u64),
    Lost(u64, u64),
    Marked(u64),
    Outage,
    Packet(u16),
    Minimum(u32),
    Limited(bool),
    InFlight(u64),
}

fn happening() -> impl Strategy<Value = Happening> {
    prop_oneof![
        any::<u64>().prop_map(Happening::Sent),
        (any::<u64>(), 0..3000_u64, any::<bool>())
            .prop_map(|(sent, bytes, idle)| Happening::Acknowledged(sent, bytes, idle)),
        (0..5_000_000_000_u64).prop_map(Happening::RoundTrip),
        any::<u64>().prop_map(Happening::RoundTrip),
        (any::<u64>(), 0..3000_u64).prop_map(|(sent, bytes)| Happening::Lost(sent, bytes)),
        any::<u64>().prop_map(Happening::Marked),
        Just(Happening::Outage),
        any::<u16>().prop_map(Happening::Packet),
        any::<u32>().prop_map(Happening::Minimum),
        any::<bool>().prop_map(Happening::Limited),
        any::<u64>().prop_map(Happening::InFlight),
    ]
}

proptest! {
    #[test]
    fn no_order_of_events_breaks_the_bounds(
        steps in prop::collection::vec((any::<u64>(), happening()), 0..200),
        steady in any::<bool>(),
    ) {
        let mut congestion = Congestion::new(1200);
        let mut elapsed = 0_u64;
        for (nanos, what) in steps {
            elapsed = if steady { elapsed.saturating_add(nanos % 100_000_000) } else { nanos };
            let now = Duration::from_nanos(elapsed);
            match what {
                Happening::Sent(bytes) => congestion.on_sent(now, bytes),
                Happening::Acknowledged(sent, bytes, is_idle) => {
                    congestion.on_acknowledged(now, Duration::from_nanos(sent), bytes, is_idle);
                }
                Happening::RoundTrip(nanos) => {
                    congestion.on_round_trip(now, Duration::from_nanos(nanos));
                }
                Happening::Lost(sent, bytes) => {
                    congestion.on_lost(now, Duration::from_nanos(sent), bytes);
                }
                Happening::Marked(sent) => congestion.on_marked(now, Duration::from_nanos(sent)),
                Happening::Outage => congestion.on_outage(now),
                Happening::Packet(bytes) => congestion.set_packet(bytes),
                Happening::Minimum(rate) => congestion.set_minimum_rate(rate),
                Happening::Limited(is_limited) => congestion.set_limited(is_limited),
                Happening::InFlight(bytes) => congestion.set_in_flight(bytes),
            }
            let window = congestion.window(now);
            prop_assert!(window > 0 && window <= MOST, "{window} after {what:?}");
        }
    }
}

/// A sender at a bottleneck.
enum Flow {
    /// This crate's congestion control, with the bytes per second that the application offers, and
    /// the bytes that wait.
    Ours { congestion: Box<Congestion>, offered: f64, waiting: f64 },
    /// AIMD with Cubic's constants in its region of TCP friendliness (RFC 9438, section 4.3), in
    /// which flows of some Mbit/s and some 50 ms are.
    Tcp { window: f64, threshold: f64, recovering: Duration },
}

struct Sender {
    flow: Flow,
    in_flight: u64,
    delivered: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Event {
    at: Duration,
    number: u64,
    flow: usize,
    sent: Duration,
    is_lost: bool,
}

/// Simulates flows at a bottleneck. Returns the rate of each flow in bits per second, and the
/// queueing delays of all packets in ms in ascending order; both without the first ten seconds.
fn share(
    kbit: f64,
    round_trip: Duration,
    buffer: Duration,
    flows: Vec<Flow>,
) -> (Vec<f64>, Vec<f64>) {
    let config = LinkConfig {
        delay: round_trip / 2,
        capacity: Capacity::kbit(kbit),
        queue: Queue::Time(buffer),
        ..LinkConfig::default()
    };
    let mut link = Link::new(config, 1);
    let mut senders: Vec<_> =
        flows.into_iter().map(|flow| Sender { flow, in_flight: 0, delivered: 0 }).collect();
    let mut events: BinaryHeap<Reverse<Event>> = BinaryHeap::new();
    let (mut now, mut number, mut last) = (Duration::ZERO, 0, Duration::ZERO);
    let mut queues = Vec::new();
    let (warm, end) = (10 * SECOND, 70 * SECOND);
    while now < end {
        now += MS;
        while let Some(Reverse(event)) = events.peek().copied().filter(|one| one.0.at <= now) {
            events.pop();
            let sender = &mut senders[event.flow];
            sender.in_flight -= PACKET;
            if !event.is_lost && event.at > warm {
                sender.delivered += PACKET;
                queues.push((event.at - event.sent - round_trip).as_secs_f64() * 1e3);
            }
            sender.flow.hear(&event);
        }
        // The flows take turns at being first.
        let count = senders.len();
        let first = now.as_millis() as usize % count;
        for place in (first..count).chain(0..first) {
            let sender = &mut senders[place];
            sender.flow.offer();
            while sender.flow.wants(now, sender.in_flight) {
                sender.in_flight += PACKET;
                sender.flow.sent(now);
                let arrival = link.send(now, PACKET as usize - 28).first;
                last = arrival.unwrap_or(last);
                number += 1;
                events.push(Reverse(Event {
                    at: last.max(now) + round_trip / 2,
                    number,
                    flow: place,
                    sent: now,
                    is_lost: arrival.is_none(),
                }));
            }
        }
    }
    queues.sort_by(f64::total_cmp);
    let seconds = (end - warm).as_secs_f64();
    (senders.iter().map(|one| one.delivered as f64 * 8.0 / seconds).collect(), queues)
}

impl Flow {
    fn ours(kbit: f64) -> Flow {
        let congestion = Box::new(Congestion::new(PACKET as u16));
        Flow::Ours { congestion, offered: kbit * 125.0, waiting: 0.0 }
    }

    fn tcp() -> Flow {
        let window = INITIAL as f64;
        Flow::Tcp { window, threshold: f64::INFINITY, recovering: Duration::ZERO }
    }

    /// Adds the bytes that the application offers in a ms. Bytes older than 100 ms are dropped, as
    /// in a real application.
    fn offer(&mut self) {
        if let Flow::Ours { offered, waiting, .. } = self {
            *waiting = (*waiting + *offered / 1000.0).min(*offered / 10.0);
        }
    }

    fn wants(&self, now: Duration, in_flight: u64) -> bool {
        match self {
            Flow::Ours { congestion, waiting, .. } => {
                *waiting >= PACKET as f64 && in_flight + PACKET <= congestion.window(now)
            }
            Flow::Tcp { window, .. } => (in_flight / PACKET) as f64 + 1.0 <= *window,
        }
    }

    fn sent(&mut self, now: Duration) {
        if let Flow::Ours { congestion, waiting, .. } = self {
            *waiting -= PACKET as f64;
            congestion.on_sent(now, PACKET);
        }
    }

    fn hear(&mut self, event: &Event) {
        match self {
            Flow::Ours { congestion, waiting, .. } => {
                if event.is_lost {
                    congestion.on_lost(event.at, event.sent, PACKET);
                } else {
                    congestion.on_round_trip(event.at, event.at - event.sent);
                    let is_idle = *waiting < PACKET as f64;
                    congestion.on_acknowledged(event.at, event.sent, PACKET, is_idle);
                }
            }
            Flow::Tcp { window, threshold, recovering } => {
                if !event.is_lost {
                    *window += if *window < *threshold { 1.0 } else { 0.53 / *window };
                } else if event.sent > *recovering {
                    *recovering = event.at;
                    *window = (*window * 0.7).max(2.0);
                    *threshold = *window;
                }
            }
        }
    }
}

#[test]
fn alone_it_uses_the_link_without_a_long_queue() {
    for kbit in [1000.0, 2000.0, 5000.0, 20_000.0] {
        for round_trip in [20, 50, 100] {
            let (rates, queues) =
                share(kbit, round_trip * MS, 300 * MS, vec![Flow::ours(50_000.0)]);
            let (used, longest) = (rates[0] / kbit / 1e3, queues[queues.len() * 99 / 100]);
            println!("{kbit} kbit/s, {round_trip} ms: {used:.2} used, queue p99 {longest:.0} ms");
            assert!(used > 0.75 && longest < 50.0, "{kbit} {round_trip}: {used} {longest}");
        }
    }
}

#[test]
fn beside_tcp_it_gets_half_to_all_of_its_fair_share() {
    let mut missed = Vec::new();
    for (kbit, round_trip, buffer) in [
        (4000.0, 50, 50),
        (4000.0, 50, 100),
        (8000.0, 50, 50),
        (4000.0, 20, 60),
        (4000.0, 50, 20),
        (4000.0, 50, 300),
    ] {
        for others in [1, 2, 4] {
            let flows = std::iter::once(Flow::ours(2000.0)).chain((0..others).map(|_| Flow::tcp()));
            let (rates, _) = share(kbit, round_trip * MS, buffer * MS, flows.collect());
            let fair = (kbit * 1e3 / f64::from(others + 1)).min(2e6);
            let got = rates[0] / fair;
            let row =
                format!("{kbit} kbit/s, {round_trip} ms, buffer {buffer} ms, {others}: {got:.2}");
            println!("{row}");
            if !(0.5..=1.0).contains(&got) {
                missed.push(row);
            }
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}
