//! Schemes that add nothing.

use std::collections::VecDeque;
use std::time::Duration;

use super::{Carrier, End, Output, Scheme};

/// A message per datagram.
#[derive(Debug, Clone, Copy)]
pub struct Udp;

/// The kernel's TCP, each message written at once behind its length.
#[derive(Debug, Clone, Copy)]
pub struct Tcp;

impl Scheme for Udp {
    fn carrier(&self) -> Carrier {
        Carrier::Udp
    }

    fn ends(&self) -> (Box<dyn End>, Box<dyn End>) {
        (Box::<Bare>::default(), Box::<Bare>::default())
    }
}

impl Scheme for Tcp {
    fn carrier(&self) -> Carrier {
        Carrier::Tcp
    }

    fn ends(&self) -> (Box<dyn End>, Box<dyn End>) {
        Udp.ends()
    }
}

#[derive(Debug, Default)]
struct Bare(VecDeque<Output>);

impl End for Bare {
    fn send(&mut self, _now: Duration, message: &[u8]) {
        self.0.push_back(Output::Packet(message.to_vec()));
    }

    fn receive(&mut self, _now: Duration, packet: &[u8]) {
        self.0.push_back(Output::Message(packet.to_vec()));
    }

    fn poll(&mut self, _now: Duration) -> Option<Output> {
        self.0.pop_front()
    }

    fn due(&self) -> Option<Duration> {
        None
    }
}
