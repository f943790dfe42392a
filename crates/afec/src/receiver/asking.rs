//! Which missing messages to ask for, and when.

use core::time::Duration;

use super::channel::{Channel, Missing};
use crate::path::Path;

/// How often it asks for a message.
const ASKS: u8 = 4;

impl Channel {
    /// Finds the messages to ask for and hands their indices over, ascending, until `ask` takes no more. What the target
    /// permits to miss is left.
    pub(super) fn asks(
        &mut self,
        now: Duration,
        wait: Duration,
        path: &Path,
        mut ask: impl FnMut(u32) -> bool,
    ) {
        for place in 0..self.missing.len() {
            let missing = self.missing[place];
            if self.ask_time(&missing, now, wait, path).is_none_or(|at| at > now) {
                continue;
            }
            if missing.asked.is_none() && self.owed + 1.0 <= 0.0 {
                self.missing[place].waived = true;
                self.charge(1.0);
                continue;
            }
            if !ask(missing.index) {
                return;
            }
            let missing = &mut self.missing[place];
            missing.asked = Some(now);
            missing.asks += 1;
            self.stats.asked += 1;
        }
    }

    /// When to look for messages to ask for.
    pub(super) fn next_ask(&self, now: Duration, wait: Duration, path: &Path) -> Option<Duration> {
        self.missing.iter().filter_map(|missing| self.ask_time(missing, now, wait, path)).min()
    }

    /// When to ask for a message, if an answer can still come in time.
    fn ask_time(
        &self,
        missing: &Missing,
        now: Duration,
        wait: Duration,
        path: &Path,
    ) -> Option<Duration> {
        if missing.judged || missing.waived || missing.asks == ASKS {
            return None;
        }
        let back = path.smallest() + path.jitter();
        let latest = (missing.origin + self.qos.deadline).saturating_sub(back);
        let at = match missing.asked {
            None => (missing.found + wait).min(latest),
            // An answer may wait for a packet that goes anyway.
            Some(asked) => asked + back + Duration::from_secs_f64(self.interval * 1.3),
        };
        (at.max(now) <= latest).then_some(at)
    }

    /// How long to wait for a message before asking: its packet may have been overtaken by so many others, or it may be
    /// repeated.
    pub(super) fn wait(&self, packets: u32) -> Duration {
        Duration::from_secs_f64((self.interval * f64::from(packets)).max(self.recovery))
    }
}
