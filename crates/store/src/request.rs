//! The requests of the handles to the writer's thread, and how it takes appends from the queue.

use std::sync::mpsc::{self, Receiver};

use crate::api::{Append, Part};
use crate::error::Error;
use crate::writer::Writer;

/// The most appends of a batch, and their most bytes. More would delay the first of them.
pub(crate) const MOST_APPENDS: usize = 1024;
const MOST_BYTES: usize = 4 << 20;

/// Appends that are stored with one commit.
pub(crate) type Batch = Vec<(Append, Answer)>;

/// Called once with the outcome, on the writer's thread: it must not block. After `Ok` the change
/// is on the disk.
pub type Done = Box<dyn FnOnce(Result<(), Error>) + Send>;

/// Waits for the outcome of a request: `wait(|done| log.append(append, done))`.
pub fn wait(request: impl FnOnce(Done)) -> Result<(), Error> {
    let (sender, receiver) = mpsc::channel();
    request(Box::new(move |outcome| drop(sender.send(outcome))));
    receiver.recv().unwrap_or_else(|_| Err(Error::Poisoned("the request was lost".into())))
}

/// A callback that is always called, also if the writer's thread ends without an answer.
pub(crate) struct Answer(Option<Done>);

pub(crate) enum Request {
    Append(Append, Answer),
    SavePart(SavePart, Answer),
    BeginAgain(String, u64, Answer),
    Delete(String, Answer),
    /// Trims at once what is older than the time of history.
    Trim(Answer),
    /// Answers when nothing that was deleted is on the disk any more.
    Erase(Answer),
    /// A function that runs between two commits.
    Call(Call, Answer),
    Stop,
}

pub(crate) type Call = Box<dyn FnOnce(&mut Writer) -> Result<(), Error> + Send>;

/// A part of a room's snapshot to be stored.
pub(crate) struct SavePart {
    pub(crate) room: String,
    pub(crate) incarnation: u64,
    pub(crate) part: Part,
    pub(crate) meta: Option<Vec<u8>>,
    pub(crate) events: Vec<Vec<u8>>,
}

/// Takes the appends that wait, up to the first request of another kind, which is returned.
pub(crate) fn collect(
    append: Append,
    answer: Answer,
    requests: &Receiver<Request>,
) -> (Batch, Option<Request>) {
    let mut bytes = size(&append);
    let mut batch = vec![(append, answer)];
    while batch.len() < MOST_APPENDS && bytes < MOST_BYTES {
        match requests.try_recv() {
            Ok(Request::Append(append, answer)) => {
                bytes += size(&append);
                batch.push((append, answer));
            }
            Ok(other) => return (batch, Some(other)),
            Err(_) => break,
        }
    }
    (batch, None)
}

fn size(append: &Append) -> usize {
    let records = append.records.iter().map(|record| record.bytes.len());
    records.chain(append.events.iter().map(Vec::len)).sum()
}

impl Request {
    /// Answers the request with an error.
    pub(crate) fn refuse(self, error: Error) {
        match self {
            Self::Append(_, answer)
            | Self::SavePart(_, answer)
            | Self::BeginAgain(_, _, answer)
            | Self::Delete(_, answer)
            | Self::Trim(answer)
            | Self::Erase(answer)
            | Self::Call(_, answer) => answer.send(Err(error)),
            Self::Stop => {}
        }
    }
}

impl Answer {
    pub(crate) fn new(done: Done) -> Self {
        Self(Some(done))
    }

    pub(crate) fn send(mut self, outcome: Result<(), Error>) {
        if let Some(done) = self.0.take() {
            done(outcome);
        }
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        if let Some(done) = self.0.take() {
            done(Err(Error::Poisoned("the store's thread has ended".into())));
        }
    }
}
