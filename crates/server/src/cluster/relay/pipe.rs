//! The sending half of a connection between two servers.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::Notify;

use crate::ends::framing::put;

/// The most bytes that wait to be written. What a client has under way is bounded, so that only a
/// server that reads nothing for long makes another one wait for more; it is given up then.
const MOST_WAITING: usize = 64 << 20;

/// A buffer that keeps more memory than this is given back when it is written.
const KEPT: usize = 256 << 10;

/// Collects frames, which [`Pipe::write`] writes together.
#[derive(Default)]
pub(super) struct Pipe {
    state: Mutex<State>,
    wake: Notify,
}

#[derive(Default)]
struct State {
    waiting: Vec<u8>,
    /// Holds one frame while it gets its length.
    frame: Vec<u8>,
    is_over: bool,
}

impl Pipe {
    /// Adds the frame that `write` writes.
    pub(super) fn put(&self, write: impl FnOnce(&mut Vec<u8>)) {
        let mut state = self.state();
        if state.is_over {
            return;
        }
        let State { waiting, frame, is_over } = &mut *state;
        let was_empty = waiting.is_empty();
        frame.clear();
        write(frame);
        put(frame, waiting);
        *is_over = waiting.len() > MOST_WAITING;
        if frame.capacity() > KEPT {
            *frame = Vec::new();
        }
        drop(state);
        if was_empty {
            self.wake.notify_one();
        }
    }

    /// Writes frames until the connection breaks, or takes too little. Counts the bytes.
    pub(super) async fn write(&self, mut to: impl AsyncWrite + Unpin, bytes: &AtomicU64) {
        let mut writing = Vec::new();
        loop {
            {
                let mut state = self.state();
                if state.is_over {
                    return;
                }
                std::mem::swap(&mut state.waiting, &mut writing);
            }
            if writing.is_empty() {
                self.wake.notified().await;
                continue;
            }
            if to.write_all(&writing).await.is_err() || to.flush().await.is_err() {
                return;
            }
            bytes.fetch_add(writing.len() as u64, Ordering::Relaxed);
            match writing.capacity() > KEPT {
                true => writing = Vec::new(),
                false => writing.clear(),
            }
        }
    }

    /// Nothing is written any more.
    pub(super) fn close(&self) {
        let mut state = self.state();
        *state = State { is_over: true, ..State::default() };
        drop(state);
        self.wake.notify_one();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::io::duplex;

    use super::*;
    use crate::ends::framing::Framed;

    #[tokio::test]
    async fn frames_arrive_in_their_order() {
        let pipe = Arc::new(Pipe::default());
        let (here, there) = duplex(64);
        let writing = Arc::clone(&pipe);
        tokio::spawn(async move { writing.write(here, &AtomicU64::new(0)).await });
        let mut frames = Framed::new(there, 1000);
        for round in 0..10_u8 {
            (0..10_u8).for_each(|nth| pipe.put(|out| out.extend([round; 20].map(|it| it + nth))));
            for nth in 0..10 {
                assert_eq!(frames.next().await.unwrap().unwrap()[..], [round + nth; 20]);
            }
        }
        pipe.close();
        assert_eq!(frames.next().await, Ok(None));
    }

    #[tokio::test]
    async fn a_server_that_reads_nothing_is_given_up() {
        let pipe = Arc::new(Pipe::default());
        let (here, _there) = duplex(64);
        let writing = Arc::clone(&pipe);
        let writing = tokio::spawn(async move { writing.write(here, &AtomicU64::new(0)).await });
        for _ in 0..MOST_WAITING / (1 << 20) + 2 {
            pipe.put(|out| out.resize(1 << 20, 0));
        }
        assert!(pipe.state().is_over);
        writing.abort();
    }
}
