//! The place of one receiver in the groups of a room.

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

/// Packets by which a datagram may be overtaken before it counts as lost.
const REORDERED: u32 = 2;

/// With this many packets since the last acknowledgement, the newest came shortly before this one.
const MANY: u32 = 6;

/// How long a receiver is served alone that did not keep up with a group, at first; each time twice as long.
const PATIENCE: Duration = Duration::from_secs(20);
const LONGEST_PATIENCE: Duration = Duration::from_secs(320);

/// After this long in a group, earlier failures count no more.
const PROVEN: Duration = Duration::from_secs(60);

/// A round trip that is long, with what an acknowledgement waits, and how many of them in a row say that it has become long.
const LATE: Duration = Duration::from_millis(350);
const LATE_IN_A_ROW: u8 = 3;

/// Bytes of a model in one MODEL frame: pings get in between.
const PIECE: usize = 8 << 10;

/// A receiver whose transport takes the datagrams of groups.
#[derive(Debug, Default)]
pub(in crate::room) struct Place {
    /// The group that serves it.
    pub(in crate::room) served: Option<Served>,
    /// The group whose model is on its way to it.
    pub(in crate::room) entering: Option<Entering>,
    /// Many receivers enter groups at the same time as it: it is not sent these channels alone meanwhile, but what the group
    /// was sent since once it has entered (W71).
    pub(in crate::room) waits: Option<SubscriptionSet>,
    pub(in crate::room) loss: Loss,
    /// Its round trips are long.
    pub(in crate::room) is_far: bool,
    /// How many acknowledgements in a row came late.
    late: u8,
    /// When it may enter a group again.
    pub(in crate::room) retry: Duration,
    patience: Duration,
}

/// A place in a group.
#[derive(Debug)]
pub(in crate::room) struct Served {
    pub(in crate::room) group: GroupId,
    pub(in crate::room) channels: SubscriptionSet,
    /// The group brings what came after this order.
    from: Order,
    pub(in crate::room) since: Duration,
    /// The receiver has all packets up to here.
    pub(in crate::room) acknowledged: u32,
    /// Up to here it was counted what was lost.
    pub(in crate::room) judged: u32,
    /// Up to here everything that the receiver lacked was sent again.
    pub(in crate::room) again: u32,
}

/// A model on its way.
#[derive(Debug)]
pub(in crate::room) struct Entering {
    pub(in crate::room) group: GroupId,
    pub(in crate::room) since: Duration,
    /// The packets behind the model bring what came after this order.
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

impl Place {
    /// The messages that the receiver gets by a group, or will get once it has entered it.
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

    /// Begins to enter a group with its model as of now. `from`: up to this order its packets were made.
    pub(in crate::room) fn enter(
        &mut self,
        now: Duration,
        group: GroupId,
        from: Order,
        model: Arc<[u8]>,
    ) {
        self.entering = Some(Entering { group, since: now, from, model, offset: 0 });
    }

    /// Logs that the receiver entered or left a group since `before` was its group.
    pub(in crate::room) fn log_move(&self, participant: ParticipantId, before: Option<GroupId>) {
        match self.group() {
            after if after == before => {}
            Some(group) => event!(DEBUG, "group entered", %participant, %group),
            None => event!(DEBUG, "group left", %participant),
        }
    }

    /// Takes in what the receiver says of a group's datagrams (W72), and by which way it says so.
    pub(in crate::room) fn acknowledged(
        &mut self,
        now: Duration,
        receiver: ParticipantId,
        (group, carrier): (GroupId, Carrier),
        acknowledgement: &Acknowledged<'_>,
        groups: &mut Groups,
        link: &mut Link,
    ) {
        // W71: the receiver has the model once it says so behind the last piece. What a datagram says, or comes sooner, is of
        // an earlier stay.
        let waits = self.entering.as_ref().is_some_and(|entering| entering.group == group)
            && (carrier == Carrier::Datagrams || self.has_piece());
        // The receiver may not know yet that it has left the group.
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

    /// Takes in an acknowledgement: everything up to `top` came. Returns false if the receiver cannot go on in this group.
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

    /// The receiver has the model as of packet `top`, which was made when everything up to the order `from` had been sent. The packets since then come over the stream, later ones as datagrams. If
    /// they are not kept any more, the model is too old, and the receiver enters again.
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

    /// The receiver leaves the group that it is in, and does not enter the one that it was to enter.
    pub(in crate::room) fn leave(&mut self, link: &mut Link) {
        let groups = [
            self.served.take().map(|served| served.group),
            self.entering.take().map(|entering| entering.group),
        ];
        groups.into_iter().flatten().for_each(|group| send_leave(link, group));
    }

    /// The receiver did not keep up with a group that it is in or enters.
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

    /// The receiver answers so late that its round trips must have become long.
    pub(in crate::room) fn is_late(&self) -> bool {
        self.late >= LATE_IN_A_ROW
    }

    /// The receiver did not keep up: it is served alone for a while.
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
