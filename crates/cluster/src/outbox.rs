//! Outputs that wait for the driver, and requests that wait for their answers.

use alloc::collections::{BTreeMap, VecDeque};
use core::time::Duration;

use crate::output::{BatchId, Output, Request, RequestId};

/// Outputs that wait for the driver, and requests that wait for their answers.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    outputs: VecDeque<Output>,
    asked: BTreeMap<RequestId, Asked>,
    requests: u64,
    batches: u64,
}

/// A request without an answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    pub(crate) by: Asker,
    pub(crate) at: Duration,
}

/// The part that made a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asker {
    Shard(u16),
    Beat,
    Nodes,
}

impl Outbox {
    pub(crate) fn put(&mut self, output: Output) {
        self.outputs.push_back(output);
    }

    pub(crate) fn ask(&mut self, by: Asker, request: Request, at: Duration) -> RequestId {
        self.requests += 1;
        let id = RequestId(self.requests);
        self.asked.insert(id, Asked { by, at });
        self.put(Output::Ask(id, request));
        id
    }

    /// The request that was answered, once.
    pub(crate) fn answered(&mut self, id: RequestId) -> Option<Asked> {
        self.asked.remove(&id)
    }

    pub(crate) fn next_batch(&mut self) -> BatchId {
        self.batches += 1;
        BatchId(self.batches)
    }

    pub(crate) fn pop(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }
}
