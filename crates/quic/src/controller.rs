//! Implements quinn's interface for congestion controllers with [`Congestion`].

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerFactory};
use wtransport::quinn;

use crate::congestion::Congestion;

/// Makes the congestion control of each path. quinn asks for one per connection, and for another
/// after a migration.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ConversationFactory;

/// What the session needs of a path. All copies of a congestion control that quinn makes share it.
#[derive(Debug, Default)]
pub(crate) struct Needs {
    minimum_rate: AtomicU32,
    is_limited: AtomicBool,
    /// True from a change of this end's address until the congestion control has started over.
    has_moved: AtomicBool,
}

impl Needs {
    /// The needs of the connection's present path. `None` if its congestion control is not one of
    /// this crate.
    pub(crate) fn of(connection: &quinn::Connection) -> Option<Arc<Needs>> {
        let control = connection.congestion_state().into_any().downcast::<ConversationControl>();
        Some(control.ok()?.needs)
    }

    pub(crate) fn set(&self, minimum_rate: u32, is_limited: bool) {
        self.minimum_rate.store(minimum_rate, Ordering::Relaxed);
        self.is_limited.store(is_limited, Ordering::Relaxed);
    }

    /// Makes the congestion control start over at the next packet, because its measurements are of
    /// another path.
    pub(crate) fn start_over(&self) {
        self.has_moved.store(true, Ordering::Relaxed);
    }

    fn pass_to(&self, congestion: &mut Congestion) {
        if self.has_moved.load(Ordering::Relaxed) && self.has_moved.swap(false, Ordering::Relaxed) {
            congestion.start_over();
        }
        congestion.set_minimum_rate(self.minimum_rate.load(Ordering::Relaxed));
        congestion.set_limited(self.is_limited.load(Ordering::Relaxed));
    }
}

/// The congestion control of a path, for quinn.
#[derive(Debug, Clone)]
pub(crate) struct ConversationControl {
    congestion: Congestion,
    needs: Arc<Needs>,
    /// The time 0 of the congestion control.
    start: Instant,
    initial: u64,
    /// The smoothed round trip as quinn last showed it.
    smoothed: Option<Duration>,
}

impl ControllerFactory for ConversationFactory {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        let congestion = Congestion::new(current_mtu);
        let initial = congestion.window(Duration::ZERO);
        Box::new(ConversationControl {
            congestion,
            needs: Arc::default(),
            start: now,
            initial,
            smoothed: None,
        })
    }
}

impl Controller for ConversationControl {
    fn on_sent(&mut self, now: Instant, bytes: u64, _: u64) {
        self.needs.pass_to(&mut self.congestion);
        self.congestion.on_sent(self.since_start(now), bytes);
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        let (now, sent) = (self.since_start(now), self.since_start(sent));
        if let Some(latest) = self.latest(rtt) {
            self.congestion.on_round_trip(now, latest);
        }
        self.congestion.on_acknowledged(now, sent, bytes, app_limited);
    }

    fn on_end_acks(&mut self, _: Instant, in_flight: u64, _: bool, _: Option<u64>) {
        self.congestion.set_in_flight(in_flight);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        lost_bytes: u64,
    ) {
        let (now, sent) = (self.since_start(now), self.since_start(sent));
        match lost_bytes {
            0 => self.congestion.on_marked(now, sent),
            bytes => self.congestion.on_lost(now, sent, bytes),
        }
        if is_persistent_congestion {
            self.congestion.on_outage(now);
        }
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.congestion.set_packet(new_mtu);
    }

    fn window(&self) -> u64 {
        self.congestion.window(self.since_start(Instant::now()))
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        self.initial
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

impl ConversationControl {
    fn since_start(&self, at: Instant) -> Duration {
        at.saturating_duration_since(self.start)
    }

    /// The newest round trip without the delay of its acknowledgement, if there is a new one. quinn
    /// shows only the smoothed round trip, which each measurement moves by an eighth of the
    /// difference (RFC 9002, section 5.3).
    fn latest(&mut self, rtt: &RttEstimator) -> Option<Duration> {
        let smoothed = rtt.get();
        let before = self.smoothed.replace(smoothed)?;
        // quinn's first measurement replaces its assumed round trip as a whole, so that this
        // difference would be far too large.
        let latest = (8 * smoothed).saturating_sub(7 * before);
        let latest = latest.min(rtt.conservative()).max(rtt.min());
        (smoothed != before).then_some(latest)
    }
}

#[cfg(test)]
mod tests {
    use wtransport::{ClientConfig, Endpoint, Identity, ServerConfig};

    use super::*;
    use crate::{End, settings};

    #[tokio::test(flavor = "multi_thread")]
    async fn t24_both_ends_have_it_and_hear_what_the_session_needs() {
        let address = ([127, 0, 0, 1], 0).into();
        let transport = |end| Arc::new(settings(end, 65_536, Duration::from_secs(30)));
        let identity = Identity::self_signed(["localhost"]).unwrap();
        let hash = identity.certificate_chain().as_slice()[0].hash();
        let server = ServerConfig::builder().with_bind_address(address).with_identity(identity);
        let mut server = server.build();
        server.quic_config_mut().transport_config(transport(End::Server));
        let listening = Endpoint::server(server).unwrap();
        let client = ClientConfig::builder().with_bind_address(address);
        let mut client = client.with_server_certificate_hashes([hash]).build();
        client.quic_config_mut().transport_config(transport(End::Client));
        let dialling = Endpoint::client(client).unwrap();

        let accepting = async { listening.accept().await.await.unwrap().accept().await.unwrap() };
        let url = format!("https://{}/wt", listening.local_addr().unwrap());
        let (client, server) = tokio::join!(dialling.connect(url), accepting);
        for connection in [client.unwrap(), server] {
            let quic = connection.quic_connection();
            Needs::of(quic).unwrap().set(1234, true);
            let mut congestion = Congestion::new(1200);
            let needs = Needs::of(quic).unwrap();
            assert_eq!(needs.minimum_rate.load(Ordering::Relaxed), 1234);
            // With the limit a loss counts as congestion.
            needs.pass_to(&mut congestion);
            congestion.on_lost(Duration::ZERO, Duration::ZERO, 100);
            assert_eq!(congestion.window(Duration::ZERO), 8400);
            // After a move of this end the measurements are of another path.
            needs.start_over();
            needs.pass_to(&mut congestion);
            assert_eq!(congestion.window(Duration::ZERO), 12_000);
            needs.pass_to(&mut congestion);
            congestion.on_lost(Duration::from_millis(2), Duration::from_millis(1), 100);
            assert_eq!(congestion.window(Duration::from_millis(2)), 8400, "once");
        }
    }
}
