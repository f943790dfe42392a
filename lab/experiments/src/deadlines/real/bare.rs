//! The kernel's transports with nothing added.

use std::collections::VecDeque;
use std::time::Duration;

use super::{Carrier, End, Output, Scheme};

/// Each message in a packet of its own: a datagram, or written to a TCP connection at once behind
/// its length.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plain(pub(crate) Carrier);

impl Scheme for Plain {
    fn carrier(&self) -> Carrier {
        self.0
    }

    fn end(&self) -> Box<dyn End> {
        Box::<Bare>::default()
    }
}

#[derive(Debug, Default)]
struct Bare(VecDeque<Output>);

impl End for Bare {
    fn send(&mut self, _now: Duration, _age: Duration, message: &[u8]) {
        self.0.push_back(Output::Packet(message.to_vec()));
    }

    fn receive(&mut self, _now: Duration, packet: &[u8]) {
        // Nothing in the packet says how old its message is.
        self.0.push_back(Output::Message(Duration::ZERO, packet.to_vec()));
    }

    fn poll(&mut self, _now: Duration) -> Option<Output> {
        self.0.pop_front()
    }

    fn due(&self) -> Option<Duration> {
        None
    }
}
