//! Who belongs to which class: looked at whenever the house is kept (wire.md W70, W74, W75).

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use super::loss::{LADDER, Loss};
use super::member::Member;
use super::{Class, Classes, Key, LAST_NUMBER, LEAST_DATAGRAM, MOST_ALONE, is_admitted};
use super::{leave, send_again};
use crate::ids::{GroupId, ParticipantId};
use crate::room::audience::Audience;
use crate::room::participant::Connection;
use crate::room::{Channel, Room};
use crate::wire::body::ClassEncoder;

/// Classes of a room, at most: each codes everything anew.
const MOST_CLASSES: usize = 8;

/// Members without whom a class that repeats, or of those far away, is not worth its coding.
const WORTH_A_CLASS: usize = 4;

/// Round trips above which a receiver is far, and below which it is not any more.
const FAR: Duration = Duration::from_millis(250);
const NEAR: Duration = Duration::from_millis(200);

/// A receiver moves to a class that repeats less only after so long in its present one.
const SETTLED: Duration = Duration::from_secs(10);

/// Losses are judged once so many packets came or did not.
const OVERDUE: Duration = Duration::from_secs(1);

/// Who lacks packets that are so old leaves: it must not make the model old for all.
const TOO_LATE: Duration = Duration::from_secs(2);

/// How long a model may take to arrive.
const MODEL_WITHIN: Duration = Duration::from_secs(5);

/// Share of the loss that a channel permits which is this hop's, in 1/1000.
const HOP: f32 = 0.5 / 1000.0;

/// What a channel that permits no loss is held to permit.
const LEAST_LOSS: u16 = 1;

/// How many there are for an audience, and for a class.
#[derive(Default)]
struct Census {
    audiences: BTreeMap<Audience, usize>,
    classes: BTreeMap<Key, usize>,
    /// Members of whom nothing was heard for long.
    late: usize,
}

impl Census {
    /// So many are late that it is not their fault.
    fn is_crowd(&self) -> bool {
        self.late > MOST_ALONE
    }
}

impl Room {
    /// Opens and closes classes, lets participants enter and leave.
    pub(in crate::room) fn arrange_classes(&mut self, now: Duration) {
        self.close_idle();
        let wishes = self.wishes();
        let mut census = Census::default();
        (self.classes.alone, census.late) = self.count_behind(now);
        for key in wishes.values() {
            *census.audiences.entry(key.audience.clone()).or_default() += 1;
            *census.classes.entry(key.clone()).or_default() += 1;
        }
        let ids: Vec<ParticipantId> = self.links.values().copied().collect();
        let mut entering = 0;
        for id in ids {
            let Some(connection) = self.connection(id) else { continue };
            let Some(mut member) = connection.member.take() else { continue };
            let wish = wishes.get(&id).filter(|wish| self.is_large(&census, &wish.audience));
            self.keep_up(now, id, &mut member, &census);
            self.place(now, id, &mut member, wish, &census);
            let enters = member.served.is_none() && member.enters.is_some();
            entering += usize::from(enters);
            // W71.
            let waits = wish.filter(|_| enters && entering > MOST_ALONE);
            member.waits = waits.map(|wish| wish.audience.clone());
            if let Some(connection) = self.connection(id) {
                connection.member = Some(member);
            }
        }
    }

    /// How many are served alone for a while, and how many members are late.
    fn count_behind(&mut self, now: Duration) -> (usize, usize) {
        let Room { classes, participants, .. } = self;
        let (mut alone, mut late) = (0, 0);
        let connections = participants.values().filter_map(|one| one.connection.as_deref());
        for member in connections.filter_map(|one| one.member.as_ref()) {
            match &member.served {
                Some(served) => {
                    let class = classes.get(served.class);
                    let overdue = class.map_or(0, |class| class.older_than(now, OVERDUE));
                    late += usize::from(served.acknowledged < overdue);
                }
                None => alone += usize::from(member.enters.is_none() && now < member.retry),
            }
        }
        (alone, late)
    }

