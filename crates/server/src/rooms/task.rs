//! The task that drives one room: it feeds messages of connections to the room's state machine and
//! carries out the outputs of that state machine.

mod connection;
mod deliveries;
mod outlet;
mod outputs;
mod pacing;
mod publications;
mod requests;
mod visits;
mod writes;

use std::collections::HashMap;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use groupwire_quic::Fate;
use groupwire_session::room::{Input, Room, Stats};
use groupwire_session::{Error, Identity, LinkId, Opening, Owner, ParticipantId, Position};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

pub(crate) use connection::Connection;
pub(crate) use deliveries::Deliveries;
pub(crate) use outlet::{Close, Edge, EdgePermit, Outbound, Outlet, Permit, TaskOutlet};
use pacing::Pacing;
pub(crate) use publications::Refused;
use publications::{Permits, Publications, VISITORS};
pub(crate) use visits::NotTaken;
use visits::Visits;

use super::context::RoomContext;
use super::store::{RoomStore, Stage, StoreNews, Tell};
use crate::durable::StoreError;
use crate::ends::conn_info::IN_PROCESS;
use crate::ends::emulation::path::Path;
use crate::figures::events::Closing;
use crate::webhook::{Event as WebhookEvent, RoomEvents};

/// A message to a room's task.
///
/// The queue of these messages has no limit of its own, because all who fill it wait for the room.
/// Of a connection, whose number `--max-connections` limits, at most these wait: a join, 16 packets
/// and datagrams, each of which holds a permit until it is handled, the fates of the three packets
/// and 16 datagrams that the room has under way, two errors, an end, and one message for each token
/// that the room took from it, of which it takes a few hundred in a second. The store answers one
/// change at a time. Whoever has the token of the administration waits for the answer to each
/// request, and figures are asked for only of rooms that are not being loaded.
pub(crate) enum Message {
    /// The first packet of a connection, whose form is already checked, of a client that may join.
    /// The connection is boxed, because every message that may wait for the room takes the memory
    /// of the largest kind.
    Join { link: LinkId, opening: Bytes, identity: Identity, connection: Box<Connection> },
    /// To the server that has a room: another server has a mirror of it over this connection.
    Mirror { link: LinkId, room: String, connection: Box<Connection> },
    /// The participant's token was renewed.
    Renewed { link: LinkId, identity: Identity },
    /// The participant's token expires soon.
    TokenWanted { link: LinkId },
    /// The connection is one of another server. Its client is told where it reaches this one.
    Owner { link: LinkId, owner: Box<Owner> },
    /// A later packet. Its permit is released when the room has handled the packet; then the
    /// connection may read further.
    Packet { link: LinkId, packet: Bytes, _permit: Permit },
    /// A datagram. Its permit is released when the room has handled the datagram.
    Datagram { link: LinkId, packet: Bytes, _permit: Permit },
    /// The connection handed one packet to the kernel or to QUIC.
    Sent { link: LinkId },
    /// Connections to another server handed one packet each to the kernel or to QUIC.
    SentAll { links: Vec<LinkId> },
    /// The connection sent one datagram, or dropped it.
    DatagramGone { link: LinkId, fate: Fate },
    /// The client broke a rule of its transport.
    Fail { link: LinkId, error: Error },
    /// The connection is closed.
    Closed { link: LinkId },
    /// The server stops: close all connections, and tell each client when to come back.
    Shutdown,
    /// The store answered the room's last change, or may take the change that it refused.
    Store(StoreNews),
    /// What is stored of the room was deleted or replaced: it is loaded again.
    #[cfg_attr(not(unix), allow(dead_code, reason = "commands come over a Unix socket"))]
    EndStored,
    /// Another server has the room now, or may have it.
    Moved,
    /// Another room needs the room's place, which was offered ([`Leave::WhenNeeded`]).
    MakeWay,
    /// Asks for the room's counters.
    Stats { answer: oneshot::Sender<Stats> },
    /// A closure of another task, to be run with the room.
    Call(Call),
}

/// A room's queue holds memory for at least 32 messages, and its task for as many as came at once.
const _: () = assert!(size_of::<Message>() <= 112);

/// A closure that runs in the room's task, with the time since the room was created.
pub(crate) type Call = Box<dyn FnOnce(&mut Driver, Duration) + Send>;

/// Passes the store's news to the task of a room, as long as there is one.
pub(super) fn tell_room(task: mpsc::WeakUnboundedSender<Message>) -> Tell {
    Arc::new(move |news| {
        if let Some(task) = task.upgrade() {
            let _ = task.send(Message::Store(news));
        }
    })
}

/// Clients come back after this time if the store refuses their room.
const RETRY_AFTER_REFUSAL: Duration = Duration::from_millis(500);

