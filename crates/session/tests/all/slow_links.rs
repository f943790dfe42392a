//! Bursts over links so slow that a packet takes seconds.

use std::time::Duration;

use groupwire_session::client::{ChannelId, Config as ClientConfig, Event, Outgoing, Status};
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

/// Two participants, the first of which sends 100 KB at once to the second.
fn burst([from, to]: [Way; 2], size: usize) -> (Paths, ChannelId) {
    let mut paths = Paths::new(room::Config::new("demo", 7));
    let [ann, bob] = [from, to].map(|way| paths.add(ClientConfig::new("demo"), way));
    let [draw, _] = [ann, bob].map(|person| paths.channel(person, "draw", DRAW));
    paths.run(Duration::from_secs(3));
    for bytes in noise(100_000).chunks(size) {
        let message = Outgoing { bytes, ..Outgoing::default() };
        paths.people[ann].client.send(paths.now, draw, message).unwrap();
    }
    let is_there = |paths: &Paths| paths.people[bob].messages(draw).len() == 100_000 / size;
    assert!(paths.run_until(Duration::from_secs(20), is_there), "the burst never came");
    (paths, draw)
}

#[test]
fn a_burst_over_a_slow_link_is_not_taken_for_silence() {
    for ways in [[SLOW, LAN], [LAN, SLOW]] {
        let (paths, draw) = burst(ways, 500);
        let got = paths.people[1].messages(draw).concat();
        assert!(got == noise(100_000));
        for one in &paths.people {
            let again = (&Event::Status(Status::Reconnecting), &one.events);
            assert!(one.events.iter().all(|(_, event)| event != again.0), "{:?}", again.1);
        }
    }
}
