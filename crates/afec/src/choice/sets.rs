//! The sets of repeats that [`choose`](super::choose) weighs. A repeat of a message goes in a later
//! packet with new messages (a piggyback) or in a packet of its own (a dedicated packet). A cluster
//! is the messages between two pauses.

use core::time::Duration;

use super::model::Model;
use crate::code::{Repeat, Repeats};

/// The farthest packet with a piggyback, counted from the packet of the message. Losses that are
/// further apart are nearly independent, and the longer a repeat waits, the more often the cluster
/// ends before the repeat is sent. Chosen by judgement; not tuned.
pub(super) const FARTHEST: u32 = 8;
/// The most piggybacks of a message. With more, `choose` would take longer
/// (`lab/benches/afec/choose.rs`). Chosen by judgement; not tuned.
const MOST_PIGGYBACKS: u32 = 4;
/// For messages that also have dedicated packets: the most piggybacks, and the farthest packet with
/// a piggyback. Where more piggybacks would be in time, piggybacks alone are cheaper than dedicated
/// packets.
const WITH_DEDICATED: (u32, u32) = (1, 4);
/// The most dedicated packets of a message. Chosen by judgement; not tuned.
const MOST_DEDICATED: u32 = 3;

/// All sets of piggybacks only that arrive in time, the empty set first.
pub(super) fn piggybacked(model: &Model) -> impl Iterator<Item = Repeats> {
    subsets(FARTHEST.min(model.slack as u32), MOST_PIGGYBACKS)
        .map(|piggybacks| Repeats::new(piggybacks_of(piggybacks)))
}

/// All sets with dedicated packets that arrive in time.
pub(super) fn with_dedicated(model: &Model) -> impl Iterator<Item = Repeats> {
    let dedicated = DedicatedTimes::fitting(model);
    let beside = subsets(WITH_DEDICATED.1.min(model.slack as u32), WITH_DEDICATED.0);
    subsets(dedicated.len, MOST_DEDICATED).skip(1).flat_map(move |picked| {
        beside.clone().map(move |piggybacks| {
            Repeats::new(piggybacks_of(piggybacks).chain(dedicated.picked(picked)))
        })
    })
}

/// The possible times of dedicated packets, which count from the message: a quarter and half of an
/// interval, and one interval more than each of these. A time of half an interval that is too late
/// is replaced by the latest time that is not too late.
#[derive(Clone, Copy)]
struct DedicatedTimes {
    offsets: [Duration; 4],
    len: u32,
}

impl DedicatedTimes {
    fn fitting(model: &Model) -> Self {
        let mut dedicated = DedicatedTimes { offsets: [Duration::ZERO; 4], len: 0 };
        for intervals in [0.0, 1.0] {
            let late = model.slack.min(intervals + 0.5);
            // Two packets that are closer than an eighth of an interval are lost together where
            // losses depend on time.
            for offset in [intervals + 0.25, late] {
                if offset <= late
                    && (offset == late || late - offset >= 0.125)
                    && late >= intervals + 0.125
                {
                    dedicated.offsets[dedicated.len as usize] = model.after(offset);
                    dedicated.len += 1;
                }
            }
        }
        dedicated
    }

    fn picked(self, picked: u32) -> impl Iterator<Item = Repeat> {
        (0..self.len)
            .filter(move |extra| picked >> extra & 1 == 1)
            .map(move |extra| Repeat::Dedicated(self.offsets[extra as usize]))
    }
}

fn piggybacks_of(piggybacks: u32) -> impl Iterator<Item = Repeat> {
    (1..=FARTHEST as u8).filter(move |lag| piggybacks >> (lag - 1) & 1 == 1).map(Repeat::Piggyback)
}

/// All subsets of `of` elements that have at most `most` elements, as bits; the empty subset first.
fn subsets(of: u32, most: u32) -> impl Iterator<Item = u32> + Clone {
    (0..1 << of).filter(move |set: &u32| set.count_ones() <= most)
}
