//! An endpoint gets any packets at any times: it does not panic, keeps its limits of memory and
//! packets, and after a few false packets receives from an honest peer within a second.
//!
//! The input is a configuration and steps.

#![no_main]

use std::time::Duration;

use groupwire_afec::{Config, Endpoint, Order, Qos, Submission};
use groupwire_fuzz::{Input, afec_memory, afec_scheme};
use libfuzzer_sys::fuzz_target;

const ORDERS: [Order; 3] = [Order::AsTheyCome, Order::AsTheyCome, Order::Newest];

fuzz_target!(|data: &[u8]| {
    let mut input = Input::new(data);
    let config = Config { scheme: afec_scheme(&mut input), ..Config::default() };
    let mut end = opened(config);
    let mut out = Vec::new();
    let mut now = Duration::ZERO;
    // Packets that the endpoint sent, and messages that were handed to it.
    let (mut packets, mut messages) = (0, 0);
    // Forged packets, and reports in them.
    let (mut forged, mut reports) = (0u32, 0u8);
    while !input.is_empty() {
        let step = input.byte();
        match step & 7 {
            0 => {
                let channel = u32::from(step >> 3) % 3;
                let payload = [step; 16];
                let message = Submission { key: channel, ..Submission::new(&payload) };
                end.send(now, channel, message).expect("the message is small");
                messages += 1;
            }
            1..=3 => now += Duration::from_millis(u64::from(step >> 3)),
            4 => now += Duration::from_millis(input.number().into()),
            _ => {
                // The version is right: most inputs would be wasted on wrong ones.
                let flags = input.byte() & 0x3f;
                forged += 1;
                reports = reports.saturating_add(flags >> 5 & 1);
                let mut packet = vec![0x40 | flags];
                packet.extend(input.piece());
                let _ = end.receive(now, &packet, |_| {});
            }
        }
        end.expire(now);
        let mut at_once = 0;
        while end.transmit(now, &mut out).is_some() {
            assert!(out.len() <= config.mtu);
            packets += 1;
            at_once += 1;
            assert!(at_once < 200, "an endpoint sends without end");
        }
        assert!(end.timeout(now).is_none_or(|at| at > now), "all that was due was done");
        assert!(end.memory() <= afec_memory(3), "{} bytes", end.memory());
        while end.notice().is_some() {}
    }
    let most = 2 + now.as_millis() as u64 / 5;
    assert!(packets <= most + 60 * messages, "{packets} packets for {messages} messages");
    // More false packets that agree with each other are believed for a while.
    if forged < 6 && reports < 4 {
        receives(&mut end, config, now);
    }
});

fn opened(config: Config) -> Endpoint {
    let mut end = Endpoint::new(config);
    for (channel, order) in (0..).zip(ORDERS) {
        end.open(channel, Qos { order, ..Qos::new() }).expect("the QoS makes sense");
    }
    end
}

/// Checks that an endpoint receives the messages of a new, honest peer within a second.
fn receives(end: &mut Endpoint, config: Config, start: Duration) {
    let mut peer = opened(config);
    let mut packet = Vec::new();
    let mut delivered = [0; 3];
    for tick in 0..75 {
        let now = start + Duration::from_millis(tick * 33);
        end.expire(now);
        for channel in (0..3).filter(|_| tick < 60) {
            peer.send(now, channel, Submission::new(b"pointer 10 20"))
                .expect("the message is small");
        }
        while peer.transmit(now, &mut packet).is_some() {
            let _ = end.receive(now, &packet, |message| {
                delivered[message.channel.0 as usize] += u32::from(tick >= 30);
            });
        }
    }
    assert!(delivered.iter().all(|count| *count >= 25), "{delivered:?}: {end:?}");
}
