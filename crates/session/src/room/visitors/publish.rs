//! Publishes messages of visitors: with their rights, on their account, and once for each request.

use alloc::string::ToString;
use core::time::Duration;

use super::{NotAccepted, VisitorMessage};
use crate::room::Room;
use crate::room::administration::{NotPublished, Published};
use crate::room::api::Event;
use crate::room::common::Common;
use crate::room::log::{Log, Value};
use crate::room::peer::Peer;
use crate::{Access, ChannelNo, Index, Kind, ParticipantId, Qos};

impl Room {
    /// Publishes a message of a [visitor](Room::visit). A transaction needs the key of a request,
    /// and is published only once for it.
    ///
    /// ```
    /// use core::time::Duration;
    /// use groupwire_session::room::{
    ///     Config, Publication, Published, RequestKey, Room, Visit, VisitorMessage,
    /// };
    /// use groupwire_session::{AllowAll, Identity, Qos};
    ///
    /// let now = Duration::ZERO;
    /// let mut room = Room::new(Config::new("demo", 1), Box::new(AllowAll));
    /// let ann = room.visit(now, &Visit { identity: &Identity::default(), name: "" }).unwrap();
    /// let request = Some(RequestKey { key: [7; 16], content: [0; 8] });
    /// let publication =
    ///     Publication { channel: "log", bytes: b"green", text: true, key: None, request };
    /// let message = VisitorMessage { publication, create: Some(Qos::transaction()) };
    /// let repeated = |room: &mut Room| match room.publish_for(now, ann, &message) {
    ///     Ok(Published::Transaction { repeated, .. }) => repeated,
    ///     other => panic!("{other:?}"),
    /// };
    /// assert_eq!((repeated(&mut room), repeated(&mut room)), (false, true));
    /// ```
    ///
    /// # Errors
    /// [`NotAccepted`] says why nothing was published.
    pub fn publish_for(
        &mut self,
        now: Duration,
        visitor: ParticipantId,
        message: &VisitorMessage<'_>,
    ) -> Result<Published, NotAccepted> {
        let VisitorMessage { publication, create } = *message;
        self.common.now = now;
        self.check_publication(&publication).map_err(failed)?;
        let Room { peers, common, visitors, .. } = self;
        let peer = peers.get_mut(&visitor).ok_or(NotAccepted::Gone)?;
        let seat = visitors.seats.get_mut(&visitor).ok_or(NotAccepted::Gone)?;
        let channel = grant(peer, publication.channel, create, common)?;
        let qos = common.log.channel(channel).qos;
        // Values replace each other, so a request that is repeated needs no key.
        let request = match qos.kind {
            Kind::Awareness => None,
            _ => Some(publication.request.ok_or(NotPublished::NoRequestKey)?),
        };
        if let Some(done) = request.and_then(|request| common.outcome_of(&request)) {
            return Ok(done?);
        }
        if now < seat.not_before {
            return Err(NotAccepted::TooOften(seat.not_before - now));
        }
        common.check_takes_publications(channel).map_err(failed)?;
        let message = publication.message(channel, visitor, now);
        let size = message.size() as u64;
        let day = common.config.wall + now;
        let published = match request {
            None => {
                let index = seat.indices.entry(channel).or_insert(Index(0));
                *index = Index(index.0.wrapping_add(1));
                let after = common.log.counter(visitor).unwrap_or_default();
                common.publish_value(now, Value::new(message, *index, after))
            }
            Some(request) => {
                let append = |log: &mut Log| log.append_requested(message, request, day);
                let published = common.publish_transaction(now, channel, append)?;
                common.accounting.used.transactions += 1;
                published
            }
        };
        common.accounting.count_published(size as usize);
        common.accounting.used.bytes += size;
        let receivers = common.intake.receivers.get(channel.place()).copied();
        common.accounting.used.deliveries += receivers.unwrap_or(0).max(1);
        common.members.act(now, visitor, &mut common.timers);
        if let Some(delay) = peer.count_usage(now, common) {
            seat.not_before = now + delay;
        }
        let Common { config, delivery, attention, .. } = common;
        peer.review_rest(&config.timing, &delivery.streams, attention);
        Ok(published)
    }
}

/// The channel, on which the visitor may publish. It is made if that is asked for.
fn grant(
    peer: &Peer,
    name: &str,
    create: Option<Qos>,
    common: &mut Common,
) -> Result<ChannelNo, NotAccepted> {
    let Common { log, permissions, delivery, .. } = common;
    let access = Access { publish: true, subscribe: false };
    let existing = log.find_channel(name);
    let identity = &peer.identity;
    let granted = match (existing, create) {
        (None, Some(qos)) => permissions.may_open(identity, name, access, qos, log),
        _ => {
            let known = existing.map(|channel| log.channel(channel).qos);
            permissions.may_use(identity, name, access, known.unwrap_or_else(Qos::transaction))
        }
    };
    let granted = granted.map_err(NotAccepted::Refused)?;
    if !granted.access.and(access).publish {
        return Err(NotAccepted::Refused(
            "publishing on this channel is not permitted".to_string(),
        ));
    }
    if let Some(channel) = existing {
        return Ok(channel);
    }
    if create.is_none() {
        return Err(NotPublished::NoChannel.into());
    }
    log.check_channels().map_err(failed)?;
    granted.qos.validate().map_err(failed)?;
    let channel = log.add_channel(name, granted.qos);
    delivery.outputs.emit(Event::Channel { name: name.into(), qos: granted.qos });
    Ok(channel)
}

fn failed(error: crate::Error) -> NotAccepted {
    NotPublished::Failed(error).into()
}
