//! Any bytes as records and cursors of a shard's log: they are refused, or are written alike; and a
//! node that reads them, damaged or with right checksums, neither panics nor applies what does not
//! follow.

#![no_main]

use groupwire_cluster::{
    Answer, Cluster, Config, Cursor, Entry, NodeName, Now, Output, Record, Request, Timing, crc32c,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Ok(cursor) = Cursor::parse(data) {
        assert_eq!(cursor.to_bytes(), data);
    }
    let sealed = [data, &crc32c(data).to_le_bytes()[..]].concat();
    for bytes in [data, &sealed] {
        if let Ok(record) = Record::parse(bytes) {
            assert_eq!(record.to_bytes(), bytes);
        }
    }
    // The first byte says how long each entry is.
    let Some((&length, rest)) = data.split_first() else { return };
    let entries = rest.chunks(usize::from(length) + 1).enumerate().map(|(at, chunk)| {
        let seal = if at % 4 == 3 { Vec::new() } else { crc32c(chunk).to_le_bytes().to_vec() };
        Entry { sequence: at as u64 + 1, bytes: [chunk, &seal].concat() }
    });
    read(&entries.collect::<Vec<_>>());
});

fn read(entries: &[Entry]) {
    let config = Config {
        node: NodeName::new("node").expect("a short name"),
        address: Vec::new(),
        incarnation: 1,
        shards: 1,
        timing: Timing::default(),
    };
    let mut cluster = Cluster::new(config, vec![Cursor::default()], Now::default())
        .expect("the configuration is right");
    let mut number = 0;
    for _ in 0..1000 {
        let Some(output) = cluster.poll() else { break };
        match output {
            Output::Ask(id, Request::Read { after, .. }) => {
                let new = entries.iter().filter(|entry| entry.sequence > after);
                let entries: Vec<_> = new.cloned().collect();
                if !entries.is_empty() {
                    cluster.answered(id, Answer::Entries(entries), Now::default());
                }
            }
            Output::Apply { cursor, .. } => {
                assert_eq!(cursor.number, number + 1);
                number = cursor.number;
                cluster.applied(0, cursor.sequence, Now::default());
            }
            _ => {}
        }
    }
}
