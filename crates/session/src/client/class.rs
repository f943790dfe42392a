//! Datagrams of classes, which the room codes once for many receivers (wire.md W70 to W75).

use alloc::vec::Vec;
use core::time::Duration;

use super::{Client, Phase};
use crate::ids::{GroupId, ParticipantId};
use crate::limits::MAX_DATAGRAM_MODEL;
use crate::link::Link;
use crate::wire::acknowledged::Acknowledged;
use crate::wire::body::{BodyDecoder, Lane};
use crate::wire::frame::{Frame, Frames, SHARED_DATAGRAM_LAST};
use crate::wire::record::{Number, Record};
use crate::{Error, Kind};

/// Models at a time: that of the class one is in, and that of the next one.
const MODELS: usize = 2;

/// W72: an acknowledgement waits so long, and a share of as much again that differs from one receiver to the next ...
const ACKNOWLEDGE_WITHIN: Duration = Duration::from_millis(250);
const SPREAD_MS: u32 = 150;

/// ... or until so many datagrams came; ...
const ACKNOWLEDGE_AFTER: u32 = 32;

/// ... and goes with a datagram that leaves so long before.
const ACKNOWLEDGE_EARLY: Duration = Duration::from_millis(150);

/// Who was sent something again is waited for.
const ACKNOWLEDGE_SOON: Duration = Duration::from_millis(30);

/// The classes of one transport.
#[derive(Default)]
pub(super) struct Classes {
    is_agreed: bool,
    /// A model on its way.
    arriving: Option<Arriving>,
    models: Vec<Model>,
}

struct Arriving {
    class: GroupId,
    total: u32,
    bytes: Vec<u8>,
}

struct Model {
    class: GroupId,
    decoder: BodyDecoder,
    /// Datagrams since the last acknowledgement.
    unanswered: u32,
    answer_at: Option<Duration>,
}

impl Classes {
    pub(super) fn new(is_agreed: bool) -> Self {
        Classes { is_agreed, ..Classes::default() }
    }

    /// When an acknowledgement is due, if no datagram goes before.
    pub(super) fn answer_at(&self) -> Option<Duration> {
        self.models.iter().filter_map(|model| model.answer_at).min()
    }

    pub(super) fn must_answer(&self, now: Duration) -> bool {
        self.answer_at().is_some_and(|at| at <= now)
    }

    /// Adds acknowledgements to a datagram that begins with them.
    pub(super) fn acknowledge(&mut self, now: Duration, packet: &mut Vec<u8>) {
        for model in &mut self.models {
            if model.answer_at.is_some_and(|at| at <= now + ACKNOWLEDGE_EARLY) {
                let mut frame = Vec::new();
                model.acknowledge(&mut frame);
                packet.splice(0..0, frame);
            }
        }
    }
}

impl Model {
    fn acknowledge(&mut self, out: &mut Vec<u8>) {
        (self.unanswered, self.answer_at) = (0, None);
        let (newest, came) = self.decoder.received();
        let (mut gmc, mut rest) = (Vec::new(), Vec::new());
        self.decoder.acknowledge(&mut gmc);
        Acknowledged::new(newest, came, &gmc).write(&mut rest);
        Frame::Acknowledged { class: self.class, rest: &rest }.write(out);
    }

    /// A datagram came, by itself or over the stream.
    fn came(&mut self, now: Duration, participant: ParticipantId, is_again: bool) {
        self.unanswered += 1;
        let spread = participant.get().wrapping_mul(37) % SPREAD_MS;
        let within = match (is_again, self.unanswered >= ACKNOWLEDGE_AFTER) {
            (_, true) => Duration::ZERO,
            (true, _) => ACKNOWLEDGE_SOON,
            (false, _) => ACKNOWLEDGE_WITHIN + Duration::from_millis(u64::from(spread)),
        };
        let at = now + within;
        self.answer_at = Some(self.answer_at.map_or(at, |before| before.min(at)));
    }
}

