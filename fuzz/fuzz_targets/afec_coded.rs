//! An endpoint whose caller codes the packets (`Endpoint::transmit_with`), and which gets any fronts, and messages of any
//! numbers, at any times: it stands, stays small, sends no more than it says, and hears an honest peer soon.
//!
//! The input is a configuration and steps.

#![no_main]

use std::time::Duration;

use groupwire_afec::{Came, Config, Endpoint, Order, Planned, Qos, Submission};
use groupwire_fuzz::{Input, afec_scheme};
use libfuzzer_sys::fuzz_target;

const ORDERS: [Order; 2] = [Order::AsTheyCome, Order::Newest];
/// What a channel may take in each direction.
const CHANNEL: usize = 16 * 1024;
/// A payload is as many times its first octet, so that what is planned can be coded in one.
const PAYLOAD: usize = 16;
/// Octets of a message as it travels here.
const CODED: usize = 12;

fuzz_target!(|data: &[u8]| {
    let mut input = Input::new(data);
    let price = if input.byte() & 1 == 1 { Some(4.0) } else { None };
    let config =
        Config { scheme: afec_scheme(&mut input), repeat_price: price, ..Config::default() };
    let mut end = opened(config);
    let mut now = Duration::ZERO;
    let (mut packets, mut messages) = (0, 0);
    let mut lies = 0;
    while !input.is_empty() {
        let step = input.byte();
        match step & 7 {
            0 => {
                let channel = u32::from(step >> 3) % 2;
                let payload = [step; PAYLOAD];
                let message = Submission { key: u32::from(step >> 5), ..Submission::new(&payload) };
                end.submit(now, channel, message).expect("the channel is open");
                messages += 1;
            }
            1..=2 => now += Duration::from_millis(u64::from(step >> 3)),
            3 => now += Duration::from_millis(input.number().into()),
            4 => {
                // It was said to be in the last packet.
                let index = input.number();
                let key =
                    (step & 8 != 0).then(|| (u32::from(step >> 5), u32::from(input.number())));
                let age = Duration::from_millis(u64::from(input.number()) << (step >> 4 & 3) * 8);
                let (channel, repeated) = (u32::from(step >> 4) % 3, step & 16 != 0);
                let came = end.came(now, &Came { channel, index, key, age, repeated });
                assert_eq!(came.is_err(), channel == 2);
                lies += 1;
            }
            5 => {
                let channel = u32::from(step >> 3) % 2;
                let deadline = Duration::from_millis(50 + u64::from(input.byte()) * 8);
                let target = f64::from(input.byte()) / 300.0;
                let changed = Qos { target, deadline, ..qos(channel) };
                end.change(channel, changed, changed);
                lies += 1;
            }
            _ => {
                // Of the right version, so that no input is wasted on that.
                let flags = input.byte() & 0x3f;
                lies += 1;
                let mut packet = vec![0x40 | flags];
                packet.extend(input.piece());
                let _ = end.receive_front(now, &packet);
            }
        }
        let mut at_once = 0;
        while let Some(packet) = made(&mut end, config, now) {
            assert!(!packet.is_empty());
            packets += 1;
            at_once += 1;
            assert!(at_once < 200, "it sends without end");
        }
        assert!(end.timeout(now).is_none_or(|at| at > now), "all that was due was done");
        assert!(end.memory() <= 2 * 2 * CHANNEL, "{} bytes", end.memory());
        while end.notice().is_some() {}
    }
    let most = 2 + now.as_millis() as u64 / 5;
    assert!(packets <= most + 60 * messages, "{packets} packets for {messages} messages");
    // Of many lies some are believed for long.
    if lies < 4 {
        hears(&mut end, config, now);
    }
});

fn qos(channel: u32) -> Qos {
    Qos { order: ORDERS[channel as usize], ..Qos::new() }
}

fn opened(config: Config) -> Endpoint {
    let mut end = Endpoint::new(config);
    (0..2).for_each(|channel| end.open(channel, qos(channel)).expect("the QoS makes sense"));
    end
}

/// The next packet: its front, and each message as numbers and one octet of its payload.
fn made(end: &mut Endpoint, config: Config, now: Duration) -> Option<Vec<u8>> {
    end.expire(now, |_| {});
    let (mut packet, mut body, mut count) = (Vec::new(), Vec::new(), 0);
    let take = |message: Planned<'_>| {
        count += 1;
        assert!(message.payload.iter().all(|octet| *octet == message.payload[0]));
        body.push(message.channel as u8);
        body.extend(message.index.to_le_bytes());
        body.extend((message.back as u16).to_le_bytes());
        body.extend(message.age.to_le_bytes());
        body.extend([u8::from(message.repeated), message.payload[0], message.payload.len() as u8]);
    };
    let planned = end.transmit_with(now, false, &mut packet, take)?;
    assert_eq!(count, planned.new + planned.repeated);
    assert_eq!(body.len(), CODED * count as usize);
    assert!(packet.len() <= config.mtu, "a front of {} octets", packet.len());
    packet.extend(body);
    end.went(now, packet.len());
    end.coded(planned.bytes as usize, CODED * count as usize);
    Some(packet)
}

/// A peer that talks for two seconds is heard after one at the latest.
fn hears(end: &mut Endpoint, config: Config, start: Duration) {
    let mut peer = opened(config);
    let before = [0, 1].map(|channel| judged(end, channel));
    for tick in 0..105 {
        let now = start + Duration::from_millis(tick * 33);
        for channel in (0..2).filter(|_| (30..90).contains(&tick)) {
            peer.submit(now, channel, Submission::new(&[9; PAYLOAD])).expect("the channel is open");
        }
        while let Some(packet) = made(&mut peer, config, now) {
            let Ok(front) = end.receive_front(now, &packet) else { continue };
            for message in front.rest.chunks_exact(CODED) {
                let number = |at: usize| u16::from_le_bytes([message[at], message[at + 1]]);
                let channel = u32::from(message[0]);
                let key = (channel == 1).then(|| (0, u32::from(number(3))));
                let age = Duration::from_millis(number(5).into());
                let came = Came { channel, index: number(1), key, age, repeated: message[9] != 0 };
                end.came(now, &came).expect("the channel is open");
            }
        }
        end.expire(now, |_| {});
    }
    for channel in [0, 1] {
        let heard = judged(end, channel) - before[channel as usize];
        assert!(heard >= 25, "{heard} of 60 on {channel}: {end:?}");
    }
}

fn judged(end: &Endpoint, channel: u32) -> u64 {
    end.received(channel).map_or(0, |stats| stats.judged)
}
