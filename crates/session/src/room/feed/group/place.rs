//! One receiver's membership in the fan-out groups of a room.

use alloc::sync::Arc;
use core::time::Duration;

use super::{Group, Groups, Loss, MAX_SIZE, send_again, send_leave};
use crate::events::event;
use crate::link::Link;
use crate::room::log::Covered;
use crate::room::subscriptions::SubscriptionSet;
use crate::trace::Carrier;
use crate::wire::acknowledged::Acknowledged;
use crate::{GroupId, Order, ParticipantId};

/// A missing datagram counts as lost once a datagram came that was sent this many packets later.
const REORDERED: u32 = 2;

/// If an acknowledgement covers at least this many new packets, the receiver sent it soon after the
/// newest of them came. The time since that packet was sent then tells how long the round trip is.
const MANY: u32 = 6;

/// How long a receiver that did not keep up with a group is served alone, the first time. Each
/// further time it is twice as long, up to `LONGEST_PATIENCE`.
const PATIENCE: Duration = Duration::from_secs(20);
const LONGEST_PATIENCE: Duration = Duration::from_secs(320);

/// After this long in a group, a receiver's earlier failures no longer count.
const PROVEN: Duration = Duration::from_secs(60);

/// An acknowledgement is late if it comes this long after its packet was sent. After
/// `LATE_IN_A_ROW` late ones in a row, the round trip counts as long.
const LATE: Duration = Duration::from_millis(350);
const LATE_IN_A_ROW: u8 = 3;

/// The most bytes of a model in one MODEL frame, so that pings can be sent between the frames.
const PIECE: usize = 8 << 10;

/// The membership of a receiver whose transport can carry the datagrams of groups.
#[derive(Debug, Default)]
pub(in crate::room) struct GroupMembership {
    /// The group that serves it.
    pub(in crate::room) served: Option<Served>,
    /// The group whose model is on its way to it.
    pub(in crate::room) entering: Option<Entering>,
    /// Set while the receiver enters a group together with many others. The receiver is then not
    /// sent messages of these channels that come after the model's snapshot. It gets them from the
    /// group's packets once it has entered (W71).
    pub(in crate::room) waits: Option<SubscriptionSet>,
    pub(in crate::room) loss: Loss,
    /// True if the receiver has long round trips.
    pub(in crate::room) is_far: bool,
    /// How many acknowledgements in a row came late.
    late: u8,
    /// When it may enter a group again.
    pub(in crate::room) retry: Duration,
    patience: Duration,
}

/// Membership in a group that the receiver has entered.
#[derive(Debug)]
pub(in crate::room) struct Served {
    pub(in crate::room) group: GroupId,
    pub(in crate::room) channels: SubscriptionSet,
    /// The receiver gets messages after this order from the group.
    from: Order,
    pub(in crate::room) since: Duration,
    /// The receiver has all packets up to this number.
    pub(in crate::room) acknowledged: u32,
    /// Lost packets were counted up to this number.
    pub(in crate::room) judged: u32,
    /// Packets that the receiver lacked were sent again up to this number.
    pub(in crate::room) again: u32,
}

/// The model of a group that the receiver is about to enter.
#[derive(Debug)]
pub(in crate::room) struct Entering {
    pub(in crate::room) group: GroupId,
    pub(in crate::room) since: Duration,
    /// The packets after the model's snapshot hold the messages after this order.
    from: Order,
    model: Arc<[u8]>,
    offset: usize,
}

/// A piece of a model.
pub(in crate::room) struct Piece<'a> {
    pub(in crate::room) group: GroupId,
    pub(in crate::room) total: u32,
    pub(in crate::room) offset: u32,
    pub(in crate::room) bytes: &'a [u8],
}

