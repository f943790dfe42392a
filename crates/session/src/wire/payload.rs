//! The payload of a packet: a sequence of records, either uncompressed, compressed together by gmc,
//! or packed as a whole by a codec (wire W26, W27, W54).

pub(crate) mod account;
mod batch;
mod coder;
mod decoder;
mod encoder;
mod group;
mod records;
mod state;

pub(crate) use batch::Batch;
pub(crate) use decoder::PayloadDecoder;
pub(crate) use encoder::PayloadEncoder;
pub(crate) use group::GroupEncoder;
pub(crate) use state::{SharedModel, StatePayloads};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{ChannelNo, Counter, Index, ParticipantId, Position};
    use crate::packing::{Choosing, Packing};
    use crate::wire::coding::{Coding, PayloadForm};
    use crate::wire::frame::CODED_LAST;
    use crate::wire::numbering::Numbering;
    use crate::wire::piece::Piece;
    use crate::wire::record::{Direction, Number, Record};
    use crate::{Error, Kind, ModelMemory};
    use alloc::vec;
    use alloc::vec::Vec;
    use core::time::Duration;
    use groupwire_codecs::{ALL, Costs};
    use proptest::prelude::*;

    fn kind_of(channel: ChannelNo) -> Result<Kind, Error> {
        Ok(if channel.get().is_multiple_of(2) { Kind::Awareness } else { Kind::Transaction })
    }

    /// Calls `each` for every record of a payload. Stops at the first record that cannot be read.
    fn read(
        decoder: &mut PayloadDecoder,
        form: PayloadForm,
        payload: &[u8],
        packing: &mut Packing,
        mut each: impl FnMut(Record<'_>),
    ) -> Result<(), Error> {
        let mut batch = Batch::default();
        let mut records = decoder.open(form, payload, packing, &mut batch)?;
        let outcome = loop {
            match records.next(decoder, packing, kind_of) {
                Ok(Some(record)) => each(record),
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        records.finish(outcome)
    }

    type Parts = (u32, u32, u32, Option<Vec<u8>>, Option<u8>, Vec<u8>);

    fn arbitrary_record() -> impl Strategy<Value = Parts> {
        (
            0..5u32,
            0..4u32,
            any::<u32>(),
            proptest::option::of(proptest::collection::vec(any::<u8>(), 0..20)),
            any::<Option<u8>>(),
            proptest::collection::vec(any::<u8>(), 0..200),
        )
    }

    proptest! {
        #[test]
        fn payloads_round_trip(
            coded: bool,
            shared: bool,
            packets in proptest::collection::vec(proptest::collection::vec(arbitrary_record(), 0..12), 1..6),
        ) {
            let numbering = || Numbering::new(ParticipantId(1), Counter(0), Position(0));
            let models = if packets.len() % 2 == 0 { ModelMemory::Small } else { ModelMemory::Full };
            let memory = coded.then_some(models);
            let mut encoder = PayloadEncoder::new(Direction::ToClient, numbering(), memory);
            let mut decoder = PayloadDecoder::new(Direction::ToClient, numbering(), memory, 1000);
            let coding = if shared { Coding::Shared } else { Coding::Alone };
            let (mut packs, mut packing) = (Packing::new(ALL, Costs::reference()), Packing::new(ALL, Costs::reference()));
            let mut position = 0;
            for packet in packets {
                let mut sent = Vec::new();
                for (channel, sender, number, key, priority, bytes) in &packet {
                    position += 1 + u64::from(number % 3);
                    let number = match kind_of(ChannelNo(*channel)) {
                        Ok(Kind::Awareness) => {
                            let (index, after) = (Index(*number), Counter(*number ^ 5));
                            Number::Awareness { index, after }
                        }
                        _ => {
                            let (counter, position) = (Counter(*number), Position(position));
                            Number::Transaction { counter, position }
                        }
                    };
                    sent.push(Record {
                        channel: ChannelNo(*channel), sender: ParticipantId(*sender), number,
                        own: false, piece: Piece::Whole, state: bytes.len() % 2 == 0, age: Duration::from_millis(40), text: false,
                        key: key.as_deref(), priority: *priority, departed: None, to: None, bytes, packed: None, coding,
                    });
                }
                for record in &sent {
                    let lz4 = groupwire_codecs::Choice::codec(1);
                    let packed = if shared { None } else { packs.pack(lz4, record.bytes) };
                    encoder.push(&Record { packed, ..*record });
                }
                let mut out = vec![];
                let choosing = &mut Choosing::default();
                encoder.finish(choosing, &mut packs, &mut out).unwrap();
                let is_coded = out[0] == CODED_LAST;
                prop_assert!(is_coded == (coded && shared) || sent.is_empty());
                let (form, coding) = match is_coded {
                    true => (PayloadForm::Coded, Coding::Shared),
                    false => (PayloadForm::Plain, Coding::Alone),
                };
                let mut at = 0;
                read(&mut decoder, form, &out[1..], &mut packing, |record| {
                    let packed = record.packed.filter(|_| !shared);
                    assert_eq!(record, Record { coding, packed, ..sent[at] });
                    at += 1;
                }).unwrap();
                prop_assert_eq!(at, sent.len());
            }
        }

        #[test]
        fn random_payloads_never_panic(payload: Vec<u8>) {
            let mut packing = Packing::new(ALL, Costs::reference());
            for direction in [Direction::ToServer, Direction::ToClient] {
                let mut decoder = PayloadDecoder::new(direction, Numbering::default(), Some(ModelMemory::Full), 1000);
                for form in [PayloadForm::Plain, PayloadForm::Coded, PayloadForm::Packed] {
                    let _ = read(&mut decoder, form, &payload, &mut packing, |_| ());
                }
            }
        }
    }
}