    /// Which class each participant would be in that can be in one.
    fn wishes(&mut self) -> BTreeMap<ParticipantId, Key> {
        let Room { participants, channels, .. } = self;
        let of = participants.iter_mut().filter_map(|(&id, participant)| {
            let connection = participant.connection.as_deref_mut()?;
            Some((id, connection.wish(channels)?))
        });
        of.collect()
    }

    /// Whether an audience has so many that classes serve it: three quarters are enough for who does so already.
    fn is_large(&self, census: &Census, audience: &Audience) -> bool {
        let count = census.audiences.get(audience).copied().unwrap_or(0);
        let is_served = self.classes.list.iter().any(|class| class.key.audience == *audience);
        let above = self.config.share_datagrams_above;
        count > if is_served { above * 3 / 4 } else { above }
    }

    /// What a member lacks for long is sent again; who lacks it for too long leaves, but for a crowd, which stays and makes
    /// the model old for all.
    fn keep_up(&mut self, now: Duration, id: ParticipantId, member: &mut Member, census: &Census) {
        let Room { classes, participants, .. } = self;
        let connection = participants.get_mut(&id).and_then(|one| one.connection.as_deref_mut());
        let Some(connection) = connection else { return };
        if let Some(enters) = &member.enters {
            let class = enters.class;
            let is_stuck = now >= enters.since + MODEL_WITHIN || classes.get(class).is_none();
            if is_stuck {
                match classes.admit() {
                    true => member.drop_class(now, class, connection),
                    // Another one comes.
                    false => member.enters = None,
                }
            }
        }
        let Some(served) = member.served.as_mut() else { return };
        let id = served.class;
        let Classes { list, alone, .. } = classes;
        let Some(class) = list.iter_mut().find(|class| class.id == id) else {
            member.served = None;
            return leave(connection, id);
        };
        let slack = if class.key.is_far || census.is_crowd() { 2 } else { 1 };
        let too_old = class.older_than(now, TOO_LATE * slack);
        let lacks = served.acknowledged + 1;
        let is_gone = class.kept.front().is_some_and(|oldest| oldest.number > lacks);
        if (served.acknowledged < too_old || is_gone) && is_admitted(alone) {
            return member.drop_class(now, id, connection);
        }
        if is_gone {
            // It needs the model anew, and stays until it has it.
            if member.enters.is_none() {
                let model = class.model();
                member.enter(now, id, model);
            }
            return;
        }
        let overdue = class.older_than(now, OVERDUE * slack);
        for kept in class.kept_after(served.acknowledged.max(served.again)) {
            if kept.number > overdue {
                break;
            }
            send_again(now, connection, id, kept);
            served.again = kept.number;
        }
        if census.is_crowd() {
            // That its path loses anything is not known.
            return;
        }
        // What comes over the stream would not be told from what came by itself.
        for _ in served.judged.max(served.acknowledged)..overdue {
            member.loss.count(true);
        }
        served.judged = served.judged.max(overdue);
    }

