//! Bursts over links so slow that a packet takes seconds.

use std::time::Duration;

use groupwire_session::client::{Config as ClientConfig, Event, Outgoing, Status};
use groupwire_session::{Qos, room};

use crate::support::path::{Paths, Way};

const DRAW: Qos = Qos::transaction();
const LAN: Way = Way { rate: 1.25e8, delay: Duration::from_micros(200) };
/// The uplink of an early mobile network: 64 kbit/s.
const SLOW: Way = Way { rate: 8e3, delay: Duration::from_millis(50) };

/// Bytes that cannot be compressed.
fn noise(size: usize) -> Vec<u8> {
    let mut state = 7_u64;
    let next = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 56) as u8
    });
    next.take(size).collect()
}

#[test]
fn a_burst_over_a_slow_link_is_not_taken_for_silence() {
    for ways in [[SLOW, LAN], [LAN, SLOW]] {
        let mut paths = Paths::new(room::Config::new("demo", 7));
        let [ann, bob] = ways.map(|way| paths.add(ClientConfig::new("demo"), way));
        let [draw, _] = [ann, bob].map(|person| paths.channel(person, "draw", DRAW));
        paths.run(Duration::from_secs(3));
        let sent = noise(100_000);
        for bytes in sent.chunks(500) {
            let message = Outgoing { bytes, ..Outgoing::default() };
            paths.people[ann].client.send(paths.now, draw, message).unwrap();
        }
        let is_there = |paths: &Paths| paths.people[bob].messages(draw).len() == 200;
        assert!(paths.run_until(Duration::from_secs(20), is_there), "the burst never came");
        assert!(paths.people[bob].messages(draw).concat() == sent);
        for one in &paths.people {
            let reconnects = |event: &Event| *event == Event::Status(Status::Reconnecting);
            assert!(!one.events.iter().any(|(_, event)| reconnects(event)), "{:?}", one.events);
        }
    }
}
