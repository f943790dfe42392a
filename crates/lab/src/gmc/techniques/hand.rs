//! Formats written by hand for this session's events: what a programmer can do who knows what is sent.

use crate::gmc::framing::Framing;
use crate::gmc::technique::{Decoded, Failure, Message, Packet, State, Technique};
use crate::hand::EventCodec;

/// Both ends of a format.
pub(super) struct Hand<C> {
    sender: C,
    receiver: C,
    framing: Framing,
    coded: Vec<u8>,
}

impl<C: EventCodec> Hand<C> {
    /// With a codec for each end.
    pub(super) fn new(framing: Framing, codec: impl Fn() -> C) -> Self {
        Hand { sender: codec(), receiver: codec(), framing, coded: Vec::new() }
    }
}

impl<C: EventCodec> Technique for Hand<C> {
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
        let mut coded = Decoded::default();
        self.framing.split(&packet.body, &mut coded)?;
        for message in coded.iter() {
            out.push_event(self.receiver.decode(message)?);
        }
        Ok(())
    }

    fn state(&mut self) -> State {
        State { encoder: size_of_val(&self.sender), decoder: Some(size_of_val(&self.receiver)) }
    }
}
