//! Two endpoints and a link that loses, repeats, reorders and damages: what comes undamaged was sent, comes once and by
//! its deadline.
//!
//! The input is a scheme and steps.

#![no_main]

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use groupwire_afec::{Config, Delivery, Endpoint, Order, Qos, Submission};
use groupwire_fuzz::{Input, afec_scheme};
use libfuzzer_sys::fuzz_target;

const ORDERS: [Order; 3] = [Order::AsTheyCome, Order::InOrder, Order::Newest];
/// What a packet takes at least.
const WAY: Duration = Duration::from_millis(20);
/// Before the round trip is known an endpoint takes messages for younger than they are, and it counts in ms.
const UNKNOWN: Duration = Duration::from_millis(22);
/// No network holds a packet for longer: clocks and numbers of 16 bits would not tell it from a new one.
const LIFETIME: Duration = Duration::from_secs(15);
/// Packets on their way in a direction.
const TRAVELLING: usize = 200;

fuzz_target!(|data: &[u8]| {
    let mut input = Input::new(data);
    let mut link = Link::new(afec_scheme(&mut input));
    while !input.is_empty() {
        let step = input.byte();
        let end = usize::from(step >> 7);
        match step & 0x7f {
            0..50 => link.send(end, u32::from(step) % 3, &mut input),
            50..70 => link.pass(u64::from(step & 0x1f) + 5),
            70..100 => link.deliver(end, 0, false),
            100..106 => link.deliver(end, input.byte().into(), false),
            106..112 => link.deliver(end, input.byte().into(), true),
            112..120 => link.lose(end, input.byte().into()),
            120..122 => link.damage(end, &mut input),
            122 => link.pass(input.number().into()),
            _ => link.run(&mut input),
        }
    }
});

struct Link {
    now: Duration,
    ends: [Endpoint; 2],
    /// Packets to each end: the earliest arrival, and whether they may come again.
    travelling: [Vec<(Duration, Vec<u8>)>; 2],
    heard: Heard,
    packet: Vec<u8>,
}

/// What was sent to and heard by each end.
#[derive(Default)]
struct Heard {
    sent: BTreeMap<(usize, u32, u32), Duration>,
    count: u32,
    came: BTreeSet<(usize, u32, u32)>,
    in_order: [Option<u32>; 2],
    /// Packets were damaged: there is no telling what comes.
    damaged: bool,
}

impl Link {
    fn new(scheme: groupwire_afec::Scheme) -> Self {
        let config = Config { scheme, ..Config::default() };
        let end = || {
            let mut end = Endpoint::new(config);
            for (channel, order) in (0..).zip(ORDERS) {
                end.open(channel, Qos { order, ..Qos::new() }).expect("the QoS makes sense");
            }
            end
        };
        Link {
            now: Duration::ZERO,
            ends: [end(), end()],
            travelling: [Vec::new(), Vec::new()],
            heard: Heard::default(),
            packet: Vec::new(),
        }
    }

    fn send(&mut self, end: usize, channel: u32, input: &mut Input<'_>) {
        let heard = &mut self.heard;
        heard.count += 1;
        heard.sent.insert((1 - end, channel, heard.count), self.now);
        let mut payload = heard.count.to_be_bytes().to_vec();
        payload.resize(4 + usize::from(input.byte()), 7);
        let message = Submission { key: heard.count % 4, ..Submission::new(&payload) };
        self.ends[end].send(self.now, channel, message).expect("it is small");
        self.work();
    }

    fn pass(&mut self, ms: u64) {
        let until = self.now + Duration::from_millis(ms);
        while let Some(at) = self.ends.iter().filter_map(|end| end.timeout(self.now)).min() {
            if at > until {
                break;
            }
            assert!(at > self.now, "what was due is done");
            self.now = at;
            self.work();
        }
        self.now = until;
        self.work();
    }

    /// A steady conversation for a while, with some loss.
    fn run(&mut self, input: &mut Input<'_>) {
        let losses = input.number();
        for nth in 0..16u32 {
            self.send(0, nth % 3, &mut Input::new(&[12]));
            self.pass(33);
            if losses >> nth & 1 == 1 {
                self.lose(1, 0);
            }
            for end in [0, 1] {
                while !self.travelling[end].is_empty() {
                    self.deliver(end, 0, false);
                }
            }
        }
    }

    fn deliver(&mut self, end: usize, place: usize, again: bool) {
        let packets = &mut self.travelling[end];
        if packets.is_empty() {
            return;
        }
        let place = place % packets.len();
        let (at, packet) = if again { packets[place].clone() } else { packets.remove(place) };
        if at > self.now {
            self.pass((at - self.now).as_millis() as u64 + 1);
        }
        if self.now > at + LIFETIME {
            return;
        }
        let (now, heard) = (self.now, &mut self.heard);
        let _ = self.ends[end].receive(now, &packet, |message| heard.hears(now, end, &message));
        self.work();
    }

    fn lose(&mut self, end: usize, place: usize) {
        let packets = &mut self.travelling[end];
        if !packets.is_empty() {
            packets.remove(place % packets.len());
        }
    }

    fn damage(&mut self, end: usize, input: &mut Input<'_>) {
        if let Some((_, packet)) = self.travelling[end].last_mut() {
            let place = input.place(packet.len());
            packet[place] ^= input.byte();
            self.heard.damaged = true;
        }
    }

    /// Lets both ends do what is due.
    fn work(&mut self) {
        for end in [0, 1] {
            let (now, heard) = (self.now, &mut self.heard);
            self.ends[end].expire(now, |message| heard.hears(now, end, &message));
            let mut packets = 0;
            while self.ends[end].transmit(now, &mut self.packet).is_some() {
                packets += 1;
                assert!(packets < 200, "it sends without end");
                let travelling = &mut self.travelling[1 - end];
                travelling.push((now + WAY, self.packet.clone()));
                if travelling.len() > TRAVELLING {
                    travelling.remove(0);
                }
            }
            while self.ends[end].notice().is_some() {}
        }
    }
}

impl Heard {
    fn hears(&mut self, now: Duration, end: usize, message: &Delivery<'_>) {
        if self.damaged {
            return;
        }
        let (number, _) = message.payload.split_first_chunk().expect("all are as long");
        let number = u32::from_be_bytes(*number);
        let key = (end, message.channel, number);
        assert!(self.sent.contains_key(&key), "it was sent: {message:?}");
        assert!(self.came.insert(key), "it comes once: {message:?}");
        assert!(message.age <= Qos::new().deadline + UNKNOWN, "it comes in time: {message:?}");
        assert!(message.age <= now);
        if message.channel == 1 {
            let last = self.in_order[end].replace(message.index);
            assert!(last < Some(message.index), "in order: {message:?} after {last:?}");
        }
    }
}
