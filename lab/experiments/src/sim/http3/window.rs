//! The congestion window: Groupwire's own, or NewReno's.

use std::time::Duration;

use groupwire_quic::Congestion;
use groupwire_session::PathNeeds;

use super::packet::MTU;
use super::recovery::Sent;
use super::{Ends, Side};

/// Packets of NewReno's first window, and of its smallest (RFC 9002, 7.2).
const INITIAL: usize = 10 * MTU;
const LEAST: usize = 2 * MTU;

#[derive(Debug)]
pub(super) enum Window {
    /// The window of the native client and the server.
    Ours(Box<Congestion>),
    /// The window of a browser, and of a server with quinn's own settings, approximately.
    Reno(Reno),
}

#[derive(Debug)]
pub(super) struct Reno {
    /// The window in bytes.
    window: usize,
    threshold: usize,
    /// Losses of packets that were sent before this time have already reduced the window.
    recovering_since: Option<Duration>,
}

impl Window {
    pub(super) fn new(ends: Ends, side: Side) -> Self {
        match (ends, side) {
            (Ends::Native, _) | (Ends::Browser, Side::Server) => {
                Window::Ours(Box::new(Congestion::new(MTU as u16)))
            }
            (Ends::Browser, Side::Client) | (Ends::Plain, _) => Window::Reno(Reno {
                window: INITIAL,
                threshold: usize::MAX,
                recovering_since: None,
            }),
        }
    }

    pub(super) fn set_needs(&mut self, needs: PathNeeds) {
        if let Window::Ours(ours) = self {
            ours.set_minimum_rate(needs.minimum_rate);
            ours.set_limited(needs.is_limited);
        }
    }

    pub(super) fn bytes(&self, now: Duration) -> u64 {
        match self {
            Window::Ours(ours) => ours.window(now),
            Window::Reno(reno) => reno.window as u64,
        }
    }

    pub(super) fn on_sent(&mut self, now: Duration, bytes: usize) {
        if let Window::Ours(ours) = self {
            ours.on_sent(now, bytes as u64);
        }
    }

    pub(super) fn on_round_trip(&mut self, now: Duration, round_trip: Duration) {
        if let Window::Ours(ours) = self {
            ours.on_round_trip(now, round_trip);
        }
    }

    pub(super) fn on_acknowledged(&mut self, now: Duration, sent: &Sent, is_idle: bool) {
        match self {
            Window::Ours(ours) => ours.on_acknowledged(now, sent.at, sent.bytes as u64, is_idle),
            Window::Reno(reno) => reno.grow(sent),
        }
    }

    pub(super) fn on_lost(&mut self, now: Duration, sent: &Sent) {
        match self {
            Window::Ours(ours) => ours.on_lost(now, sent.at, sent.bytes as u64),
            Window::Reno(reno) => reno.shrink(now, sent.at),
        }
    }
}

impl Reno {
    /// Slow start grows by the acknowledged bytes, later by a packet for each window.
    fn grow(&mut self, sent: &Sent) {
        if self.recovering_since.is_some_and(|since| sent.at <= since) {
            return;
        }
        self.window += match self.window < self.threshold {
            true => sent.bytes,
            false => MTU * sent.bytes / self.window,
        };
    }

    fn shrink(&mut self, now: Duration, sent_at: Duration) {
        if self.recovering_since.is_none_or(|since| sent_at > since) {
            self.recovering_since = Some(now);
            self.window = (self.window / 2).max(LEAST);
            self.threshold = self.window;
        }
    }
}
