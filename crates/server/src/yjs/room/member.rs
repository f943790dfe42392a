//! A participant of a room in the server's own process: it drives the session's client, whose
//! packets go straight to the room's task.

use std::sync::Arc;
use std::time::Duration;

use groupwire_session::LinkId;
use groupwire_session::client::{Client, Config, Event, Input, Output};
use tokio::sync::{Semaphore, mpsc};
use tokio::time::{Instant, sleep_until};

use crate::ends::conn_info::{ConnInfo, IN_PROCESS};
use crate::rooms::directory::Directory;
use crate::rooms::refused::NotJoined;
use crate::rooms::task::{Close, Connection, Message, Outbound, TaskOutlet};
use crate::tools::outbox::{Outgoing, outbox};
use crate::tools::secret::random_number;
use crate::traces::{JoinTrace, Span};

/// Messages that may wait for this end: the three packets that a room has under way at most, and a
/// close.
const MAX_PACKETS: usize = 4;

/// Packets of this end that may wait for the room.
const MAX_UNREAD: u32 = 2;

/// See the [module](self).
pub(super) struct Member {
    client: Client,
    rooms: Arc<Directory>,
    started: Instant,
    link: LinkId,
    name: String,
    /// The sender of messages to the room; `None` before the member has joined.
    room: Option<mpsc::UnboundedSender<Message>>,
    packets: Option<Outgoing<Outbound>>,
    /// A permit for each packet that may wait for the room.
    unread: Arc<Semaphore>,
    /// Packets that were sent, and not yet reported to the client as read by the room.
    unreported: u32,
    /// When the client has to be called next, unless something happens before.
    at: Option<Instant>,
    /// True once nothing is sent or received any more.
    is_over: bool,
}

/// What happened while the member waited.
enum Happening {
    /// The room has sent a packet; `None` once it has ended.
    Packet(Option<Outbound>),
    /// The room has read a packet.
    Read,
    /// It is time to call the client.
    Due,
}

impl Member {
    /// A participant that joins the room as soon as it is polled.
    pub(super) fn new(rooms: Arc<Directory>, name: &str) -> Result<Self, groupwire_session::Error> {
        // Packets do not leave the process, so compression would gain nothing.
        let config =
            Config { seed: random_number(), compress: false, codecs: &[], ..Config::new(name) };
        let client = Client::new(Duration::ZERO, config)?;
        let link = rooms.next_link();
        Ok(Member {
            client,
            rooms,
            started: Instant::now(),
            link,
            name: name.to_owned(),
            room: None,
            packets: None,
            unread: Arc::new(Semaphore::new(MAX_UNREAD as usize)),
            unreported: 0,
            at: None,
            is_over: false,
        })
    }

    /// The client, for reading its state.
    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    /// The client, for giving it something to send. [`Member::wait`] then returns at once, so that
    /// the client is polled again.
    pub(super) fn client_mut(&mut self) -> &mut Client {
        self.at = Some(Instant::now());
        &mut self.client
    }

    /// The time on the client's clock.
    pub(super) fn now(&self) -> Duration {
        self.started.elapsed()
    }

    /// True once the room has ended, or has ended this participant.
    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Waits until something happens, and hands it to the client. The future may be dropped without
    /// losing anything.
    pub(super) async fn wait(&mut self) {
        if self.is_over {
            std::future::pending::<()>().await;
        }
        let packet = async {
            match &mut self.packets {
                Some(packets) => packets.next().await,
                None => std::future::pending().await,
            }
        };
        let due = async {
            match self.at {
                Some(at) => sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        // This many permits are free once the room has read one of the unreported packets.
        let free = self.unread.acquire_many((MAX_UNREAD + 1).saturating_sub(self.unreported));
        let happening = tokio::select! {
            packet = packet => Happening::Packet(packet),
            _ = free, if self.unreported > 0 => Happening::Read,
            () = due => Happening::Due,
        };
        match happening {
            Happening::Packet(packet) => self.receive(packet),
            Happening::Read => {
                self.unreported -= 1;
                self.input(Input::Sent);
            }
            Happening::Due => self.input(Input::Timeout),
        }
    }

    /// Carries out the client's outputs. Returns its events for the document.
    pub(super) fn poll(&mut self) -> Result<Vec<Event>, NotJoined> {
        let mut events = Vec::new();
        loop {
            let now = self.now();
            match self.client.poll_output(now) {
                Output::Event(event) => events.push(event),
                Output::Dial if self.room.is_none() => {
                    self.input(Input::Opened { max_datagram: 0 });
                }
                Output::Send(packet) => self.send(packet)?,
                // The client does not dial again: another room would be another document.
                Output::Dial | Output::Hangup => {
                    self.is_over = true;
                    return Ok(events);
                }
                Output::Datagram(_) => {}
                Output::Timeout(at) => {
                    self.at = at.map(|at| self.started + at);
                    return Ok(events);
                }
            }
        }
    }

    /// Leaves the room, so that others see at once that this participant has left.
    pub(super) fn leave(&mut self) {
        self.client.leave();
        let _ = self.poll();
    }

    fn input(&mut self, input: Input<'_>) {
        let now = self.now();
        self.client.handle_input(now, input);
    }

    fn receive(&mut self, packet: Option<Outbound>) {
        match packet {
            Some(Outbound::Packet(packet)) => {
                if let Some(room) = &self.room {
                    let _ = room.send(Message::Sent { link: self.link });
                }
                self.input(Input::Packet(&packet));
            }
            Some(Outbound::Close(close)) => {
                let Close { packet, reason } = *close;
                tracing::info!(room = self.name, ?reason, "the room ends the document");
                if !packet.is_empty() {
                    self.input(Input::Packet(&packet));
                }
                self.is_over = true;
            }
            None => self.is_over = true,
        }
    }

    fn send(&mut self, packet: Vec<u8>) -> Result<(), NotJoined> {
        self.unreported += 1;
        let packet = packet.into();
        let Some(room) = &self.room else {
            self.room = Some(self.join(packet)?);
            return Ok(());
        };
        // The client has as many packets under way as there are permits.
        let Ok(permit) = Arc::clone(&self.unread).try_acquire_owned() else {
            self.is_over = true;
            return Ok(());
        };
        let _ = room.send(Message::Packet { link: self.link, packet, _permit: permit.into() });
        Ok(())
    }

    /// Hands the client's first packet to the room.
    fn join(
        &mut self,
        opening: axum::body::Bytes,
    ) -> Result<mpsc::UnboundedSender<Message>, NotJoined> {
        let (outbound, packets) = outbox(MAX_PACKETS);
        self.packets = Some(packets);
        let (tokens, _) = outbox(1);
        let outlet = TaskOutlet {
            packets: outbound,
            datagrams: None,
            datagram_sink: None,
            tokens,
            brake: Arc::default(),
        };
        let connection = Connection {
            outlet: Box::new(outlet),
            socket_writer: None,
            trace: JoinTrace { join: Span::NONE, room: Span::NONE },
            opened_at: Instant::now(),
            handed_over_at: Instant::now(),
            info: ConnInfo { transport: IN_PROCESS, path: None },
        };
        let identity = self.rooms.own_identity();
        let connection = Box::new(connection);
        let join = Message::Join { link: self.link, opening, identity, connection };
        self.rooms.locate(&self.name).join(join)
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        if let Some(room) = &self.room {
            let _ = room.send(Message::Closed { link: self.link });
        }
    }
}
