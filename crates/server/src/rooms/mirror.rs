//! Opens mirrors of rooms that other servers have (docs/cluster.md). A mirror is driven as a room.
//! To the connection to the other server it is one client more.

use std::sync::Arc;

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
        let (mirror, owner) = (End::Mirror(sender.downgrade()), End::Owner(owner.clone()));
        let to_owner = connection(Way { from: mirror.clone(), to: owner.clone(), link });
        let from_owner = connection(Way { from: owner, to: mirror, link });
        let insert = move |driver: &mut Driver, _| {
            driver.deliveries.connections.insert(link, to_owner);
        };
        let _ = sender.send(Message::Call(Box::new(insert)));
        let _ = sender.send(message);
        mirrors.insert(name, sender.clone());
        mirrors.set_ready(name);
        drop(mirrors);
        self.connect(link, from_owner, &sender);
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
    fn connect(&self, link: LinkId, from_owner: Connection, mirror: &UnboundedSender<Message>) {
        let connection = Box::new(from_owner);
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

/// One direction between a mirror and the connection to its room's server: takes what one end
/// sends, and passes it to the other one.
struct Way {
    from: End,
    to: End,
    link: LinkId,
}

/// An end of that connection.
#[derive(Clone)]
enum End {
    Owner(UnboundedSender<Message>),
    Mirror(WeakUnboundedSender<Message>),
}

impl End {
    /// Sends a message, which is dropped if the end is gone.
    fn send(&self, message: Message) {
        let _ = match self {
            End::Owner(owner) => owner.send(message),
            End::Mirror(mirror) => mirror.upgrade().map_or(Ok(()), |mirror| mirror.send(message)),
        };
    }
}

impl Outlet for Way {
    fn packet(&self, packet: Vec<u8>) {
        let edge = Arc::new(self.from.clone());
        let _permit = Permit::Edge { _permit: EdgePermit::new(edge, self.link.0) };
        self.to.send(Message::Packet { link: self.link, packet: packet.into(), _permit });
    }

    fn close(&self, _: Close) {
        self.to.send(Message::Closed { link: self.link });
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

impl Drop for Way {
    /// The end that sends is gone. A second message of that does nothing.
    fn drop(&mut self) {
        self.to.send(Message::Closed { link: self.link });
    }
}

impl Edge for End {
    fn shared(&self, _: &[u64], _: &[u8]) {}

    /// The other end has handled a packet of this one.
    fn handled(&self, link: u64) {
        self.send(Message::Sent { link: LinkId(link) });
    }
}
