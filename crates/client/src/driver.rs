//! The task that drives one session: it feeds what the transport receives to the session's state
//! machine and carries out the outputs of that state machine.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use groupwire_quic::Fate;
use groupwire_session::Owner;
use groupwire_session::client::Input;
use tokio::time::sleep;
use tokio_tungstenite::tungstenite::Bytes;

use crate::address::Address;
use crate::error::Error;
use crate::owner::address_of;
use crate::shared::{Next, Outgoing, Progress, SharedSession};
use crate::tls::TlsConfigs;
use crate::transport::Transport;
use crate::transport::event::TransportEvent;
use crate::trust::Trust;
use crate::world::World;

/// A transport that is being opened.
type Dialing = Pin<Box<dyn Future<Output = Result<Transport, Error>> + Send>>;

/// The state of the transport.
enum TransportState {
    None,
    /// The session wants a transport. It is opened once the application has read enough of the
    /// events that wait for it.
    Wanted,
    Dialing(Dialing),
    Open(Transport),
}

/// What happened while the driver waited for the transport.
enum TransportNews {
    Opened(Result<Transport, Error>),
    /// A transport to the server that has the room is open, beside the one in use.
    Direct(Transport),
    Transport(TransportEvent),
}

impl TransportState {
    async fn next(&mut self, read: bool) -> TransportNews {
        match self {
            TransportState::None | TransportState::Wanted => std::future::pending().await,
            TransportState::Dialing(dialing) => TransportNews::Opened(dialing.await),
            TransportState::Open(transport) => TransportNews::Transport(transport.next(read).await),
        }
    }
}

/// The way of a session from the server that it has connected to the one that has its room (wire
/// W117).
enum Direct {
    /// The session stays where it is.
    No,
    /// A transport to the other server is being opened.
    Dialing(Dialing),
    /// The transport in use leads to the other server.
    Yes,
}

impl Direct {
    async fn next(&mut self) -> Result<Transport, Error> {
        match self {
            Direct::Dialing(dialing) => dialing.await,
            Direct::No | Direct::Yes => std::future::pending().await,
        }
    }
}

/// Opens transports.
pub(crate) enum Dialer {
    Sockets(Sockets),
    World(Arc<dyn World>),
}

/// Opens transports to an address.
pub(crate) struct Sockets {
    pub(crate) address: Arc<Address>,
    pub(crate) trust: Arc<Trust>,
    pub(crate) configs: Arc<TlsConfigs>,
}

impl Dialer {
    fn dial(&self) -> Dialing {
        match self {
            Dialer::Sockets(sockets) => sockets.dial_to(Arc::clone(&sockets.address)),
            Dialer::World(world) => {
                let dialing = world.dial();
                Box::pin(async move {
                    let unreachable = |source| Error::Unreachable {
                        url: "the server".to_owned(),
                        source: Arc::new(source),
                    };
                    dialing.await.map(Transport::Link).map_err(unreachable)
                })
            }
        }
    }

    /// Dials the server that has the room, if its address is one for this client.
    fn dial_owner(&self, owner: &Owner) -> Direct {
        match self {
            Dialer::Sockets(sockets) => sockets.dial_owner(owner),
            // A world has one server.
            Dialer::World(_) => Direct::No,
        }
    }
}

impl Sockets {
    fn dial_owner(&self, owner: &Owner) -> Direct {
        let Some(address) = address_of(owner, &self.address, &self.trust) else {
            return Direct::No;
        };
        let (dialing, after) = (self.dial_to(Arc::new(address)), owner.after);
        Direct::Dialing(Box::pin(async move {
            sleep(after).await;
            dialing.await
        }))
    }

    fn dial_to(&self, address: Arc<Address>) -> Dialing {
        let (trust, configs) = (Arc::clone(&self.trust), Arc::clone(&self.configs));
        Box::pin(async move { Transport::dial(&address, &trust, &configs).await })
    }
}

