//! Decides at every housekeeping which participants are members of which fan-out group of datagrams
//! (wire W70, W74, W75).

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use crate::datagrams::share::group_target;
use crate::link::Link;
use crate::room::Room;
use crate::room::api::Output;
use crate::room::common::Common;
use crate::room::delivery::Delivery;
use crate::room::feed::Groups;
use crate::room::feed::group::{
    Group, GroupKey, GroupMembership, LADDER, LEAST_DATAGRAM, Loss, MOST_ALONE, send_again,
    send_leave,
};
use crate::room::log::Log;
use crate::room::peer::{Connection, Peer};
use crate::room::subscriptions::SubscriptionSet;
use crate::{GroupId, LinkId, Order, ParticipantId};

/// The most groups of a room: each codes all its messages separately.
const MOST_GROUPS: usize = 8;

/// A group is only opened for at least this many members: for fewer, it is not worth the work of
/// coding.
const WORTH_A_GROUP: usize = 4;

/// A receiver counts as far when its round trip is longer than `FAR`, and as near again when it is
/// not longer than `NEAR`.
const FAR: Duration = Duration::from_millis(250);
const NEAR: Duration = Duration::from_millis(200);

/// A receiver moves to a group that repeats less only after this long in its present one.
const SETTLED: Duration = Duration::from_secs(10);

/// A packet that a member has not acknowledged after this long counts as lost and is sent again.
const OVERDUE: Duration = Duration::from_secs(1);

/// A member that still lacks a packet of this age leaves the group, because the group's model
/// advances only when all members have its packets.
const TOO_LATE: Duration = Duration::from_secs(2);

/// How long a receiver that enters a group may take to acknowledge the model.
const MODEL_WITHIN: Duration = Duration::from_secs(5);

/// The number of receivers that could share each set of channels, and that could be in each group.
#[derive(Default)]
struct Census {
    sets: BTreeMap<SubscriptionSet, usize>,
    groups: BTreeMap<GroupKey, usize>,
    /// The number of members whose acknowledgements are overdue.
    late: usize,
}

impl Census {
    /// True if more than [`MOST_ALONE`] members are late. The cause is then the server, or a path
    /// that they share.
    fn is_overload(&self) -> bool {
        self.late > MOST_ALONE
    }
}

impl Room {
    /// Sends groups the awareness up to this order, and repeats that are due.
    pub(in crate::room) fn flush_groups(&mut self, now: Duration, until: Order) {
        let Room { peers, common, .. } = self;
        let Common { log, config, delivery, accounting, .. } = common;
        let Delivery { groups, outputs, .. } = delivery;
        let before = groups.until;
        groups.release(until);
        for group in &mut groups.list {
            let made = group.compose(now, config.timing.tick, log);
            let id = group.id;
            let mut everybody = group.newest;
            group.members.retain(|member| {
                let Some(connection) = peers.get_mut(member).and_then(Peer::connection_mut) else {
                    return false;
                };
                let served = connection.place.as_ref().and_then(|place| place.served.as_ref());
                let Some(served) = served.filter(|served| served.group == id) else {
                    return false;
                };
                everybody = everybody.min(served.acknowledged);
                if made.is_complete {
                    connection.pass_over(before, until);
                }
                for packet in &made.packets {
                    packet.count(*member, &mut accounting.stats);
                    accounting.inspector.sent_group(|| packet.described(now, *member, id));
                    let (link, body) = (connection.id, Some(Arc::clone(&packet.frame)));
                    outputs.push_back(Output::Datagram { link, packet: Vec::new(), body });
                }
                true
            });
            if !group.members.is_empty() {
                group.encoder.coder.advance(everybody);
            }
        }
    }

