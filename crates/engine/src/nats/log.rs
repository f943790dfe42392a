//! Logs: fenced appends, and reading in order.

use std::time::Duration;

use async_nats::HeaderMap;
use bytes::Bytes;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::Nats;
use super::jetstream::Fault;
use crate::{Appended, Entry, MAX_ENTRY, Unavailable};

/// The subject's last message is another one.
const WRONG_LAST_SEQUENCE: u64 = 10_071;
/// A message of the subject is on its way to the replicas. The answer says nothing of this one, and
/// comes even to a lone writer, once in some 15,000 appends (measured with 2.15.1).
const IN_FLIGHT: u64 = 10_164;
/// The first and longest pause before an append is sent again. A message is in flight for a
/// millisecond or two; a stream is without a leader for seconds.
const PAUSES: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(100));
/// Bytes that one request for messages may ask for. A server ends a connection to which it has to
/// send more than 64 MB.
const READ: usize = 8 << 20;
/// Messages of one request, at most.
const BATCH: usize = 4096;

impl Nats {
    pub(super) async fn append_fenced(&self, log: u16, expected: u64, bytes: Bytes) -> Appended {
        if bytes.len() > MAX_ENTRY {
            let length = bytes.len();
            return Appended::Unknown(format!("an entry of {length} bytes exceeds {MAX_ENTRY}"));
        }
        let mut headers = HeaderMap::new();
        headers.insert("Nats-Expected-Last-Subject-Sequence", expected.to_string().as_str());
        let deadline = Instant::now() + self.jetstream.patience;
        let mut pause = PAUSES.0;
        loop {
            let subject = self.names.log(log);
            let sent = self.jetstream.publish(subject, Some(headers.clone()), bytes.clone()).await;
            let fault = match sent {
                Ok(sequence) => return Appended::Stored(sequence),
                Err(Fault::Refused(WRONG_LAST_SEQUENCE, why)) => {
                    return Appended::Fenced(why.rsplit(' ').next().and_then(|n| n.parse().ok()));
                }
                Err(fault @ (Fault::Refused(IN_FLIGHT, _) | Fault::Nobody)) => fault,
                Err(fault) => return Appended::Unknown(Unavailable::from(fault).0),
            };
            if Instant::now() + pause > deadline {
                return Appended::Unknown(Unavailable::from(fault).0);
            }
            sleep(pause).await;
            pause = (pause * 2).min(PAUSES.1);
        }
    }

    pub(super) async fn read_log(
        &self,
        log: u16,
        after: u64,
        max_bytes: usize,
    ) -> Result<Vec<Entry>, Unavailable> {
        let request = json!({
            "seq": after.saturating_add(1),
            "next_by_subj": self.names.log(log),
            "batch": BATCH,
            "max_bytes": max_bytes.clamp(1, READ),
        });
        let messages = self.jetstream.direct(&self.names.stream(log), &request).await?;
        let mut entries: Vec<Entry> = Vec::with_capacity(messages.len());
        let mut bytes = 0;
        for message in messages {
            bytes += message.bytes.len();
            // The client drops messages when its queue is full, and the server sends one more than
            // fits.
            let follows = |last: &Entry| last.sequence == message.before && bytes <= max_bytes;
            if !entries.last().is_none_or(follows) {
                break;
            }
            entries.push(Entry { sequence: message.sequence, bytes: message.bytes });
        }
        Ok(entries)
    }

    /// The sequence of the one message that a request asks for, or 0.
    pub(super) async fn sequence(&self, log: u16, request: Value) -> Result<u64, Unavailable> {
        let messages = self.jetstream.direct(&self.names.stream(log), &request).await?;
        Ok(messages.first().map_or(0, |message| message.sequence))
    }
}