/// A stored room stays open for this long without participants, because reloaded pages come back at
/// once. Later it is loaded from the store, which has all that a room keeps for people who come
/// back.
pub(crate) const KEEP_STORED: Duration = Duration::from_secs(2);

/// Most messages handled in one turn of the loop: a batch shares one look at the clock and one
/// round of outputs.
const BATCH: usize = 256;

/// What a room without participants asks of the directory.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Leave {
    /// To be removed, with the room's counters.
    Now(Closing, Stats),
    /// To be told by [`Message::MakeWay`] when another room needs its place, unless somebody comes
    /// before. Nobody loses anything then.
    WhenNeeded,
}

/// Runs a room until `leave` has removed it from the directory: once nobody is there or away, the
/// room is closed at once if it has no content, otherwise after `keep_empty`, or after
/// [`KEEP_STORED`] if it is stored. If further messages for the room are waiting, `leave` does
/// nothing and returns false, and the room keeps running.
pub(crate) async fn drive(
    room: Box<Room>,
    store: Option<RoomStore>,
    mut messages: mpsc::UnboundedReceiver<Message>,
    context: Arc<RoomContext>,
    leave: impl Fn(&mpsc::UnboundedReceiver<Message>, Leave) -> bool,
) {
    // Tells the rooms' log entries apart. A span is left out of logs below its level, hence the
    // highest one.
    let span = tracing::error_span!("room", room = room.name());
    let keep_empty = match &store {
        Some(_) => context.keep_empty.min(KEEP_STORED),
        None if room.is_mirror() => context.keep_empty.min(KEEP_STORED),
        None => context.keep_empty,
    };
    let mut driver = Driver::new(room, store, context);
    let started = driver.started;
    let runs_each = driver.webhook.as_ref().is_some_and(RoomEvents::tells_transactions);
    // It grows to what the room needs: most rooms never have many messages at a time.
    let mut batch = Vec::new();
    let mut pacing = Pacing::default();
    let mut wake = None;
    let mut empty = Empty::default();
    let mut alarm = pin!(tokio::time::sleep_until(started));
    loop {
        let next = [wake, empty.close_at].into_iter().flatten().min();
        // An alarm that is set too early is left as it is: the room is woken once for nothing,
        // which costs less than to set the alarm for each message.
        if let Some(at) = next
            && (alarm.is_elapsed() || at < alarm.deadline())
        {
            alarm.as_mut().reset(at);
        }
        tokio::select! {
            biased;
            count = messages.recv_many(&mut batch, BATCH) => if count == 0 { return },
            () = alarm.as_mut(), if next.is_some() => {}
        }
        let _logs_room = span.enter();
        let now = driver.started.elapsed();
        if let Some(lag) = wake.and_then(|at| (driver.started + now).checked_duration_since(at)) {
            driver.context.events.lags.add(lag);
            driver.context.arrivals.lagged(lag);
        }
        driver.room.gather();
        for message in batch.drain(..) {
            driver.handle(now, message);
            driver.observe();
            // The outputs of each message are carried out before the next message, so that the
            // webhook's events of transactions, joins and leaves keep their order.
            if runs_each {
                driver.run_outputs(now);
            }
            driver.publications.answer(driver.room.durable());
        }
        driver.room.handle_input(now, Input::Timeout);
        wake = driver.run_outputs(now);
        driver.tell_followers();
        let took = driver.started.elapsed().saturating_sub(now);
        let sent = driver.deliveries.take_sent();
        driver.end_if_cut_off(now);
        driver.room.space_ticks(pacing.turned((now, took), driver.room.last_tick(), sent));
        if driver.is_over {
            driver.tell_end();
            // Later messages are dropped with the room: their clients resume in the room that is
            // loaded next.
            while !leave(&messages, Leave::Now(Closing::Ended, driver.room.stats())) {
                while messages.try_recv().is_ok() {}
            }
            return;
        }
        let Some(asked) = driver.asks_to_leave(&mut empty, keep_empty) else { continue };
        if leave(&messages, asked)
            && let Leave::Now(why, _) = asked
        {
            let is_idle = driver.store.as_ref().is_none_or(RoomStore::is_idle);
            debug_assert!(is_idle, "a stored room that closes has stored everything");
            driver.tell_end();
            tracing::info!(why = why.name(), "room closed");
            return;
        }
    }
}

/// The account of a room without participants.
#[derive(Default)]
struct Empty {
    since: Option<Instant>,
    /// When the room is closed at the latest.
    close_at: Option<Instant>,
}

