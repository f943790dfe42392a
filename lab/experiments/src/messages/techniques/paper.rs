//! The compressor of the GMC paper.

use std::time::{Duration, Instant};

use groupwire_papers::gmc2006::{Config, Decoder, Encoder, Overhead, Profile};

use super::announcer::{Announcer, Listener};
use crate::messages::row::Mode;
use crate::messages::technique::{Decoded, Failure, Message, Packet, State, Technique};
use crate::trace::limits::MAX_MESSAGE;

/// An encoder and a decoder of `groupwire_papers::gmc2006`.
pub(super) struct Paper {
    encoder: Encoder,
    decoder: Decoder,
    is_single: bool,
    /// The announcements, where they may get lost.
    datagrams: Option<(Announcer, Listener)>,
    announcements: Vec<u8>,
    timer: Option<Timer>,
}

/// What says how long it took to compress messages.
pub(super) enum Timer {
    /// The machine's clock.
    Clock,
    /// A model of the time, the same on every machine: of the templates and of the messages' bytes.
    #[cfg(test)]
    Model(fn(templates: usize, bytes: usize) -> Duration),
}

impl Paper {
    /// The target ratio is not adapted, so that sizes do not depend on the machine.
    pub(super) fn new(mode: Mode, profile: Profile) -> Self {
        Self::with(mode, Config { profile, ..Config::default() }, None)
    }

    /// The automatic mode (section 4.1.1): the target ratio falls as long as messages take at most
    /// `budget`, and rises above it.
    pub(super) fn tuned(mode: Mode, budget: Duration, timer: Timer) -> Self {
        Self::with(mode, Config { time_budget: budget, ..Config::default() }, Some(timer))
    }

    fn with(mode: Mode, config: Config, timer: Option<Timer>) -> Self {
        let config = Config { max_message: MAX_MESSAGE, ..config };
        Paper {
            encoder: Encoder::new(config.clone()),
            decoder: Decoder::new(config),
            is_single: mode.messages_per_packet() == 1,
            datagrams: (mode != Mode::Stream).then(Default::default),
            announcements: Vec::new(),
            timer,
        }
    }

    /// Compresses messages, and tells the encoder the time of each if it is tuned by that.
    fn compress(&mut self, messages: &[Message<'_>], body: &mut Vec<u8>) -> Result<(), Failure> {
        let start = Instant::now();
        #[cfg(test)]
        let templates = self.encoder.templates();
        let bytes = messages.iter().map(|message| message.bytes);
        match (self.is_single, messages) {
            (true, [one]) => self.encoder.encode(one.bytes, &mut self.announcements, body)?,
            _ => self.encoder.encode_packet(bytes, &mut self.announcements, body)?,
        }
        let Some(timer) = &self.timer else { return Ok(()) };
        let time = match timer {
            Timer::Clock => start.elapsed(),
            #[cfg(test)]
            Timer::Model(model) => {
                model(templates, messages.iter().map(|message| message.bytes.len()).sum())
            }
        };
        for _ in messages {
            self.encoder.took(time / messages.len() as u32);
        }
        Ok(())
    }
}

impl Technique for Paper {
    fn encode(&mut self, messages: &[Message<'_>], packet: &mut Packet) -> Result<(), Failure> {
        self.announcements.clear();
        let mut body = Vec::new();
        self.compress(messages, &mut body)?;
        match &mut self.datagrams {
            None => packet.announcements.extend_from_slice(&self.announcements),
            Some((announcer, _)) => announcer.announce(&self.announcements, &mut packet.body),
        }
        packet.body.extend(body);
        Ok(())
    }

    fn decode(&mut self, packet: &Packet, out: &mut Decoded) -> Result<(), Failure> {
        let mut body = &packet.body[..];
        if let Some((_, listener)) = &mut self.datagrams {
            body = listener.listen(body, |new| Ok(self.decoder.announce(new)?))?;
        } else {
            self.decoder.announce(&packet.announcements)?;
        }
        match self.is_single {
            true => out.push_with(|bytes| self.decoder.decode(body, bytes))?,
            false => self.decoder.decode_packet(body, |message| out.push(message))?,
        }
        Ok(())
    }

    fn acknowledge(&mut self, out: &mut Vec<u8>) {
        if let Some((_, listener)) = &mut self.datagrams {
            listener.acknowledge(out);
        }
    }

    fn acknowledged(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        match &mut self.datagrams {
            Some((announcer, _)) => announcer.acknowledged(bytes),
            None => Ok(()),
        }
    }

    fn state(&mut self) -> State {
        State { encoder: Some(self.encoder.memory()), decoder: None }
    }

    fn templates(&self) -> Option<usize> {
        Some(self.encoder.templates())
    }

    fn overhead(&self) -> Option<Overhead> {
        Some(self.encoder.overhead())
    }

    fn target_percent(&self) -> Option<f64> {
        Some(f64::from(self.encoder.target_ratio()) / 100.0)
    }

    fn announced(&self) -> u64 {
        self.datagrams.as_ref().map_or(0, |(announcer, _)| announcer.announced())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A message of one of three types, which share most of their bytes: with a template of another
    /// type it takes less than 30 % of its size.
    fn message(n: usize) -> String {
        let kind = ["createObjectWithShape", "pointerOfParticipant", "textOfTheEditedBox"];
        let shared =
            "<event session='9357' sender='12'><of the='drawing program'><that is='old'>".repeat(6);
        let own = kind[n / 60 % 3];
        format!("{shared}<{own}><{own}X>{}</{own}X><{own}Y>{}</{own}Y>", n * 7 % 900, n * 11 % 700)
    }

    /// What the compressor makes of 3000 messages, if compressing takes a microsecond for each byte
    /// and template: bytes, templates, and the target ratio in percent.
    fn tuned(budget_us: u64) -> (usize, usize, f64) {
        let model = |templates, bytes| Duration::from_micros((templates * bytes) as u64);
        let budget = Duration::from_micros(budget_us);
        let mut paper = Paper::tuned(Mode::Stream, budget, Timer::Model(model));
        let mut bytes = 0;
        for n in 0..3000 {
            let text = message(n);
            let message = Message { bytes: text.as_bytes(), kind: 0, sender: 7, event: None };
            let mut packet = Packet::default();
            paper.encode(&[message], &mut packet).unwrap();
            bytes += packet.bytes();
            let mut decoded = Decoded::default();
            paper.decode(&packet, &mut decoded).unwrap();
            assert!(decoded.is(&[message]));
        }
        (bytes, paper.encoder.templates(), paper.target_percent().unwrap())
    }

    #[test]
    fn templates_are_made_as_long_as_there_is_time_for_them() {
        // A message has some 570 bytes, so a template takes 570 µs of the budget.
        let [none, some, ample] = [1, 900, 1_000_000].map(tuned);
        assert_eq!((none.1, none.2), (1, 30.0), "the first template is good enough for 30 %");
        assert!(some.1 >= 2 && some.2 == 30.0, "two take too long, the target rises: {some:?}");
        assert!(ample.1 >= 3 && ample.2 == 0.0, "{ample:?}");
        assert!(ample.0 <= some.0 && some.0 < none.0, "{ample:?} {some:?} {none:?}");
        assert_eq!(ample, tuned(1_000_000), "a model of the time makes it repeatable");
    }
}
