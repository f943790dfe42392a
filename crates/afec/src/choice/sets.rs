//! The sets of repeats that are weighed.

use core::time::Duration;

use super::model::Model;
use crate::code::{Repeat, Repeats};

/// The last packet that a repeat rides on, of those that are weighed. Losses further apart are nearly independent, and
/// the longer a repeat waits the more messages are at the end of a cluster without it.
pub(super) const RIDES: u32 = 8;
/// The most rides of a message.
const MOST_RIDES: u32 = 4;
/// The most rides beside extra packets, and the last packet for them. Where more fit, they are cheaper than extra packets.
const BESIDE_EXTRAS: (u32, u32) = (1, 4);
/// The most extra packets of a message.
const MOST_EXTRAS: u32 = 3;

/// All sets that ride on packets that go anyway and arrive in time, none first.
pub(super) fn riding(model: &Model) -> impl Iterator<Item = Repeats> {
    subsets(RIDES.min(model.slack as u32), MOST_RIDES).map(|rides| Repeats::new(rides_of(rides)))
}

/// All sets with packets of their own that arrive in time.
pub(super) fn with_extras(model: &Model) -> impl Iterator<Item = Repeats> {
    let extras = Extras::fitting(model);
    let beside = subsets(BESIDE_EXTRAS.1.min(model.slack as u32), BESIDE_EXTRAS.0);
    subsets(extras.len, MOST_EXTRAS).skip(1).flat_map(move |picked| {
        beside.clone().map(move |rides| Repeats::new(rides_of(rides).chain(extras.picked(picked))))
    })
}

/// When extra packets may go: a quarter and half of an interval after a message, and one interval later. If half is too
/// late, as late as arrives in time.
#[derive(Clone, Copy)]
struct Extras {
    offsets: [Duration; 4],
    len: u32,
}

impl Extras {
    fn fitting(model: &Model) -> Self {
        let mut extras = Extras { offsets: [Duration::ZERO; 4], len: 0 };
        for intervals in [0.0, 1.0] {
            let late = model.slack.min(intervals + 0.5);
            // Two packets closer than this are lost together where losses depend on time.
            for offset in [intervals + 0.25, late] {
                if offset <= late
                    && (offset == late || late - offset >= 0.125)
                    && late >= intervals + 0.125
                {
                    extras.offsets[extras.len as usize] = model.after(offset);
                    extras.len += 1;
                }
            }
        }
        extras
    }

    fn picked(self, picked: u32) -> impl Iterator<Item = Repeat> {
        (0..self.len)
            .filter(move |extra| picked >> extra & 1 == 1)
            .map(move |extra| Repeat::Extra(self.offsets[extra as usize]))
    }
}

fn rides_of(rides: u32) -> impl Iterator<Item = Repeat> {
    (1..=RIDES as u8).filter(move |lag| rides >> (lag - 1) & 1 == 1).map(Repeat::Ride)
}

/// The subsets, of at most `most`, of so many things, as bits. The empty one first.
fn subsets(of: u32, most: u32) -> impl Iterator<Item = u32> + Clone {
    (0..1 << of).filter(move |set: &u32| set.count_ones() <= most)
}