    /// Opens and closes groups and lets participants enter and leave them.
    pub(in crate::room) fn arrange_groups(&mut self, now: Duration) {
        let Room { peers, common, .. } = self;
        let Common { log, config, delivery, attention, .. } = common;
        let groups = &mut delivery.groups;
        // Resting participants have no datagrams. The order of the transports lets earlier ones
        // enter first.
        let place_of = |id| peers.get(&id)?.connection().filter(|one| one.place.is_some());
        let awake = attention.resting.awake();
        attention.visits += awake.len() as u64;
        let placed = awake.into_iter().filter_map(|id| Some((place_of(id)?.id, id)));
        let placed: BTreeMap<LinkId, ParticipantId> = placed.collect();
        let places =
            || placed.values().filter_map(|id| peers.get(id)?.connection()?.place.as_ref());
        close_unused(places(), groups);
        let mut census = Census::default();
        (groups.alone, census.late) = count_behind(now, places(), groups);
        let wishes = wishes(&placed, peers, log);
        for key in wishes.values() {
            *census.sets.entry(key.channels.clone()).or_default() += 1;
            *census.groups.entry(key.clone()).or_default() += 1;
        }
        groups.list.iter_mut().for_each(|group| group.is_awaited = false);
        let mut entering = 0;
        for id in placed.values() {
            let Some(connection) = peers.get_mut(id).and_then(Peer::connection_mut) else {
                continue;
            };
            let is_joining = connection.is_joining();
            let Connection { place: Some(place), link, .. } = connection else { continue };
            let is_large = |wish: &&GroupKey| {
                is_large(&census, groups, &wish.channels, config.share_datagrams_above)
            };
            let wish = wishes.get(id).filter(is_large);
            let before = place.group();
            keep_up(now, place, link, groups, &census);
            arrange(now, place, link, groups, (wish, &census), is_joining);
            place.log_move(*id, before);
            let enters = place.served.is_none() && place.entering.is_some();
            entering += usize::from(enters);
            // W71: when many receivers enter at once, those beyond the first [`MOST_ALONE`] are not
            // sent new messages alone.
            let waits = wish.filter(|_| enters && entering > MOST_ALONE);
            place.waits = waits.map(|wish| wish.channels.clone());
            if place.waits.is_some()
                && let Some(entering) = &place.entering
                && let Some(group) = groups.get_mut(entering.group)
            {
                group.is_awaited = true;
            }
        }
    }
}

/// Closes the groups that no participant is in or enters.
fn close_unused<'a>(places: impl Iterator<Item = &'a GroupMembership>, groups: &mut Groups) {
    let used: BTreeSet<GroupId> = places.flat_map(GroupMembership::groups).collect();
    groups.close_others(|group| used.contains(&group));
}

/// For each participant that can be in a group, the key of the group that it needs.
fn wishes(
    placed: &BTreeMap<LinkId, ParticipantId>,
    peers: &mut BTreeMap<ParticipantId, Peer>,
    log: &Log,
) -> BTreeMap<ParticipantId, GroupKey> {
    let wish = |&id: &ParticipantId| Some((id, peers.get_mut(&id)?.connection_mut()?.wish(log)?));
    placed.values().filter_map(wish).collect()
}

/// The number of participants that are served alone for a while, and of members that are late.
fn count_behind<'a>(
    now: Duration,
    places: impl Iterator<Item = &'a GroupMembership>,
    groups: &Groups,
) -> (usize, usize) {
    let (mut alone, mut late) = (0, 0);
    for place in places {
        match &place.served {
            Some(served) => {
                let group = groups.get(served.group);
                let overdue = group.map_or(0, |group| group.older_than(now, OVERDUE));
                late += usize::from(served.acknowledged < overdue);
            }
            None => alone += usize::from(place.entering.is_none() && now < place.retry),
        }
    }
    (alone, late)
}

/// True if more than `above` participants have this set of channels, so that it is worth groups.
/// Three quarters of `above` are enough for a set that has a group already.
fn is_large(census: &Census, groups: &Groups, channels: &SubscriptionSet, above: usize) -> bool {
    let count = census.sets.get(channels).copied().unwrap_or(0);
    let is_served = groups.list.iter().any(|group| group.key.channels == *channels);
    count > if is_served { above * 3 / 4 } else { above }
}

/// Sends a member again the packets that it has lacked for long. Removes a member that has lacked a
/// packet for too long, unless too many participants are served alone already.
fn keep_up(
    now: Duration,
    place: &mut GroupMembership,
    link: &mut Link,
    groups: &mut Groups,
    census: &Census,
) {
    if let Some(entering) = &place.entering {
        let group = entering.group;
        let is_stuck = now >= entering.since + MODEL_WITHIN || groups.get(group).is_none();
        if is_stuck {
            match groups.admit() {
                true => place.drop_group(now, group, link),
                // The receiver stays, and will be sent a newer model.
                false => place.entering = None,
            }
        }
    }
    let Some(served) = place.served.as_mut() else { return };
    let id = served.group;
    let Some(group) = groups.get(id) else {
        place.served = None;
        return send_leave(link, id);
    };
    let slack = if group.key.is_far || census.is_overload() { 2 } else { 1 };
    let too_old = group.older_than(now, TOO_LATE * slack);
    let lacks = served.acknowledged + 1;
    let is_gone = group.kept.front().is_some_and(|oldest| oldest.number > lacks);
    if (served.acknowledged < too_old || is_gone) && groups.admit() {
        return place.drop_group(now, id, link);
    }
    let until = groups.until;
    let Some(group) = groups.get_mut(id) else { return };
    if is_gone {
        // A packet that the member lacks is no longer kept: the member is sent a new model and
        // stays in the group until it has that.
        if place.entering.is_none() {
            place.enter(now, id, until, group.model());
        }
        return;
    }
    let overdue = group.older_than(now, OVERDUE * slack);
    for kept in group.kept_after(served.acknowledged.max(served.again)) {
        if kept.number > overdue {
            break;
        }
        send_again(now, link, id, kept);
        served.again = kept.number;
    }
    if census.is_overload() {
        // In an overload, late acknowledgements do not prove that the path loses packets.
        return;
    }
    // Packets that are sent again count as lost: later acknowledgements do not tell whether a
    // packet came as a datagram or over the stream.
    for _ in served.judged.max(served.acknowledged)..overdue {
        place.loss.count(true);
    }
    served.judged = served.judged.max(overdue);
}

