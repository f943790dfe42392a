//! The compressor of the GMC paper.

use groupwire_papers::gmc2006::{Config, Decoder, Encoder, Profile};

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
}

impl Paper {
    /// The target ratio is not adapted, so that sizes do not depend on the machine.
    pub(super) fn new(mode: Mode, profile: Profile) -> Self {
        let config = Config { profile, max_message: MAX_MESSAGE, ..Config::default() };
        Paper {
            encoder: Encoder::new(config.clone()),
            decoder: Decoder::new(config),
            is_single: mode.messages_per_packet() == 1,
            datagrams: (mode != Mode::Stream).then(Default::default),
            announcements: Vec::new(),
        }
    }
}

impl Technique for Paper {
    fn encode(&mut self, messages: &[Message<'_>], packet: &mut Packet) -> Result<(), Failure> {
        let Some((announcer, _)) = &mut self.datagrams else {
            let Packet { announcements, body } = packet;
            return encode(&mut self.encoder, self.is_single, messages, announcements, body);
        };
        self.announcements.clear();
        let mut body = Vec::new();
        encode(&mut self.encoder, self.is_single, messages, &mut self.announcements, &mut body)?;
        announcer.announce(&self.announcements, &mut packet.body);
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

    fn announced(&self) -> u64 {
        self.datagrams.as_ref().map_or(0, |(announcer, _)| announcer.announced())
    }
}

fn encode(
    encoder: &mut Encoder,
    is_single: bool,
    messages: &[Message<'_>],
    announcements: &mut Vec<u8>,
    body: &mut Vec<u8>,
) -> Result<(), Failure> {
    match (is_single, messages) {
        (true, [message]) => encoder.encode(message.bytes, announcements, body)?,
        _ => {
            let messages = messages.iter().map(|message| message.bytes);
            encoder.encode_packet(messages, announcements, body)?;
        }
    }
    Ok(())
}
