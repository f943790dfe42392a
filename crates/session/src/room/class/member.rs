//! What a room knows of a participant that classes may serve.

use alloc::sync::Arc;
use core::time::Duration;

use super::loss::Loss;
use crate::ids::{ChannelNo, GroupId};
use crate::room::audience::Audience;

/// How long a participant is served alone that did not keep up with a class, at first; each time twice as long.
const PATIENCE: Duration = Duration::from_secs(20);
const LONGEST_PATIENCE: Duration = Duration::from_secs(320);

/// After so long in a class all is forgiven.
const PROVEN: Duration = Duration::from_secs(60);

/// Round trips that are long, and what an acknowledgement waits.
const LATE: Duration = Duration::from_millis(350);
const LATE_IN_A_ROW: u8 = 3;

/// Octets of a model in one MODEL frame: pings get in between.
const PIECE: usize = 8 << 10;

/// A participant whose transport takes the datagrams of classes.
#[derive(Debug, Default)]
pub(in crate::room) struct Member {
    /// The class that it is served by.
    pub(super) served: Option<Served>,
    /// The class whose model is on its way to it.
    pub(super) enters: Option<Enters>,
    /// It enters, as many others do: until then it is not served these channels (W71).
    pub(super) waits: Option<Audience>,
    pub(super) loss: Loss,
    /// Its round trips are long.
    pub(super) is_far: bool,
    /// How many acknowledgements in a row came late.
    late: u8,
    /// When it may enter a class again.
    pub(super) retry: Duration,
    patience: Duration,
}

/// A place in a class.
#[derive(Debug)]
pub(super) struct Served {
    pub(super) class: GroupId,
    pub(super) audience: Audience,
    pub(super) since: Duration,
    /// It has all packets up to here.
    pub(super) acknowledged: u32,
    /// Up to here it was counted what was lost.
    pub(super) judged: u32,
    /// Up to here all that it lacked was sent again.
    pub(super) again: u32,
}

/// A model on its way.
#[derive(Debug)]
pub(super) struct Enters {
    pub(super) class: GroupId,
    pub(super) since: Duration,
    model: Arc<[u8]>,
    offset: usize,
}

/// A piece of a model.
pub(super) struct Piece<'a> {
    pub(super) class: GroupId,
    pub(super) total: u32,
    pub(super) offset: u32,
    pub(super) bytes: &'a [u8],
}

impl Member {
    /// Whether it gets these messages by a class, or will once it has entered it.
    pub(in crate::room) fn is_served(&self, channel: ChannelNo, size: usize) -> bool {
        let served = self.served.as_ref().map(|served| &served.audience).or(self.waits.as_ref());
        super::takes(size) && served.is_some_and(|audience| audience.contains(channel))
    }

    /// The class that it is served by.
    #[cfg(feature = "describe")]
    pub(in crate::room) fn class(&self) -> Option<GroupId> {
        self.served.as_ref().map(|served| served.class)
    }

    /// The share of the class's packets that it lost, as far as that is known.
    #[cfg(feature = "describe")]
    pub(in crate::room) fn lost(&self) -> Option<f64> {
        self.loss.share()
    }

    /// Whether a piece of a model waits to be sent.
    pub(in crate::room) fn has_piece(&self) -> bool {
        self.enters.as_ref().is_some_and(|enters| enters.offset < enters.model.len())
    }

    /// Whether the model of this class is on its way to it.
    pub(super) fn waits_for(&self, class: GroupId) -> bool {
        self.enters.as_ref().is_some_and(|enters| enters.class == class)
    }

    /// The next piece of a model.
    pub(super) fn next_piece(&mut self) -> Option<Piece<'_>> {
        let Enters { class, model, offset, .. } = self.enters.as_mut()?;
        let from = *offset;
        *offset = model.len().min(from + PIECE);
        (from < *offset).then(|| Piece {
            class: *class,
            total: model.len() as u32,
            offset: from as u32,
            bytes: &model[from..*offset],
        })
    }

    pub(super) fn enter(&mut self, now: Duration, class: GroupId, model: Arc<[u8]>) {
        self.enters = Some(Enters { class, since: now, model, offset: 0 });
    }

    /// A packet and its acknowledgement took so long.
    pub(super) fn took(&mut self, time: Duration) {
        self.late = if time > LATE { self.late.saturating_add(1) } else { 0 };
    }

    /// It answers so late that its round trips must have become long.
    pub(super) fn is_late(&self) -> bool {
        self.late >= LATE_IN_A_ROW
    }

    /// The classes that it is in or enters.
    pub(super) fn classes(&self) -> impl Iterator<Item = GroupId> + use<> {
        let served = self.served.as_ref().map(|served| served.class);
        let enters = self.enters.as_ref().map(|enters| enters.class);
        served.into_iter().chain(enters)
    }

    /// It did not keep up: it is served alone for a while.
    pub(super) fn punish(&mut self, now: Duration) {
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
