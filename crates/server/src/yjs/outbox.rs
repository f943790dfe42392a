//! The messages that wait for one connection. Their bytes are bounded, however slowly the client
//! reads.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::body::Bytes;
use tokio::sync::Notify;

use super::ending::Ending;
use super::figures::{Counters, subtract};

/// Bytes that may wait for a connection. A client that lags further behind is sent the difference
/// later.
const MOST_BYTES: usize = 512 << 10;

/// Makes the two ends. Messages for this connection alone count as memory of documents.
pub(super) fn outbox(counters: Arc<Counters>) -> (Outbox, Outgoing) {
    let (state, added, taken) = (Mutex::default(), Notify::new(), Notify::new());
    let queue = Arc::new(Queue { state, added, taken, counters });
    (Outbox(Arc::clone(&queue)), Outgoing(queue))
}

/// The document's end of the queue.
pub(super) struct Outbox(Arc<Queue>);

/// The end of the connection's task.
#[derive(Clone)]
pub(super) struct Outgoing(Arc<Queue>);

/// What the connection's task does next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    Send(Bytes),
    /// Tell the document that everything was sent.
    Drained,
    /// Close the connection.
    End(Ending),
}

struct Queue {
    state: Mutex<State>,
    /// Notified when there is something to do.
    added: Notify,
    /// Notified when messages were sent.
    taken: Notify,
    counters: Arc<Counters>,
}

#[derive(Default)]
struct State {
    messages: VecDeque<Message>,
    /// The bytes of all messages, and of the one that is being sent.
    bytes: usize,
    under_way: Option<Size>,
    /// True if the document has to be told when everything is sent.
    tells: bool,
    ending: Option<Ending>,
}

struct Message {
    bytes: Bytes,
    size: Size,
}

#[derive(Clone, Copy)]
struct Size {
    bytes: usize,
    /// The bytes that are in no other connection's outbox.
    own: usize,
}

impl Outbox {
    /// Adds a message that other connections get, too. Returns false if there is no space for it.
    pub(super) fn put(&self, message: Bytes) -> bool {
        let size = Size { bytes: message.len(), own: 0 };
        let mut state = self.0.lock();
        let has_place = state.bytes == 0 || state.bytes + size.bytes <= MOST_BYTES;
        if has_place {
            state.add(message, size);
            self.0.added.notify_one();
        }
        has_place
    }

    /// Adds a message for this connection alone, even if the outbox is full. The client's next
    /// request is read once there is space.
    pub(super) fn put_own(&self, message: Vec<u8>) {
        let size = Size { bytes: message.len(), own: message.len() };
        self.0.counters.memory.fetch_add(size.own, Ordering::Relaxed);
        self.0.lock().add(message.into(), size);
        self.0.added.notify_one();
    }

    /// Makes the connection's task tell when everything is sent.
    pub(super) fn tell_when_drained(&self) {
        self.0.lock().tells = true;
        self.0.added.notify_one();
    }

    /// Closes the connection, even if messages wait.
    pub(super) fn end(&self, ending: Ending) {
        self.0.lock().ending.get_or_insert(ending);
        self.0.added.notify_one();
    }
}

impl Drop for Outbox {
    fn drop(&mut self) {
        self.end(Ending::restart());
    }
}

impl Outgoing {
    /// Waits for the next thing to do. The message returned before has been sent. The future may be
    /// dropped without losing anything.
    pub(super) async fn next(&self) -> Next {
        if let Some(sent) = self.0.lock().sent() {
            subtract(&self.0.counters.memory, sent.own);
            self.0.taken.notify_one();
        }
        loop {
            {
                let mut state = self.0.lock();
                if let Some(ending) = &state.ending {
                    return Next::End(ending.clone());
                }
                if let Some(Message { bytes, size }) = state.messages.pop_front() {
                    state.under_way = Some(size);
                    return Next::Send(bytes);
                }
                if std::mem::take(&mut state.tells) {
                    return Next::Drained;
                }
            }
            self.0.added.notified().await;
        }
    }

    /// Waits until there is space for an answer.
    pub(super) async fn has_place(&self) {
        while self.0.lock().bytes > MOST_BYTES {
            self.0.taken.notified().await;
        }
    }
}

impl State {
    fn add(&mut self, bytes: Bytes, size: Size) {
        self.bytes += size.bytes;
        self.messages.push_back(Message { bytes, size });
    }

    /// Notes that the message under way has been sent.
    fn sent(&mut self) -> Option<Size> {
        let sent = self.under_way.take()?;
        self.bytes -= sent.bytes;
        Some(sent)
    }
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        let waiting = state.messages.iter().map(|message| message.size).chain(state.under_way);
        subtract(&self.counters.memory, waiting.map(|size| size.own).sum());
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    fn message(length: usize) -> Bytes {
        vec![0; length].into()
    }

    #[tokio::test]
    async fn few_bytes_wait_and_the_document_is_told_when_they_are_sent() {
        let (outbox, outgoing) = outbox(Arc::default());
        assert!(outgoing.next().now_or_never().is_none());
        assert!(outbox.put(message(2 * MOST_BYTES)), "one message always has place");
        assert!(!outbox.put(message(1)));
        outbox.tell_when_drained();
        assert_eq!(outgoing.next().await, Next::Send(message(2 * MOST_BYTES)));
        assert!(outgoing.has_place().now_or_never().is_none(), "it is being sent");
        assert!(!outbox.put(message(1)));
        assert_eq!(outgoing.next().await, Next::Drained);
        assert!(outgoing.has_place().now_or_never().is_some());
        assert!(outgoing.next().now_or_never().is_none());
        assert!(outbox.put(message(MOST_BYTES - 1)) && outbox.put(message(1)));
        assert!(!outbox.put(message(1)));
        outbox.end(Ending::malformed("no"));
        outbox.end(Ending::restart());
        assert_eq!(outgoing.next().await, Next::End(Ending::malformed("no")));
    }

    #[tokio::test]
    async fn what_waits_for_one_connection_alone_is_counted_until_it_is_sent_or_given_up() {
        let counters = Arc::<Counters>::default();
        let memory = || counters.memory.load(Ordering::Relaxed);
        let (outbox, outgoing) = outbox(Arc::clone(&counters));
        outbox.put(message(7));
        outbox.put_own(vec![0; 100]);
        outbox.put_own(vec![0; 1000]);
        assert_eq!(memory(), 1100);
        for (next, left) in [(7, 1100), (100, 1100), (1000, 1000)] {
            assert_eq!(outgoing.next().await, Next::Send(message(next)));
            assert_eq!(memory(), left);
        }
        outbox.put_own(vec![0; 5]);
        assert_eq!(memory(), 1005);
        drop((outbox, outgoing));
        assert_eq!(memory(), 0);
    }

    #[tokio::test]
    async fn a_document_that_is_gone_lets_its_clients_come_back() {
        let (outbox, outgoing) = outbox(Arc::default());
        drop(outbox);
        assert_eq!(outgoing.next().await, Next::End(Ending::restart()));
    }
}