    /// Lets a participant enter the class that it needs, or leave the one that it is in.
    fn place(
        &mut self,
        now: Duration,
        id: ParticipantId,
        member: &mut Member,
        wish: Option<&Key>,
        census: &Census,
    ) {
        let served = member.served.as_ref().map(|served| (served.class, served.since));
        let present = served.and_then(|(class, since)| {
            let class = self.classes.list.iter().find(|one| one.id == class)?;
            Some((class.id, class.key.clone(), since))
        });
        let stays = match (&present, wish) {
            (Some((_, key, _)), Some(wish)) => key.audience == wish.audience,
            (Some(_), None) => false,
            (None, _) => true,
        };
        let Some(connection) = self.connection(id) else { return };
        if let (false, Some((class, ..))) = (stays, &present) {
            member.served = None;
            leave(connection, *class);
        }
        let entered = member.enters.as_ref().map(|enters| enters.class);
        let Some(wish) = wish else {
            if let Some(class) = entered {
                member.enters = None;
                leave(connection, class);
            }
            return;
        };
        if entered.is_some() || now < member.retry || connection.joining.is_some() {
            return;
        }
        if let (true, Some((class, key, since))) = (stays, &present) {
            let needs_more = wish.step > key.step || wish.is_far != key.is_far;
            if key == wish || (!needs_more && now < *since + SETTLED) {
                return;
            }
            match self.open_class(wish, census) {
                Some((id, _)) if id == *class => {}
                Some(model) => member.enter(now, model.0, model.1),
                // Alone it is given what it needs.
                None if needs_more && self.classes.admit() => {
                    let class = *class;
                    if let Some(connection) = self.connection(id) {
                        member.drop_class(now, class, connection);
                    }
                }
                None => {}
            }
        } else if let Some(model) = self.open_class(wish, census) {
            member.enter(now, model.0, model.1);
        } else {
            // Too few lose so much. What it loses may have changed since it was known.
            member.loss = Loss::default();
        }
    }

    /// The model of this class, which is opened if it is worth while.
    fn open_class(&mut self, key: &Key, census: &Census) -> Option<(GroupId, Arc<[u8]>)> {
        let classes = &mut self.classes;
        // More repeats than needed do no harm, but who needs none is not to pay for others.
        let serves = |class: &&mut Class| {
            let step = class.key.step;
            class.key.is_like(key) && step >= key.step && (step == 0) == (key.step == 0)
        };
        let found = classes.list.iter_mut().filter(serves).min_by_key(|class| class.key.step);
        if let Some(class) = found {
            return Some((class.id, class.model()));
        }
        if usize::from(key.step) >= LADDER.len() || classes.list.len() >= MOST_CLASSES {
            return None;
        }
        let would_enter = census.classes.iter().filter(|(other, _)| {
            other.is_like(key) && other.step <= key.step && (other.step == 0) == (key.step == 0)
        });
        if would_enter.map(|(_, count)| count).sum::<usize>() < WORTH_A_CLASS {
            return None;
        }
        classes.last_id = classes.last_id.next();
        let mut class = Class::new(classes.last_id, key.clone());
        let model = class.model();
        let id = class.id;
        classes.list.push(class);
        Some((id, model))
    }

    /// Classes that nobody is in or enters go.
    fn close_idle(&mut self) {
        let Room { classes, participants, .. } = self;
        let members =
            participants.values().filter_map(|one| one.connection.as_deref()?.member.as_ref());
        let used: BTreeSet<GroupId> = members.flat_map(Member::classes).collect();
        classes.list.retain(|class| used.contains(&class.id) && class.newest < LAST_NUMBER);
    }
}

impl Class {
    fn new(id: GroupId, key: Key) -> Self {
        Class {
            id,
            key,
            members: Vec::new(),
            encoder: ClassEncoder::new(),
            kept: Default::default(),
            newest: 0,
            rounds: Default::default(),
            model: None,
        }
    }
}

impl Connection {
    /// The class that it would be in; `None` if it can be in none.
    fn wish(&mut self, channels: &[Channel]) -> Option<Key> {
        let member = self.member.as_mut()?;
        let round_trip = self.link.clock.round_trip()?;
        let is_late = member.is_late();
        if self.link.max_datagram < LEAST_DATAGRAM {
            return None;
        }
        member.is_far = is_late || round_trip > if member.is_far { NEAR } else { FAR };
        let audience = Audience::of(&self.channels, channels, &self.thinned);
        if audience.is_empty() {
            return None;
        }
        let strictest = audience.channels().map(|channel| channels[channel.place()].qos.loss);
        let target = f32::from(strictest.min().unwrap_or(0).max(LEAST_LOSS)) * HOP;
        let step = member.loss.step(target).unwrap_or(LADDER.len() as u8);
        Some(Key { audience, step, is_far: member.is_far })
    }
}
