//! Which missing messages the receiver requests, and when. The error budget of a channel is the
//! number of messages that its loss target permits to miss.

use core::time::Duration;

use super::channel::{Channel, Missing};
use crate::ids::MessageIndex;
use crate::path::Path;

/// The most requests for one message. Four fit into the longest useful deadlines, and each later
/// request leaves less time for the answer. Chosen by judgement; not tuned.
const REQUESTS: u8 = 4;

impl Channel {
    /// Whether missing messages are requested: if the sender wants requests, as `wanted` says, and
    /// on a dense channel in any case.
    pub(super) fn may_request(&self, wanted: bool) -> bool {
        wanted || self.qos.dense
    }

    /// Passes the indices of the messages to request now to `request`, in ascending order, until
    /// that returns false. If the error budget permits to miss a message, waives it: marks it as
    /// not to be requested. Messages of dense channels are never waived.
    pub(super) fn requests(
        &mut self,
        now: Duration,
        wait: Duration,
        path: &Path,
        loss: f64,
        mut request: impl FnMut(MessageIndex) -> bool,
    ) {
        for place in 0..self.missing.len() {
            let missing = self.missing[place];
            if self.request_time(&missing, now, wait, path).is_none_or(|at| at > now) {
                continue;
            }
            if missing.requested.is_none() && self.request_budget.permits_one() {
                self.missing[place].waived = true;
                self.request_budget.add(1.0);
                continue;
            }
            if !request(missing.index) {
                return;
            }
            let missing = &mut self.missing[place];
            if missing.copies == 0 {
                missing.requested = Some(now);
                missing.requests += 1;
                missing.copies = self.qos.request_copies(loss);
            }
            missing.copies -= 1;
            self.stats.asked += 1;
        }
    }

    /// When the next request is due.
    pub(super) fn next_request(
        &self,
        now: Duration,
        wait: Duration,
        path: &Path,
    ) -> Option<Duration> {
        self.missing.iter().filter_map(|missing| self.request_time(missing, now, wait, path)).min()
    }

    /// When to request a message. `None` if no answer could arrive in time.
    fn request_time(
        &self,
        missing: &Missing,
        now: Duration,
        wait: Duration,
        path: &Path,
    ) -> Option<Duration> {
        let requested_enough = missing.requests == REQUESTS && missing.copies == 0;
        if missing.judged || missing.waived || requested_enough {
            return None;
        }
        let back = path.smallest() + path.jitter();
        let latest = (missing.origin + self.qos.deadline).saturating_sub(back);
        let at = match missing.requested {
            None => (missing.found + wait).min(latest),
            // The copy follows soon enough that the sender does not take it for another request.
            Some(requested) if missing.copies > 0 => requested + path.smallest() / 4,
            // The answer may have to wait for the next packet with new messages: for one interval
            // and its jitter.
            Some(requested) => requested + back + Duration::from_secs_f64(self.interval * 1.3),
        };
        (at.max(now) <= latest).then_some(at)
    }

    /// How long to wait for a missing message before requesting it: up to `packets` later packets
    /// may have overtaken its packet, or a repeat may be on its way.
    pub(super) fn wait(&self, packets: u32) -> Duration {
        Duration::from_secs_f64((self.interval * f64::from(packets)).max(self.recovery))
    }
}
