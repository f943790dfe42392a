//! FEC-n of the AFEC paper (section 3.3): each packet carries its own message and whole copies of the last n.

use std::collections::VecDeque;
use std::time::Duration;

use super::{Carrier, End, Output, Scheme};

/// Silence after which a cluster of messages is over, and what it owes of repeats goes in packets of their own, as far
/// apart: one and a half intervals at 30 messages per second. The paper names no time.
const CLUSTER_END: Duration = Duration::from_millis(50);

/// How many messages back a receiver tells repeats from news: four times what a packet can repeat.
const WINDOW: u16 = 128;

/// FEC-n: copies of the last `n` messages in each packet, 32 at most. What the paper calls FEC-3 repeats three.
///
/// A packet is the number of its newest message (16 bits, little-endian), and then the messages, newest first, each
/// behind a byte for its length.
#[derive(Debug, Clone, Copy)]
pub struct RepeatLast(pub u8);

impl Scheme for RepeatLast {
    fn carrier(&self) -> Carrier {
        Carrier::Udp
    }

    fn ends(&self) -> (Box<dyn End>, Box<dyn End>) {
        let n = usize::from(self.0.min(32));
        let sender = Sender {
            n,
            history: VecDeque::new(),
            number: 0,
            packets: VecDeque::new(),
            closing: 0,
            due: None,
        };
        (Box::new(sender), Box::<Receiver>::default())
    }
}

#[derive(Debug)]
struct Sender {
    n: usize,
    /// The newest message and the n before it, newest first.
    history: VecDeque<Vec<u8>>,
    /// Of the newest message.
    number: u16,
    packets: VecDeque<Vec<u8>>,
    /// How many packets have repeated the newest message.
    closing: usize,
    /// When the cluster is over, or the next packet at its end goes.
    due: Option<Duration>,
}

impl Sender {
    /// Sends the newest messages again that are still to be repeated.
    fn packet(&mut self, now: Duration) {
        let mut packet = self.number.to_le_bytes().to_vec();
        for message in self.history.iter().take(self.n + 1 - self.closing) {
            // Telepointers are small; a longer message is cut, and the measurement fails.
            packet.push(message.len().min(255) as u8);
            packet.extend_from_slice(&message[..message.len().min(255)]);
        }
        self.packets.push_back(packet);
        self.due = (self.closing < self.n).then_some(now + CLUSTER_END);
    }
}

impl End for Sender {
    fn send(&mut self, now: Duration, message: &[u8]) {
        self.number = self.number.wrapping_add(1);
        self.history.push_front(message.to_vec());
        self.history.truncate(self.n + 1);
        self.closing = 0;
        self.packet(now);
    }

    fn receive(&mut self, _now: Duration, _packet: &[u8]) {}

    fn poll(&mut self, now: Duration) -> Option<Output> {
        if self.due.is_some_and(|due| due <= now) {
            self.closing += 1;
            self.packet(now);
        }
        self.packets.pop_front().map(Output::Packet)
    }

    fn due(&self) -> Option<Duration> {
        self.due
    }
}

#[derive(Debug, Default)]
struct Receiver {
    /// Of the newest message that has come.
    newest: Option<u16>,
    /// A bit for each of the last messages that has come, the newest lowest.
    come: u128,
    messages: VecDeque<Vec<u8>>,
}

impl Receiver {
    /// Whether this message comes for the first time, which is noted.
    fn is_new(&mut self, number: u16) -> bool {
        let newest = *self.newest.get_or_insert(number.wrapping_sub(1));
        let ahead = number.wrapping_sub(newest);
        if (1..=i16::MAX as u16).contains(&ahead) {
            self.come = self.come.checked_shl(ahead.into()).unwrap_or(0);
            self.newest = Some(number);
        }
        let back = self.newest.unwrap_or(number).wrapping_sub(number);
        let is_new = back < WINDOW && self.come >> back & 1 == 0;
        if is_new {
            self.come |= 1 << back;
        }
        is_new
    }
}

impl End for Receiver {
    fn send(&mut self, _now: Duration, _message: &[u8]) {}

    fn receive(&mut self, _now: Duration, packet: &[u8]) {
        let Some((number, mut rest)) = packet.split_first_chunk() else {
            return;
        };
        let mut number = u16::from_le_bytes(*number);
        let mut messages = Vec::new();
        while let Some((len, more)) = rest.split_first()
            && let Some((message, more)) = more.split_at_checked(usize::from(*len))
        {
            messages.push((number, message));
            number = number.wrapping_sub(1);
            rest = more;
        }
        // Oldest first, as they were sent.
        for (number, message) in messages.into_iter().rev() {
            if self.is_new(number) {
                self.messages.push_back(message.to_vec());
            }
        }
    }

    fn poll(&mut self, _now: Duration) -> Option<Output> {
        self.messages.pop_front().map(Output::Message)
    }

    fn due(&self) -> Option<Duration> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn packets(end: &mut dyn End, now: Duration) -> Vec<Vec<u8>> {
        let outputs = std::iter::from_fn(|| end.poll(now));
        outputs
            .map(|output| match output {
                Output::Packet(packet) => packet,
                Output::Message(message) => message,
            })
            .collect()
    }

    #[test]
    fn each_message_goes_in_its_packet_and_the_next_two_even_at_the_end() {
        let (mut sender, _) = RepeatLast(2).ends();
        let mut sent = Vec::new();
        for n in 0..4u8 {
            sender.send(MS * u32::from(n) * 33, &[n]);
            sent.extend(packets(&mut *sender, MS * u32::from(n) * 33));
        }
        let first_end = 99 * MS + CLUSTER_END;
        assert_eq!(sender.due(), Some(first_end));
        assert!(packets(&mut *sender, first_end - MS).is_empty());
        sent.extend(packets(&mut *sender, first_end));
        sent.extend(packets(&mut *sender, first_end + CLUSTER_END));
        assert_eq!(sender.due(), None);
        let expected: [&[u8]; 6] = [
            &[1, 0, 1, 0],
            &[2, 0, 1, 1, 1, 0],
            &[3, 0, 1, 2, 1, 1, 1, 0],
            &[4, 0, 1, 3, 1, 2, 1, 1],
            &[4, 0, 1, 3, 1, 2],
            &[4, 0, 1, 3],
        ];
        assert_eq!(sent, expected);
    }

    #[test]
    fn repeats_fill_gaps_oldest_first_and_once() {
        let (mut sender, mut receiver) = RepeatLast(3).ends();
        let mut come = Vec::new();
        for n in 0..70_000u32 {
            sender.send(Duration::ZERO, &n.to_le_bytes());
            for packet in packets(&mut *sender, Duration::ZERO) {
                // Three of four are lost; what comes twice, or late, changes nothing.
                if n % 4 == 0 {
                    receiver.receive(Duration::ZERO, &packet);
                    receiver.receive(Duration::ZERO, &packet);
                }
            }
            come.extend(packets(&mut *receiver, Duration::ZERO));
        }
        let come = come.iter().map(|one| u32::from_le_bytes(one[..].try_into().unwrap()));
        assert!(come.eq(0..69_997));
        for damaged in [&[][..], &[1], &[1, 0], &[1, 0, 9, 1], &[1, 0, 0, 0, 0]] {
            receiver.receive(Duration::ZERO, damaged);
        }
    }
}