/// A room with its connections.
pub(crate) struct Driver {
    /// The time at which the room's clock is 0.
    started: Instant,
    /// Boxed, because the future of each async function that it passes through would hold memory
    /// for it.
    pub(crate) room: Box<Room>,
    pub(crate) deliveries: Deliveries,
    /// The emulated networks of single participants.
    emulated: HashMap<ParticipantId, Arc<Path>>,
    context: Arc<RoomContext>,
    /// The observer was told of the transactions up to this position.
    observed: Position,
    /// Where the room is stored; `None` if it ends with the server.
    store: Option<RoomStore>,
    /// Makes the room's events for the webhook; `None` if there is no webhook.
    webhook: Option<RoomEvents>,
    /// Publications of the administration that wait until they are durable.
    publications: Publications,
    visits: Visits,
    /// True once a client has joined. The server's own participants do not count.
    has_visitors: bool,
    /// True if another room needs the place, as long as nobody comes.
    makes_way: bool,
    /// True once the store refused the room, so that it has to end.
    is_over: bool,
}

impl Driver {
    fn new(room: Box<Room>, store: Option<RoomStore>, context: Arc<RoomContext>) -> Self {
        let started = Instant::now();
        // What happens in a mirror is told by the server that has the room.
        let webhook = context.webhook.clone().filter(|_| !room.is_mirror());
        let webhook = webhook.map(|queue| RoomEvents::new(queue, room.name()));
        Driver {
            started,
            room,
            deliveries: Deliveries::default(),
            emulated: HashMap::new(),
            context,
            observed: Position(0),
            store,
            webhook,
            publications: Publications::new(started),
            visits: Visits::new(Permits::new(VISITORS, started)),
            has_visitors: false,
            makes_way: false,
            is_over: false,
        }
    }

    /// What the room asks of the directory now; `None` if it has participants or keeps its place.
    fn asks_to_leave(&mut self, empty: &mut Empty, keep_empty: Duration) -> Option<Leave> {
        if !self.room.is_empty() {
            (*empty, self.makes_way) = (Empty::default(), false);
            return None;
        }
        let since = *empty.since.get_or_insert_with(Instant::now);
        if !self.store.as_ref().is_none_or(RoomStore::is_idle) {
            // The store's answer comes as a message, so that no alarm is needed.
            empty.close_at = None;
            return None;
        }
        empty.close_at = since.checked_add(keep_empty);
        match self.closing(since.elapsed() >= keep_empty) {
            Some(why) => Some(Leave::Now(why, self.room.stats())),
            None => self.store.as_ref().map(|_| Leave::WhenNeeded),
        }
    }

    /// Why the room, which has no participants, is closed now; `None` if it is kept. `was_kept`: it
    /// was kept for long enough.
    fn closing(&self, was_kept: bool) -> Option<Closing> {
        // If only the server's own participants have visited a stored room, the store has all of
        // it, and no client can resume.
        let is_stored_away = self.store.is_some() && !self.has_visitors;
        if !self.room.has_content() && !self.room.is_watched() {
            Some(Closing::NoContent)
        } else if is_stored_away || was_kept {
            Some(Closing::Unused)
        } else {
            self.makes_way.then_some(Closing::Evicted)
        }
    }

    fn handle(&mut self, now: Duration, message: Message) {
        match message {
            Message::Join { link, opening, identity, connection } => {
                self.join(now, link, &opening, &identity, *connection);
            }
            Message::Renewed { link, identity } => {
                self.room.handle_input(now, Input::Renewed { link, identity: &identity });
            }
            Message::TokenWanted { link } => {
                self.room.handle_input(now, Input::TokenWanted { link });
            }
            Message::Owner { link, owner } => {
                self.room.handle_input(now, Input::Owner { link, owner: &owner });
            }
            Message::Mirror { link, connection, .. } => {
                self.deliveries.connections.insert(link, *connection);
                self.room.handle_input(now, Input::Mirror { link });
            }
            Message::Packet { link, packet, .. } if self.room.has_mirror(link) => {
                let (packet, secrets) = (&packet[..], &*self.context.secrets);
                self.room.handle_input(now, Input::MirrorPacket { link, packet, secrets });
            }
            Message::Packet { link, packet, .. } => {
                self.room.handle_input(now, Input::Packet { link, packet: &packet });
            }
            Message::Datagram { link, packet, .. } => {
                self.room.handle_input(now, Input::Datagram { link, packet: &packet });
            }
            Message::Sent { link } => self.room.handle_input(now, Input::Sent { link }),
            Message::SentAll { links } => {
                for link in links {
                    self.room.handle_input(now, Input::Sent { link });
                }
            }
            Message::DatagramGone { link, fate } => {
                let input = match fate {
                    Fate::Sent => Input::DatagramSent { link },
                    Fate::Dropped => Input::DatagramDropped { link },
                };
                self.room.handle_input(now, input);
            }
            Message::Fail { link, error } => {
                self.room.handle_input(now, Input::Fail { link, error });
            }
            Message::Closed { link } => {
                self.deliveries.connections.remove(link);
                self.deliveries.shrink();
                self.room.handle_input(now, Input::Closed { link });
            }
            Message::Shutdown => {
                let drain = &self.context.drain;
                let (retry, step) =
                    (drain.take_times(self.deliveries.connections.len()), drain.step());
                self.room.handle_input(now, Input::Shutdown { retry, step });
            }
            Message::Store(news) => self.on_store_news(now, news),
            Message::EndStored if self.store.is_some() => {
                tracing::info!("the stored room was deleted or replaced: it is loaded again");
                self.end(now);
            }
            Message::EndStored => {}
            Message::Moved => {
                tracing::info!("the room ends here: another server may have it");
                self.end(now);
            }
            Message::MakeWay => self.makes_way = true,
            Message::Stats { answer } => drop(answer.send(self.room.stats())),
            Message::Call(call) => call(self, now),
        }
    }