impl GroupMembership {
    /// The messages that the receiver gets from a group, or will get once it has entered the group.
    pub(in crate::room) fn covered(&self) -> Option<Covered<'_>> {
        let served = self.served.as_ref().map(|served| (&served.channels, served.from));
        let waits = self.waits.as_ref().zip(self.entering.as_ref());
        let waits = waits.map(|(channels, entering)| (channels, entering.from));
        let (channels, from) = served.or(waits)?;
        Some(Covered { channels, from, max_size: MAX_SIZE })
    }

    /// The group that serves the receiver.
    pub(in crate::room) fn group(&self) -> Option<GroupId> {
        self.served.as_ref().map(|served| served.group)
    }

    /// The groups that the receiver is in or enters.
    pub(in crate::room) fn groups(&self) -> impl Iterator<Item = GroupId> + use<> {
        let served = self.served.as_ref().map(|served| served.group);
        let entering = self.entering.as_ref().map(|entering| entering.group);
        served.into_iter().chain(entering)
    }

    /// Whether a piece of a model waits to be sent.
    pub(in crate::room) fn has_piece(&self) -> bool {
        self.entering.as_ref().is_some_and(|entering| entering.offset < entering.model.len())
    }

    /// The next piece of a model.
    pub(in crate::room) fn next_piece(&mut self) -> Option<Piece<'_>> {
        let Entering { group, model, offset, .. } = self.entering.as_mut()?;
        let from = *offset;
        *offset = model.len().min(from + PIECE);
        (from < *offset).then(|| Piece {
            group: *group,
            total: model.len() as u32,
            offset: from as u32,
            bytes: &model[from..*offset],
        })
    }

    /// Begins to enter a group: its present model will be sent. `from`: the order up to which the
    /// group's packets have been made.
    pub(in crate::room) fn enter(
        &mut self,
        now: Duration,
        group: GroupId,
        from: Order,
        model: Arc<[u8]>,
    ) {
        self.entering = Some(Entering { group, since: now, from, model, offset: 0 });
    }

    /// Logs that the receiver entered or left a group, if its group is no longer `before`.
    pub(in crate::room) fn log_move(&self, participant: ParticipantId, before: Option<GroupId>) {
        match self.group() {
            after if after == before => {}
            Some(group) => event!(DEBUG, "group entered", %participant, %group),
            None => event!(DEBUG, "group left", %participant),
        }
    }

    /// Handles the receiver's acknowledgement of a group's datagrams (W72), which came over this
    /// carrier.
    pub(in crate::room) fn acknowledged(
        &mut self,
        now: Duration,
        receiver: ParticipantId,
        (group, carrier): (GroupId, Carrier),
        acknowledgement: &Acknowledged<'_>,
        groups: &mut Groups,
        link: &mut Link,
    ) {
        // W71: the receiver has the model once it acknowledges over the stream, after the last
        // piece was sent. An acknowledgement that comes in a datagram or earlier is left from an
        // earlier membership.
        let waits = self.entering.as_ref().is_some_and(|entering| entering.group == group)
            && (carrier == Carrier::Datagrams || self.has_piece());
        // The room may have closed the group before the receiver learned of it.
        let Some(known) = groups.get_mut(group).filter(|_| !waits) else { return };
        let before = self.group();
        let keeps_up = match known.encoder.coder.acknowledge(acknowledgement.gmc) {
            Ok(Some(top)) => self.on_acknowledged(now, known, top, acknowledgement, receiver, link),
            Ok(None) | Err(_) => false,
        };
        if !keeps_up {
            self.drop_group(now, group, link);
        }
        self.log_move(receiver, before);
    }

    /// Handles an acknowledgement of all packets up to `top`. Returns false if the receiver cannot
    /// stay in this group.
    fn on_acknowledged(
        &mut self,
        now: Duration,
        group: &mut Group,
        top: u32,
        acknowledgement: &Acknowledged<'_>,
        receiver: ParticipantId,
        link: &mut Link,
    ) -> bool {
        if let Some(Entering { from, .. }) =
            self.entering.take_if(|entering| entering.group == group.id)
        {
            self.begin(now, group, (top, from), receiver, link);
            return true;
        }
        let Some(served) = self.served.as_mut().filter(|served| served.group == group.id) else {
            return true;
        };
        if acknowledgement.newest > group.newest {
            return false;
        }
        served.acknowledged = served.acknowledged.max(top);
        let many = acknowledgement.newest.saturating_sub(served.judged) >= MANY;
        let newest = group.kept_after(acknowledgement.newest.saturating_sub(1)).next();
        let took = newest.filter(|_| many).map(|newest| now.saturating_sub(newest.sent));
        let told = acknowledgement.newest.saturating_sub(REORDERED);
        for number in served.judged + 1..=told {
            self.loss.count(acknowledgement.lacks(number));
        }
        served.judged = served.judged.max(told);
        let missing = group.kept_after(served.again.max(served.acknowledged));
        for kept in missing.take_while(|kept| kept.number <= told) {
            if acknowledgement.lacks(kept.number) {
                send_again(now, link, group.id, kept);
            }
        }
        served.again = served.again.max(told);
        if let Some(time) = took {
            self.late = if time > LATE { self.late.saturating_add(1) } else { 0 };
        }
        true
    }

    /// Makes the receiver a member: it has the model as of packet `top`, which was made when
    /// everything up to the order `from` had been sent. The packets between `top` and now are sent
    /// again over the stream. If they are no longer kept, the model is too old: nothing happens,
    /// and the receiver will enter again.
    fn begin(
        &mut self,
        now: Duration,
        group: &mut Group,
        (top, from): (u32, Order),
        receiver: ParticipantId,
        link: &mut Link,
    ) {
        let is_kept = group.newest <= top
            || group.kept.front().is_some_and(|oldest| oldest.number <= top + 1);
        if !is_kept {
            return;
        }
        if let Some(served) = self.served.take().filter(|served| served.group != group.id) {
            send_leave(link, served.group);
        }
        group.kept_after(top).for_each(|kept| send_again(now, link, group.id, kept));
        self.served = Some(Served {
            group: group.id,
            channels: group.key.channels.clone(),
            from,
            since: now,
            acknowledged: top,
            judged: group.newest,
            again: group.newest,
        });
        if !group.members.contains(&receiver) {
            group.members.push(receiver);
        }
    }

    /// Removes the receiver from the group that it is in, and from the group that it is entering.
    pub(in crate::room) fn leave(&mut self, link: &mut Link) {
        let groups = [
            self.served.take().map(|served| served.group),
            self.entering.take().map(|entering| entering.group),
        ];
        groups.into_iter().flatten().for_each(|group| send_leave(link, group));
    }

    /// Removes the receiver from a group that it is in or enters, as it did not keep up.
    pub(in crate::room) fn drop_group(&mut self, now: Duration, group: GroupId, link: &mut Link) {
        let is_in = self.served.as_ref().is_some_and(|served| served.group == group);
        let enters = self.entering.as_ref().is_some_and(|entering| entering.group == group);
        if !is_in && !enters {
            return;
        }
        self.punish(now);
        self.entering.take_if(|_| enters);
        self.served.take_if(|_| is_in);
        send_leave(link, group);
    }

    /// True if the last acknowledgements came so late that the receiver's round trips must have
    /// become long.
    pub(in crate::room) fn is_late(&self) -> bool {
        self.late >= LATE_IN_A_ROW
    }

    /// Lets the receiver enter no group for a while: it did not keep up and is served alone.
    fn punish(&mut self, now: Duration) {
        let lasted =
            self.served.as_ref().map_or(Duration::ZERO, |served| now.saturating_sub(served.since));
        self.patience = match lasted >= PROVEN {
            true => PATIENCE,
            false => (self.patience * 2).clamp(PATIENCE, LONGEST_PATIENCE),
        };
        self.retry = now + self.patience;
        self.late = 0;
    }
}
