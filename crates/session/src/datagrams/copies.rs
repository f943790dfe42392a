//! Copies of transactions that are under way on the stream, in case it is late (wire.md W81 to W83): they ride on datagrams
//! that go anyway, or in one of their own.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

use groupwire_afec::Planned;
use groupwire_afec::loss::LossModel;

use super::body::{Kept, keep};
use super::fnv1a;
use crate::Qos;
use crate::ids::{ChannelNo, Counter, Position};
use crate::limits::RECORD_OVERHEAD_IN_DATAGRAMS;
use crate::wire::record::{Direction, Number, Record};

/// W82: octets of a transaction that is copied, key included. Larger ones take packets that others need.
const MAX_COPIED: usize = 256;

/// Transactions that are copied at a time. When there are more, the oldest go.
const MAX_COPIES: usize = 32;

/// A copy does not share a packet of the transport with what it is a copy of, nor with another copy of the same: they
/// would be lost together.
const APART: Duration = Duration::from_millis(5);

/// No datagram went for so long: the first copy goes by itself, each further one after longer. Transactions are few where
/// pointers move, so that this costs little.
const ALONE_AFTER: Duration = Duration::from_millis(12);

/// After a loss the next packet is lost so many times as often as others: losses come in bursts.
const BURSTS: f64 = 2.0;

/// W82: of a channel's transactions a hundredth may be late, half of them on one hop.
const MAY_BE_LATE: f64 = 0.005;

/// Whether transactions of the channel are worth copying on a path that loses so: more than may be late, and not only by
/// what is not known of it.
pub(super) fn are_worth_it(qos: &Qos, loss: &LossModel) -> bool {
    qos.deadline.is_some() && loss.rate > MAY_BE_LATE + loss.rate_error()
}

/// W81: what a copy is checked by (FNV-1a of 32 bits), since what was delivered cannot be taken back: gmc's own check takes one
/// of 256 damaged bodies for sound.
pub(super) fn check(numbers: [u32; 6], payload: &[u8]) -> u32 {
    let numbers = numbers.map(u32::to_le_bytes);
    fnv1a(numbers.as_flattened().iter().chain(payload))
}

/// W82: how often one is copied, and by which factor longer each copy waits than the one before: so that those of few copies
/// meet other losses, or that of many one gets through a burst while it is still of use.
fn plan(loss: &LossModel) -> (u8, u32) {
    if loss.again[0] > BURSTS * loss.rate { (12, 1) } else { (2, 2) }
}

/// Transactions to be copied, the oldest first.
#[derive(Debug, Default)]
pub(super) struct Copies {
    waiting: VecDeque<Copy>,
    /// Buffers of those that are done.
    spare: Vec<Vec<u8>>,
}

#[derive(Debug)]
struct Copy {
    channel: ChannelNo,
    counter: Counter,
    /// W81: how many positions before it the last one is that its receiver is sent.
    back: u32,
    /// As a datagram's body keeps it.
    kept: Vec<u8>,
    check: u32,
    born: Duration,
    /// After this it is late anyway.
    until: Duration,
    times: u8,
    /// After so long the next one goes by itself, and each further one after this many times as long as the one before.
    alone_after: Duration,
    longer: u32,
    rides_at: Duration,
    goes_at: Duration,
}

impl Copies {
    /// Takes a transaction that is handed to the stream now. `previous`: the position of the last one before it that its
    /// receiver is sent; towards the server 0.
    pub(super) fn add(
        &mut self,
        now: Duration,
        record: &Record<'_>,
        previous: Position,
        sends: Direction,
        qos: &Qos,
        loss: &LossModel,
    ) {
        let Number::Transaction { counter, position } = record.number else { return };
        let octets = record.packed.unwrap_or(record.bytes).len();
        if octets + record.key.map_or(0, <[u8]>::len) > MAX_COPIED {
            return;
        }
        let mut kept = self.spare.pop().unwrap_or_default();
        kept.clear();
        keep(record, sends, &mut kept);
        let Some(Kept { sender, flags, index, stamp, payload, .. }) = Kept::read(&kept) else {
            return;
        };
        let back = u32::try_from(position.get().saturating_sub(previous.get())).unwrap_or(u32::MAX);
        let check = check([record.channel.get(), sender, flags, index, stamp, back], payload);
        let born = now.saturating_sub(record.age);
        let (times, longer) = plan(loss);
        self.waiting.push_back(Copy {
            channel: record.channel,
            counter,
            back,
            kept,
            check,
            born,
            until: born + qos.deadline.unwrap_or_default(),
            times,
            alone_after: ALONE_AFTER,
            longer,
            rides_at: now + APART,
            goes_at: now + ALONE_AFTER,
        });
        if self.waiting.len() > MAX_COPIES {
            self.forget(|_| true, 1);
        }
    }

    /// This end's own up to this one are ordered.
    pub(super) fn settled(&mut self, counter: Counter) {
        self.forget(|copy| copy.counter <= counter, MAX_COPIES);
    }

    /// When a datagram is to be made for a copy, if none goes before.
    pub(super) fn due(&self) -> Option<Duration> {
        self.waiting.iter().map(|copy| copy.goes_at).min()
    }

    /// Hands to `take` those that go into a datagram made now, which holds `room` octets more: at least one if it `is_empty`.
    /// Returns what they are before they are coded, in octets.
    pub(super) fn take(
        &mut self,
        now: Duration,
        mut room: usize,
        mut is_empty: bool,
        mut take: impl FnMut(&Planned<'_>, u32),
    ) -> usize {
        let mut octets = 0;
        for copy in self.waiting.iter_mut().filter(|copy| copy.rides_at <= now) {
            let size = copy.kept.len() + RECORD_OVERHEAD_IN_DATAGRAMS;
            if size > room && !is_empty {
                break;
            }
            room = room.saturating_sub(size);
            is_empty = false;
            octets += copy.kept.len();
            let age = now.saturating_sub(copy.born).as_millis();
            let planned = Planned {
                channel: copy.channel.get(),
                index: 0,
                back: copy.back,
                age: u32::try_from(age).unwrap_or(u32::MAX),
                repeated: true,
                payload: &copy.kept,
            };
            take(&planned, copy.check);
            copy.times -= 1;
            copy.alone_after *= copy.longer;
            copy.rides_at = now + APART;
            copy.goes_at = now + copy.alone_after;
        }
        self.forget(|copy| copy.times == 0, MAX_COPIES);
        octets
    }

    /// Forgets those that would come late.
    pub(super) fn expire(&mut self, now: Duration) {
        self.forget(|copy| copy.until < now, MAX_COPIES);
    }

    /// Forgets the first so many of these.
    fn forget(&mut self, mut which: impl FnMut(&Copy) -> bool, most: usize) {
        let Copies { waiting, spare } = self;
        let mut left = most;
        waiting.retain_mut(|copy| {
            let goes = left > 0 && which(copy);
            if goes {
                left -= 1;
                spare.push(core::mem::take(&mut copy.kept));
            }
            !goes
        });
        spare.truncate(MAX_COPIES);
    }
}
