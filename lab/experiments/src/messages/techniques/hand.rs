//! Formats written by hand for this session's events, as a programmer would who knows what is sent.

use crate::hand::EventCodec;
use crate::messages::framing::Framing;
use crate::messages::technique::{Decoded, Failure, Message, Packet, State, Technique};

/// Both ends of a format.
pub(super) struct Hand {
    sender: Box<dyn EventCodec>,
    receiver: Box<dyn EventCodec>,
    framing: Framing,
    state: State,
    coded: Vec<u8>,
    received: Decoded,
}

impl Hand {
    /// A format that does not remember earlier messages.
    pub(super) fn alone(framing: Framing, codec: fn() -> Box<dyn EventCodec>) -> Self {
        Self::with(framing, codec, State::NONE)
    }

    /// A format that remembers earlier messages, in memory of unknown size.
    pub(super) fn remembering(framing: Framing, codec: fn() -> Box<dyn EventCodec>) -> Self {
        Self::with(framing, codec, State::UNKNOWN)
    }

    fn with(framing: Framing, codec: fn() -> Box<dyn EventCodec>, state: State) -> Self {
        let (coded, received) = (Vec::new(), Decoded::default());
        Hand { sender: codec(), receiver: codec(), framing, state, coded, received }
    }
}

impl Technique for Hand {
    fn encode(&mut self, messages: &[Message<'_>], packet: &mut Packet) -> Result<(), Failure> {
        for message in messages {
            let event = message.event.ok_or("what the messages say is not known")?;
            self.coded.clear();
            self.sender.encode(event, &mut self.coded);
            self.framing.append(&self.coded, &mut packet.body);
        }
        Ok(())
    }

    fn decode(&mut self, packet: &Packet, out: &mut Decoded) -> Result<(), Failure> {
        self.received.clear();
        self.framing.split(&packet.body, &mut self.received)?;
        for message in self.received.iter() {
            out.push_event(self.receiver.decode(message)?);
        }
        Ok(())
    }

    fn state(&mut self) -> State {
        self.state
    }
}