    /// Passes new transactions to the observer, and to the webhook if the room is not stored.
    fn observe(&mut self) {
        let webhook = self.webhook.as_ref();
        let webhook = webhook.filter(|it| self.store.is_none() && it.tells_transactions());
        if (self.context.observer.is_none() && webhook.is_none()) || self.room.is_mirror() {
            return;
        }
        let mut events = Vec::new();
        for transaction in self.room.transactions_after(self.observed) {
            self.observed = transaction.position;
            if let Some(observer) = &self.context.observer {
                observer.ordered(self.room.name(), &transaction);
            }
            events.extend(webhook.map(|webhook| webhook.transaction(&transaction)));
        }
        self.send_events(events);
    }

    /// Passes events to the webhook.
    fn send_events(&mut self, events: Vec<WebhookEvent>) {
        let Some(webhook) = self.webhook.as_ref().filter(|_| !events.is_empty()) else { return };
        match &mut self.store {
            Some(store) => store.send_events(events),
            None => webhook.queue.put(self.room.name(), events),
        }
    }

    /// Tells the webhook that the room ends.
    fn tell_end(&mut self) {
        if let Some(webhook) = &mut self.webhook {
            let events = webhook.ended();
            webhook.queue.put(self.room.name(), events);
        }
    }

    fn join(
        &mut self,
        now: Duration,
        link: LinkId,
        opening: &[u8],
        identity: &Identity,
        connection: Connection,
    ) {
        let max_datagram = connection.outlet.max_datagram();
        // The time of loading the room is left out, because it does not show how busy the server
        // is.
        let waited_since = connection.handed_over_at.max(self.started);
        self.has_visitors |= connection.info.transport != IN_PROCESS;
        self.deliveries.connections.insert(link, connection);
        let opening = Opening::read(opening);
        let secrets = &*self.context.secrets;
        let input = match &opening {
            Ok(opening) => Input::Join { link, opening, identity, secrets, max_datagram },
            Err(error) => Input::Fail { link, error: error.clone() },
        };
        self.room.handle_input(now, input);
        self.context.arrivals.served(waited_since.elapsed());
    }

    /// Tells the room what has become durable, or ends it if the store refuses it.
    fn on_store_news(&mut self, now: Duration, news: StoreNews) {
        let Some(store) = &mut self.store else { return };
        match store.on_news(news) {
            Ok(None) => {}
            Ok(Some(Stage { position, reserved })) => {
                let position = position.unwrap_or_default();
                let reserved = reserved.unwrap_or_default();
                self.room.handle_input(now, Input::Durable { position, reserved });
            }
            // The room has moved, which `Message::Moved` tells, too.
            Err(StoreError::Moved) => self.end(now),
            Err(error) => {
                tracing::error!(%error, "the store refuses the room: it is loaded again");
                self.end(now);
            }
        }
    }

    /// Ends a mirror that has lost its room. Its clients come back to another one, or to the room.
    fn end_if_cut_off(&mut self, now: Duration) {
        if !self.room.has_ended() || self.is_over {
            return;
        }
        tracing::info!("the mirror ends: the server that has the room is gone, or refused it");
        self.is_over = true;
        let (retry, step) = (RETRY_AFTER_REFUSAL, self.context.drain.step());
        self.room.handle_input(now, Input::Shutdown { retry, step });
        self.run_outputs(now);
    }

    /// Disconnects everybody and ends the room, which is loaded when its participants come back.
    fn end(&mut self, now: Duration) {
        self.is_over = true;
        self.room.handle_input(
            now,
            Input::Shutdown { retry: RETRY_AFTER_REFUSAL, step: Duration::ZERO },
        );
    }
}

#[cfg(test)]
mod tests;
