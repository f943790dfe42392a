extern crate std;

use alloc::vec;

use proptest::collection::vec as bytes;
use proptest::prelude::*;

use super::*;
use crate::cursor::Place;

fn owner() -> impl Strategy<Value = Owner> {
    ("[a-z0-9.-]{1,64}", any::<u64>(), bytes(any::<u8>(), 0..100)).prop_map(
        |(name, incarnation, address)| Owner {
            node: NodeName::new(&name).expect("it has a right length"),
            incarnation,
            address,
        },
    )
}

fn blob() -> impl Strategy<Value = BlobRef> {
    ("[a-z0-9-]{0,128}", any::<u32>(), any::<u32>()).prop_map(|(name, length, crc)| BlobRef {
        name,
        length,
        crc,
    })
}

fn cursor() -> impl Strategy<Value = Cursor> {
    (any::<[u64; 5]>(), any::<u32>(), proptest::option::of(owner())).prop_map(
        |([sequence, number, epoch, base, at], crc, owner)| Cursor {
            sequence,
            number,
            epoch,
            crc,
            base: Place { sequence: base, number: at },
            owner,
        },
    )
}

fn body() -> impl Strategy<Value = Body> {
    prop_oneof![
        (owner(), any::<bool>()).prop_map(|(owner, mends)| Body::Claim { owner, mends }),
        owner().prop_map(|owner| Body::Release { to: owner.node }),
        bytes(any::<u8>(), 0..2000).prop_map(Body::Changes),
        blob().prop_map(Body::Blob),
        (blob(), cursor()).prop_map(|(blob, cursor)| Body::Base { blob, cursor }),
    ]
}

fn record() -> impl Strategy<Value = Record> {
    (any::<u16>(), any::<[u64; 3]>(), any::<u32>(), body()).prop_map(
        |(shard, [epoch, number, time], previous, body)| Record {
            shard,
            epoch,
            number,
            time,
            previous,
            body,
        },
    )
}

/// Bytes with a right checksum, so that the parser reads on.
fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let crc = crc32c(&bytes);
    bytes.extend_from_slice(&crc.to_le_bytes());
    bytes
}

proptest! {
    #[test]
    fn a_written_record_is_read(record in record()) {
        prop_assert_eq!(Record::parse(&record.to_bytes()), Ok(record));
    }

    #[test]
    fn a_written_cursor_is_read(cursor in cursor()) {
        prop_assert_eq!(Cursor::parse(&cursor.to_bytes()), Ok(cursor));
    }

    #[test]
    fn a_flipped_bit_is_noticed(
        record in record(),
        at in any::<prop::sample::Index>(),
        bit in 0..8,
    ) {
        let mut bytes = record.to_bytes();
        let at = at.index(bytes.len());
        bytes[at] ^= 1_u8 << bit;
        prop_assert_eq!(Record::parse(&bytes), Err(RecordError::Checksum(bytes.len())));
    }

    #[test]
    fn a_cut_record_is_refused(record in record(), at in any::<prop::sample::Index>()) {
        let bytes = record.to_bytes();
        prop_assert!(Record::parse(&bytes[..at.index(bytes.len())]).is_err());
    }

    #[test]
    fn any_accepted_bytes_are_written_alike(
        mut fields in bytes(any::<u8>(), 0..200),
        kind in 0_u8..7,
    ) {
        if let [version, second, ..] = &mut fields[..] {
            (*version, *second) = (VERSION, kind);
        }
        let bytes = sealed(fields);
        if let Ok(record) = Record::parse(&bytes) {
            prop_assert_eq!(record.to_bytes(), bytes);
        }
    }
}

#[test]
fn limits_and_versions_have_errors_of_their_own() {
    let bytes = vec![0; MAX_RECORD + 1];
    assert_eq!(Record::parse(&bytes), Err(RecordError::TooLarge(MAX_RECORD + 1)));
    assert_eq!(Record::parse(&sealed(vec![VERSION + 1, 1])), Err(RecordError::Newer(VERSION + 1)));
    assert_eq!(Record::parse(&sealed(vec![0, 1])), Err(RecordError::Malformed));
    assert_eq!(Record::parse(&sealed(vec![])), Err(RecordError::Malformed));
    assert_eq!(Record::parse(&[]), Err(RecordError::Checksum(0)));
    let mut largest = Record {
        shard: 1,
        epoch: 2,
        number: 3,
        time: 4,
        previous: 5,
        body: Body::Changes(vec![6; MAX_INLINE]),
    };
    assert_eq!(Record::parse(&largest.to_bytes()).as_ref(), Ok(&largest));
    largest.body = Body::Changes(vec![6; MAX_INLINE + 1]);
    assert_eq!(Record::parse(&largest.to_bytes()), Err(RecordError::Malformed));
}
