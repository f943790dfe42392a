//! Opens mirrors of rooms that other servers have (docs/cluster.md). A mirror is driven as a room.
//! To the connection to the other server it is one client more.

use std::sync::Arc;

use axum::body::Bytes;
use groupwire_session::{LinkId, Room, room};
use tokio::sync::mpsc::{self, UnboundedSender, WeakUnboundedSender};
use tokio::time::Instant;

use super::authority::SharedAuthority;
use super::costs;
use super::directory::Directory;
use super::refused::NotJoined;
use super::task::{Close, Connection, Driver, Edge, EdgePermit, Message, Outlet, Permit, drive};
use crate::ends::Datagram;
use crate::ends::conn_info::{ConnInfo, IN_PROCESS, MIRROR};
use crate::traces::{JoinTrace, Span};

/// A handle of the mirror of a room that another server has, open or not.
pub(crate) struct MirrorRoom<'a> {
    pub(super) directory: &'a Arc<Directory>,
    pub(super) name: &'a str,
    /// Leads to the server that has the room.
    pub(super) owner: UnboundedSender<Message>,
}

impl MirrorRoom<'_> {
    /// Hands the message with which a connection joins to the mirror, which is opened if it is not
    /// open. Returns the sender of further messages.
    ///
    /// # Errors
    /// The server stops.
    pub(super) fn join(&self, message: Message) -> Result<UnboundedSender<Message>, NotJoined> {
        let MirrorRoom { directory, name, owner } = self;
        // The rights of a server's own participants mean something only where their room is.
        if let Message::Join { connection, .. } = &message
            && connection.info.transport == IN_PROCESS
        {
            let _ = owner.send(message);
            return Ok(owner.clone());
        }
        // The lock is held, so that the mirror cannot close between the look-up and the message.
        let mut mirrors = directory.mirrors();
        let drain = &directory.context.drain;
        if drain.is_due() {
            return Err(NotJoined::stopping(drain));
        }
        let message = match mirrors.enter(name) {
            None => message,
            Some(mirror) => match mirror.send(message) {
                Ok(()) => return Ok(mirror.clone()),
                Err(mpsc::error::SendError(message)) => message,
            },
        };
        // How many messages may wait is said at `Message`.
        let (sender, messages) = mpsc::unbounded_channel();
        let link = directory.next_link();
        let to_owner =
            connection(ToOwner { owner: owner.clone(), mirror: sender.downgrade(), link });
        let insert = move |driver: &mut Driver, _| {
            driver.deliveries.connections.insert(link, to_owner);
        };
        let _ = sender.send(Message::Call(Box::new(insert)));
        let _ = sender.send(message);
        mirrors.insert(name, sender.clone());
        mirrors.set_ready(name);
        drop(mirrors);
        self.connect(link, &sender);
        let own = directory.own_identity();
        let context = Arc::clone(&directory.context);
        let authority = Box::new(SharedAuthority::new(Arc::clone(&context.authority), own));
        let config = room::Config {
            name: (*name).to_owned(),
            costs: costs::known(),
            ..context.config.clone()
        };
        let room = Box::new(Room::mirror(config, authority, link));
        let (directory, own_name) = (Arc::clone(directory), (*name).to_owned());
        tokio::spawn(async move {
            let leave = |waiting: &_, leave| directory.leave_mirror(&own_name, waiting, leave);
            drive(room, None, messages, context, leave).await;
        });
        tracing::info!(room = name, "mirror opened");
        Ok(sender)
    }

    /// Asks the room's server to let the mirror in.
    fn connect(&self, link: LinkId, mirror: &UnboundedSender<Message>) {
        let from_owner = FromOwner { owner: self.owner.clone(), mirror: mirror.downgrade(), link };
        let connection = Box::new(connection(from_owner));
        let asks = Message::Mirror { link, room: self.name.to_owned(), connection };
        if self.owner.send(asks).is_err() {
            let _ = mirror.send(Message::Closed { link });
        }
    }
}

fn connection(outlet: impl Outlet + 'static) -> Connection {
    Connection {
        outlet: Box::new(outlet),
        socket_writer: None,
        trace: JoinTrace { join: Span::NONE, room: Span::NONE },
        opened_at: Instant::now(),
        handed_over_at: Instant::now(),
        info: ConnInfo { transport: MIRROR, path: None },
    }
}

/// Takes what the mirror sends to its room.
struct ToOwner {
    owner: UnboundedSender<Message>,
    mirror: WeakUnboundedSender<Message>,
    link: LinkId,
}

/// Takes what the room sends to the mirror.
struct FromOwner {
    owner: UnboundedSender<Message>,
    mirror: WeakUnboundedSender<Message>,
    link: LinkId,
}

/// Tells an end that the other one has handled a packet.
enum Handled {
    ToOwner(UnboundedSender<Message>),
    ToMirror(WeakUnboundedSender<Message>),
}

impl Outlet for ToOwner {
    fn packet(&self, packet: Vec<u8>) {
        let handled = Handled::ToMirror(self.mirror.clone());
        let _ = self.owner.send(message(self.link, packet.into(), handled));
    }

    fn close(&self, _: Close) {
        let _ = self.owner.send(Message::Closed { link: self.link });
    }

    fn max_datagram(&self) -> usize {
        0
    }

    fn datagram(&self, _: Datagram) -> bool {
        false
    }

    fn shared_datagram(&self, _: [&[u8]; 2], _: bool) {}

    fn token(&self, _: Vec<u8>) {}

    fn hold(&self, _: Instant) {}
}

impl Drop for ToOwner {
    /// The mirror has ended. A second message of that does nothing.
    fn drop(&mut self) {
        let _ = self.owner.send(Message::Closed { link: self.link });
    }
}

impl Outlet for FromOwner {
    fn packet(&self, packet: Vec<u8>) {
        if let Some(mirror) = self.mirror.upgrade() {
            let handled = Handled::ToOwner(self.owner.clone());
            let _ = mirror.send(message(self.link, packet.into(), handled));
        }
    }

    fn close(&self, _: Close) {
        if let Some(mirror) = self.mirror.upgrade() {
            let _ = mirror.send(Message::Closed { link: self.link });
        }
    }

    fn max_datagram(&self) -> usize {
        0
    }

    fn datagram(&self, _: Datagram) -> bool {
        false
    }

    fn shared_datagram(&self, _: [&[u8]; 2], _: bool) {}

    fn token(&self, _: Vec<u8>) {}

    fn hold(&self, _: Instant) {}
}

impl Drop for FromOwner {
    /// The connection to the room's server has ended.
    fn drop(&mut self) {
        self.close(Close { packet: Vec::new(), reason: None });
    }
}

/// A packet, which `handled` is told of once the other end has handled it.
fn message(link: LinkId, packet: Bytes, handled: Handled) -> Message {
    let _permit = Permit::Edge { _permit: EdgePermit::new(Arc::new(handled), link.0) };
    Message::Packet { link, packet, _permit }
}

impl Edge for Handled {
    fn shared(&self, _: &[u64], _: &[u8]) {}

    fn handled(&self, link: u64) {
        let end = match self {
            Handled::ToOwner(owner) => Some(owner.clone()),
            Handled::ToMirror(mirror) => mirror.upgrade(),
        };
        if let Some(end) = end {
            let _ = end.send(Message::Sent { link: LinkId(link) });
        }
    }
}