impl Client {
    /// W71: a piece of a model.
    pub(super) fn class_model(
        &mut self,
        class: GroupId,
        total: u32,
        offset: u32,
        bytes: &[u8],
    ) -> Result<(), Error> {
        let classes = &mut self.classes;
        if !classes.is_agreed {
            return Err(Error::malformed("MODEL: it was not agreed on"));
        }
        let size = total as usize;
        if size > MAX_DATAGRAM_MODEL {
            return Err(Error::TooLarge { what: "model", size, limit: MAX_DATAGRAM_MODEL });
        }
        if offset == 0 {
            classes.arriving = Some(Arriving { class, total, bytes: Vec::new() });
        }
        let fits = |arriving: &&mut Arriving| {
            let come = arriving.bytes.len();
            (arriving.class, arriving.total) == (class, total)
                && come == offset as usize
                && come + bytes.len() <= size
        };
        let Some(arriving) = classes.arriving.as_mut().filter(fits) else {
            return Err(Error::malformed("MODEL: pieces that do not fit together"));
        };
        arriving.bytes.extend_from_slice(bytes);
        let Some(whole) = classes.arriving.take_if(|arriving| arriving.bytes.len() == size) else {
            return Ok(());
        };
        let decoder = BodyDecoder::from_model(&whole.bytes, self.config.limits.max_message)?;
        let mut model = Model { class, decoder, unanswered: 0, answer_at: None };
        let mut frame = Vec::new();
        model.acknowledge(&mut frame);
        classes.models.retain(|model| model.class != class);
        if classes.models.len() == MODELS {
            classes.models.remove(0);
        }
        classes.models.push(model);
        if let Some(link) = self.link.as_mut() {
            link.queue_raw(frame);
        }
        Ok(())
    }

    /// W75.
    pub(super) fn leave_class(&mut self, class: GroupId) {
        self.classes.models.retain(|model| model.class != class);
        self.classes.arriving.take_if(|arriving| arriving.class == class);
    }

    /// Takes in a class's datagram; returns what is none.
    pub(super) fn take_shared<'p>(&mut self, now: Duration, packet: &'p [u8]) -> &'p [u8] {
        if self.phase != Phase::Joined || self.classes.models.is_empty() {
            return packet;
        }
        if packet.first() != Some(&SHARED_DATAGRAM_LAST) {
            return packet;
        }
        if let Ok(Some(Frame::SharedDatagram { class, rest })) = Frames::new(packet).next() {
            self.shared_datagram(now, class, rest, None);
        }
        &[]
    }

    /// A body of a class; `again`: over the stream, so long after it was made. What is wrong with it costs nothing but itself, as it may come too late to be understood.
    pub(super) fn shared_datagram(
        &mut self,
        now: Duration,
        class: GroupId,
        body: &[u8],
        again: Option<Duration>,
    ) {
        let is_again = again.is_some();
        let Some(at) = self.classes.models.iter().position(|model| model.class == class) else {
            return;
        };
        let way = |link: &Link| if is_again { link.transit() } else { link.clock.one_way() };
        let Some(way) = self.link.as_ref().map(way) else { return };
        let took = way + again.unwrap_or_default();
        let me = self.participant().unwrap_or_default();
        let mut model = self.classes.models.remove(at);
        // A channel that is not open any more may be in it for a while, or is one's own matter to know.
        let kind_of = |_| Ok(Kind::Awareness);
        let each = |record: Record<'_>| {
            let id = record.channel.get() as usize;
            let is_open = self
                .known
                .get(id)
                .copied()
                .flatten()
                .is_some_and(|needs| needs.qos.kind == Kind::Awareness);
            let is_awareness = matches!(record.number, Number::Awareness { .. });
            if record.sender == me || !is_open || !is_awareness {
                return Ok(());
            }
            self.deliver(took, &record)
        };
        let outcome = model.decoder.coded(body, kind_of, each);
        if outcome.is_ok() || is_again {
            model.came(now, me, is_again);
        }
        if is_again {
            // W74: what follows may be coded under any packet that this completes, so all of them are promised.
            model.decoder.acknowledge(&mut Vec::new());
        }
        self.classes.models.insert(at, model);
    }

    /// A frame of the stream that is about a class's datagrams.
    pub(super) fn class_frame(&mut self, now: Duration, frame: &Frame<'_>) -> Result<(), Error> {
        match *frame {
            Frame::Model { lane: Lane::Datagrams, class, total, offset, rest } => {
                self.class_model(class, total, offset, rest)
            }
            Frame::SharedAgain { class, waited, rest } => {
                let waited = Duration::from_millis(waited.into());
                self.shared_datagram(now, class, rest, Some(waited));
                Ok(())
            }
            Frame::Leave { lane: Lane::Datagrams, class, .. } => {
                self.leave_class(class);
                Ok(())
            }
            _ => Err(Error::malformed("frame: it was not agreed on")),
        }
    }
}