/// Lets a participant enter the group that it needs, or leave its group if that no longer has its
/// channels. `wish`: the key of the group that it needs, if it can be in one.
fn arrange(
    now: Duration,
    place: &mut GroupMembership,
    link: &mut Link,
    groups: &mut Groups,
    (wish, census): (Option<&GroupKey>, &Census),
    is_joining: bool,
) {
    let served = place.served.as_ref().map(|served| (served.group, served.since));
    let present = served.and_then(|(group, since)| {
        let group = groups.get(group)?;
        Some((group.id, group.key.clone(), since))
    });
    let stays = match (&present, wish) {
        (Some((_, key, _)), Some(wish)) => key.channels == wish.channels,
        (Some(_), None) => false,
        (None, _) => true,
    };
    if let (false, Some((group, ..))) = (stays, &present) {
        place.served = None;
        send_leave(link, *group);
    }
    let entered = place.entering.as_ref().map(|entering| entering.group);
    let Some(wish) = wish else {
        if let Some(group) = entered {
            place.entering = None;
            send_leave(link, group);
        }
        return;
    };
    if entered.is_some() || now < place.retry || is_joining {
        return;
    }
    if let (true, Some((group, key, since))) = (stays, &present) {
        let needs_more = wish.step > key.step || wish.is_far != key.is_far;
        if key == wish || (!needs_more && now < *since + SETTLED) {
            return;
        }
        match open_group(groups, wish, census) {
            Some((id, _)) if id == *group => {}
            Some((id, model)) => place.enter(now, id, groups.until, model),
            // No such group can be opened: served alone, the participant gets as many repeats as it
            // needs.
            None if needs_more && groups.admit() => place.drop_group(now, *group, link),
            None => {}
        }
    } else if let Some((id, model)) = open_group(groups, wish, census) {
        place.enter(now, id, groups.until, model);
    } else {
        // Too few participants need as many repeats for a group of their own. Losses are counted
        // from zero again, because they may be lower by now.
        place.loss = Loss::default();
    }
}

/// The number and the model of a group that repeats at least as often as `key` asks. If there is
/// none, opens it if enough receivers would enter it and the room may have more groups; otherwise
/// returns `None`.
fn open_group(
    groups: &mut Groups,
    key: &GroupKey,
    census: &Census,
) -> Option<(GroupId, Arc<[u8]>)> {
    // A receiver may be in a group that repeats more than it needs. But a receiver that needs no
    // repeats is not sent any.
    let serves = |group: &&mut Group| {
        let step = group.key.step;
        group.key.is_like(key) && step >= key.step && (step == 0) == (key.step == 0)
    };
    let found = groups.list.iter_mut().filter(serves).min_by_key(|group| group.key.step);
    if let Some(group) = found {
        return Some((group.id, group.model()));
    }
    if usize::from(key.step) >= LADDER.len() || groups.list.len() >= MOST_GROUPS {
        return None;
    }
    let would_enter = census.groups.iter().filter(|(other, _)| {
        other.is_like(key) && other.step <= key.step && (other.step == 0) == (key.step == 0)
    });
    if would_enter.map(|(_, count)| count).sum::<usize>() < WORTH_A_GROUP {
        return None;
    }
    let group = groups.open(key.clone());
    Some((group.id, group.model()))
}

impl Connection {
    /// The key of the group that the participant needs; `None` if it cannot be in any.
    fn wish(&mut self, log: &Log) -> Option<GroupKey> {
        self.place.as_ref()?;
        let channels = self.shareable(log);
        let place = self.place.as_mut()?;
        let round_trip = self.link.clock.round_trip()?;
        let is_late = place.is_late();
        if self.link.max_datagram < LEAST_DATAGRAM {
            return None;
        }
        place.is_far = is_late || round_trip > if place.is_far { NEAR } else { FAR };
        if channels.is_empty() {
            return None;
        }
        let strictest = channels.iter().map(|channel| log.channel(channel).qos.loss);
        let target = group_target(strictest.min().unwrap_or(0));
        // If no step has enough repeats, `step` is the number of steps, which is the step of no
        // group.
        let step = place.loss.model().repeats_for(target, LADDER.len() as u8);
        Some(GroupKey { channels, step, is_far: place.is_far })
    }
}
