//! Two endpoints and a link that loses, duplicates, reorders and damages packets: every message
//! that is delivered was sent, and is delivered once and by its deadline.
//!
//! The input is a scheme and steps.

#![no_main]

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use groupwire_afec::{Config, Delivery, Endpoint, Order, Qos, Submission};
use groupwire_fuzz::{Input, afec_scheme};
use libfuzzer_sys::fuzz_target;

const ORDERS: [Order; 3] = [Order::AsTheyCome, Order::AsTheyCome, Order::Newest];
/// The least delay of a packet.
const DELAY: Duration = Duration::from_millis(20);
/// By this much a message may be late: before the round trip is known an endpoint takes messages
/// for younger than they are, and it counts in ms.
const UNKNOWN: Duration = Duration::from_millis(22);
/// The longest time that a network holds a packet: with clocks and numbers of 16 bits an older
/// packet looks like a new one.
const LIFETIME: Duration = Duration::from_secs(15);
/// The most packets that travel in a direction.
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
    /// The packets to each end, with their earliest times of arrival.
    travelling: [Vec<(Duration, Vec<u8>)>; 2],
    deliveries: Deliveries,
    packet: Vec<u8>,
}

/// The messages that were sent to each end and delivered there.
#[derive(Default)]
struct Deliveries {
    sent: BTreeMap<(usize, u32, u32), Duration>,
    count: u32,
    came: BTreeSet<(usize, u32, u32)>,
    /// Whether packets were damaged: then any message may come.
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
            deliveries: Deliveries::default(),
            packet: Vec::new(),
        }
    }

    fn send(&mut self, end: usize, channel: u32, input: &mut Input<'_>) {
        let deliveries = &mut self.deliveries;
        deliveries.count += 1;
        deliveries.sent.insert((1 - end, channel, deliveries.count), self.now);
        let mut payload = deliveries.count.to_be_bytes().to_vec();
        payload.resize(4 + usize::from(input.byte()), 7);
        let message = Submission { key: deliveries.count % 4, ..Submission::new(&payload) };
        self.ends[end].send(self.now, channel, message).expect("the message is small");
        self.work();
    }

    fn pass(&mut self, ms: u64) {
        let until = self.now + Duration::from_millis(ms);
        while let Some(at) = self.ends.iter().filter_map(|end| end.timeout(self.now)).min() {
            if at > until {
                break;
            }
            assert!(at > self.now, "all work that was due is done");
            self.now = at;
            self.work();
        }
        self.now = until;
        self.work();
    }

    /// Sends messages at a steady rate for a while, with some losses.
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

    fn deliver(&mut self, end: usize, place: usize, duplicate: bool) {
        let packets = &mut self.travelling[end];
        if packets.is_empty() {
            return;
        }
        let place = place % packets.len();
        let (at, packet) = if duplicate { packets[place].clone() } else { packets.remove(place) };
        if at > self.now {
            self.pass((at - self.now).as_millis() as u64 + 1);
        }
        if self.now > at + LIFETIME {
            return;
        }
        let (now, deliveries) = (self.now, &mut self.deliveries);
        let _ = self.ends[end].receive(now, &packet, |message| deliveries.add(now, end, &message));
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
            self.deliveries.damaged = true;
        }
    }

    /// Lets both ends do the work that is due.
    fn work(&mut self) {
        for end in [0, 1] {
            let now = self.now;
            self.ends[end].expire(now);
            let mut packets = 0;
            while self.ends[end].transmit(now, &mut self.packet).is_some() {
                packets += 1;
                assert!(packets < 200, "an endpoint sends without end");
                let travelling = &mut self.travelling[1 - end];
                travelling.push((now + DELAY, self.packet.clone()));
                if travelling.len() > TRAVELLING {
                    travelling.remove(0);
                }
            }
            while self.ends[end].notice().is_some() {}
        }
    }
}

impl Deliveries {
    fn add(&mut self, now: Duration, end: usize, message: &Delivery<'_>) {
        if self.damaged {
            return;
        }
        let (number, _) =
            message.payload.split_first_chunk().expect("a payload begins with a number");
        let number = u32::from_be_bytes(*number);
        let key = (end, message.channel.0, number);
        assert!(self.sent.contains_key(&key), "the message was sent: {message:?}");
        assert!(self.came.insert(key), "the message comes once: {message:?}");
        assert!(
            message.age <= Qos::new().deadline + UNKNOWN,
            "the message comes in time: {message:?}"
        );
        assert!(message.age <= now);
    }
}