/// Drives the session until it ends.
pub(crate) async fn drive(shared: Arc<SharedSession>, dialer: Dialer) {
    let mut transport_state = TransportState::None;
    let mut direct = Direct::No;
    let mut outgoing = Vec::new();
    let mut news: Option<TransportNews> = None;
    let mut timer = shared.timer();
    loop {
        let next = turn(&shared, &mut transport_state, news.take(), &mut outgoing);
        if let TransportState::Open(transport) = &mut transport_state {
            for one in outgoing.drain(..) {
                match one {
                    Outgoing::Packet(packet) => transport.send(packet),
                    Outgoing::Datagram(packet, needs) => transport.send_datagram(packet, needs),
                }
            }
        } else {
            direct = Direct::No;
        }
        outgoing.clear();
        let at = match next {
            Next::Wait(at) => at,
            Next::Dial => {
                debug_assert!(
                    matches!(transport_state, TransportState::None),
                    "the session dials only without a transport"
                );
                transport_state = TransportState::Wanted;
                continue;
            }
            Next::Hangup => {
                if let TransportState::Open(transport) =
                    std::mem::replace(&mut transport_state, TransportState::None)
                {
                    transport.close().await;
                }
                news = Some(TransportNews::Transport(TransportEvent::Closed));
                continue;
            }
            Next::Move(owner) => {
                if matches!(direct, Direct::No) {
                    direct = dialer.dial_owner(&owner);
                }
                continue;
            }
            Next::End => break,
        };
        let credit = shared.has_credit();
        if credit && matches!(transport_state, TransportState::Wanted) {
            transport_state = TransportState::Dialing(dialer.dial());
        }
        if let Some(at) = at {
            timer.set(at);
        }
        // In this order, so that simulations repeat exactly. Each branch leads to a turn, which
        // does what the others wait for, too.
        tokio::select! {
            biased;
            dialled = direct.next() => match dialled {
                Ok(transport) => {
                    direct = Direct::Yes;
                    news = Some(TransportNews::Direct(transport));
                }
                // The session stays where it is.
                Err(_) => direct = Direct::No,
            },
            occurred = transport_state.next(credit) => news = Some(occurred),
            () = shared.wake.notified() => {}
            () = &mut timer, if at.is_some() => {}
        }
    }
    shared.event_ready.notify_one();
}

/// Feeds `news` to the session, or a timeout if there is no news. Returns what the driver has to do
/// next.
fn turn(
    shared: &SharedSession,
    transport_state: &mut TransportState,
    news: Option<TransportNews>,
    outgoing: &mut Vec<Outgoing>,
) -> Next {
    debug_assert!(outgoing.is_empty(), "packets of the last turn were sent or dropped");
    debug_assert!(
        match &news {
            None | Some(TransportNews::Transport(TransportEvent::Closed)) => true,
            Some(TransportNews::Opened(_)) => matches!(transport_state, TransportState::Dialing(_)),
            Some(TransportNews::Direct(_) | TransportNews::Transport(_)) =>
                matches!(transport_state, TransportState::Open(_)),
        },
        "a transport opens after dialling, and only an open one has events"
    );
    let packet: Bytes;
    let mut inputs = Vec::new();
    match news {
        None => inputs.push(Input::Timeout),
        Some(TransportNews::Opened(Ok(transport))) => {
            inputs.push(Input::Opened { max_datagram: transport.max_datagram() });
            *transport_state = TransportState::Open(transport);
        }
        Some(TransportNews::Direct(transport)) => {
            inputs.push(Input::Opened { max_datagram: transport.max_datagram() });
            let before = std::mem::replace(transport_state, TransportState::Open(transport));
            if let TransportState::Open(before) = before {
                tokio::spawn(before.close());
            }
        }
        Some(TransportNews::Opened(Err(error))) => {
            *transport_state = TransportState::None;
            shared.progress.send_replace(Progress::Unreachable(error));
            inputs.push(Input::Closed);
        }
        Some(TransportNews::Transport(TransportEvent::Packet(bytes))) => {
            packet = bytes;
            inputs.push(Input::Packet(&packet));
        }
        Some(TransportNews::Transport(TransportEvent::Datagram(bytes))) => {
            packet = bytes;
            inputs.push(Input::Datagram(&packet));
        }
        Some(TransportNews::Transport(TransportEvent::DatagramGone(fate))) => {
            inputs.push(match fate {
                Fate::Sent => Input::DatagramSent,
                Fate::Dropped => Input::DatagramDropped,
            });
        }
        Some(TransportNews::Transport(TransportEvent::Sent(count))) => {
            inputs.extend((0..count).map(|_| Input::Sent));
        }
        Some(TransportNews::Transport(TransportEvent::Closed)) => {
            *transport_state = TransportState::None;
            inputs.push(Input::Closed);
        }
    }
    shared.turn(&mut inputs, outgoing)
}
