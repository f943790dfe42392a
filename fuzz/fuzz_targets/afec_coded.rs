//! An endpoint whose caller codes the packets (`Endpoint::transmit_with`) gets any headers, and
//! messages with any numbers, at any times: it does not panic, keeps its limits of memory and
//! packets, and soon receives from an honest peer.
//!
//! The input is a configuration and steps.

#![no_main]

use std::time::Duration;

use groupwire_afec::{Arrival, Config, Endpoint, Order, Planned, Qos, Submission};
use groupwire_fuzz::{Input, afec_memory, afec_scheme};
use libfuzzer_sys::fuzz_target;

const ORDERS: [Order; 2] = [Order::AsTheyCome, Order::Newest];
/// The bytes of a payload. All have the same value, so that one byte codes it.
const PAYLOAD: usize = 16;
/// The bytes of a message as this target codes it.
const CODED: usize = 12;

fuzz_target!(|data: &[u8]| {
    let mut input = Input::new(data);
    let price = if input.byte() & 1 == 1 { Some(4.0) } else { None };
    let config =
        Config { scheme: afec_scheme(&mut input), repeat_price: price, ..Config::default() };
    let mut end = opened(config);
    let mut now = Duration::ZERO;
    let (mut packets, mut messages) = (0, 0);
    let mut forged = 0;
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
                // The message belongs to the last packet.
                let index = input.number();
                let key =
                    (step & 8 != 0).then(|| (u32::from(step >> 5), u32::from(input.number())));
                let age = Duration::from_millis(u64::from(input.number()) << (step >> 4 & 3) * 8);
                let (channel, repeated) = (u32::from(step >> 4) % 3, step & 16 != 0);
                let came = end.on_message(
                    now,
                    &Arrival { channel: channel.into(), index, key, age, repeated },
                );
                assert_eq!(came.is_err(), channel == 2);
                forged += 1;
            }
            5 => {
                let channel = u32::from(step >> 3) % 2;
                let deadline = Duration::from_millis(50 + u64::from(input.byte()) * 8);
                let target = f64::from(input.byte()) / 300.0;
                let changed = Qos { target, deadline, ..qos(channel) };
                end.set_qos(channel, changed, changed, step & 16 == 0);
                forged += 1;
            }
            _ => {
                // The version is right: most inputs would be wasted on wrong ones.
                let flags = input.byte() & 0x3f;
                forged += 1;
                let mut packet = vec![0x40 | flags];
                packet.extend(input.piece());
                let _ = end.receive_header(now, &packet);
            }
        }
        let mut at_once = 0;
        while let Some(packet) = made(&mut end, config, now) {
            assert!(!packet.is_empty());
            packets += 1;
            at_once += 1;
            assert!(at_once < 200, "an endpoint sends without end");
        }
        assert!(end.timeout(now).is_none_or(|at| at > now), "all that was due was done");
        assert!(end.memory() <= afec_memory(2), "{} bytes", end.memory());
        while end.notice().is_some() {}
    }
    let most = 2 + now.as_millis() as u64 / 5;
    assert!(packets <= most + 60 * messages, "{packets} packets for {messages} messages");
    // After many false packets some values are believed for long.
    if forged < 4 {
        receives(&mut end, config, now);
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

/// The next packet: its header, and for each message its numbers and one byte of its payload.
fn made(end: &mut Endpoint, config: Config, now: Duration) -> Option<Vec<u8>> {
    end.expire(now);
    let (mut packet, mut body, mut count) = (Vec::new(), Vec::new(), 0);
    let take = |message: Planned<'_>| {
        count += 1;
        assert!(message.payload.iter().all(|byte| *byte == message.payload[0]));
        body.push(message.channel.0 as u8);
        body.extend(message.index.to_le_bytes());
        body.extend((message.back as u16).to_le_bytes());
        body.extend(message.age.to_le_bytes());
        body.extend([u8::from(message.repeated), message.payload[0], message.payload.len() as u8]);
    };
    let planned = end.transmit_with(now, false, &mut packet, take)?;
    assert_eq!(count, planned.new + planned.repeated);
    assert_eq!(body.len(), CODED * count as usize);
    assert!(packet.len() <= config.mtu, "a header of {} bytes", packet.len());
    packet.extend(body);
    end.on_sent(now, packet.len());
    end.on_coded(planned.bytes as usize, CODED * count as usize);
    Some(packet)
}

/// Checks that an endpoint receives the messages of an honest peer after a second at the latest.
fn receives(end: &mut Endpoint, config: Config, start: Duration) {
    let mut peer = opened(config);
    let before = [0, 1].map(|channel| judged(end, channel));
    for tick in 0..105 {
        let now = start + Duration::from_millis(tick * 33);
        for channel in (0..2).filter(|_| (30..90).contains(&tick)) {
            peer.submit(now, channel, Submission::new(&[9; PAYLOAD])).expect("the channel is open");
        }
        while let Some(packet) = made(&mut peer, config, now) {
            let Ok(header) = end.receive_header(now, &packet) else { continue };
            for message in header.rest.chunks_exact(CODED) {
                let number = |at: usize| u16::from_le_bytes([message[at], message[at + 1]]);
                let channel = u32::from(message[0]);
                let key = (channel == 1).then(|| (0, u32::from(number(3))));
                let age = Duration::from_millis(number(5).into());
                let came = Arrival {
                    channel: channel.into(),
                    index: number(1),
                    key,
                    age,
                    repeated: message[9] != 0,
                };
                end.on_message(now, &came).expect("the channel is open");
            }
        }
        end.expire(now);
    }
    for channel in [0, 1] {
        let judged = judged(end, channel) - before[channel as usize];
        assert!(judged >= 25, "{judged} of 60 on {channel}: {end:?}");
    }
}

fn judged(end: &Endpoint, channel: u32) -> u64 {
    end.received(channel).map_or(0, |stats| stats.judged)
}
