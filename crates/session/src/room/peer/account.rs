//! Counts what a participant has sent lately against its quota (wire W99). Above the quota its
//! transport is read with delays, and its client is asked to hold transactions back; far above the
//! quota the transport ends. Other participants notice nothing.

use core::time::Duration;

use super::Peer;
use crate::quota::{Meter, Quota, Quotas, Used};
use crate::room::api::Output;
use crate::room::common::Common;
use crate::room::permissions::Permissions;
use crate::wire::frame::Frame;
use crate::{Counter, Error};

/// The longest delay before a transport is read further. A PING behind it is still answered long
/// before `dead_ms`, whose default is 5 s, has passed.
const MAX_DELAY: Duration = Duration::from_secs(1);

/// HOLD is repeated at least this often, so that the client knows that the room is alive even while
/// its own PING waits in a transport that is read with delays.
const REMIND_AFTER: Duration = Duration::from_secs(1);

/// How long a HOLD holds, unless another one comes before: long enough for one that comes late.
const HOLD: Duration = Duration::from_secs(3);

/// The most transactions that a client is allowed to send at a time: as many as a client keeps
/// waiting.
const MOST_AT_ONCE: u64 = 4096;

/// A packet has this weight, as a fraction 1/n, in the moving average of what a transaction costs.
const AVERAGED: u64 = 8;

/// A participant that is this far above its own quota and the burst ignores HOLD: further messages
/// close its transport. A client that obeys HOLD has at most 4,096 transactions under way: 41 s of
/// the quota in a room of 1,000 people with 100,000 deliveries per second.
const FAR_ABOVE: Duration = Duration::from_secs(60);

/// See the [module](self).
#[derive(Debug)]
pub(in crate::room) struct Account {
    /// What the participant may send.
    quota: Quota,
    /// The usage of the participant, measured by its own quota.
    own: Meter,
    /// The usage of the participant, measured by an equal share of the room's quota.
    share: Meter,
    /// The average cost of one of its transactions.
    typical: Used,
    /// True from when it is above a quota until half of the burst is free again.
    is_limited: bool,
    /// When HOLD was last sent on the present transport; `None` if not since the participant is
    /// limited.
    reminded: Option<Duration>,
}

impl Account {
    pub(super) fn new(quota: Quota) -> Self {
        let (own, share) = (Meter::default(), Meter::default());
        let typical = Used::default();
        Account { quota, own, share, typical, is_limited: false, reminded: None }
    }

    pub(in crate::room) fn is_limited(&self) -> bool {
        self.is_limited
    }

    /// Checks that the participant is not far above its own quota. The room's quota alone ends no
    /// transport: others could use it up.
    ///
    /// # Errors
    /// [`Error::OverQuota`].
    pub(in crate::room) fn check(&self, now: Duration, quotas: &Quotas) -> Result<(), Error> {
        match self.own.ahead(now) > quotas.burst + FAR_ABOVE {
            true => Err(Error::OverQuota { seconds: FAR_ABOVE.as_secs() }),
            false => Ok(()),
        }
    }

    /// How far ahead of its quotas the participant is. Above the room's quota that counts only if
    /// the participant has sent more than its share.
    fn ahead(&self, now: Duration, room: &Meter) -> Duration {
        self.own.ahead(now).max(self.share.ahead(now).min(room.ahead(now)))
    }

    /// How many more transactions the participant may send now. `people` share the room's quota.
    fn takes(&self, now: Duration, room: &Meter, quotas: &Quotas, people: u64) -> u32 {
        let (burst, typical) = (quotas.burst, self.typical);
        let of_share = self.share.takes(now, burst, typical, quotas.room, people);
        let of_room = room.takes(now, burst, typical, quotas.room, 1);
        let own = self.own.takes(now, burst, typical, self.quota, 1);
        own.min(of_share.max(of_room)).min(MOST_AT_ONCE) as u32
    }

    /// Updates the average cost of a transaction by a packet.
    fn learn(&mut self, used: Used) {
        let Used { bytes, deliveries, transactions } = used;
        if transactions == 0 {
            return;
        }
        let is_first = self.typical == Used::default();
        let average = |before: u64, sum: u64| {
            let new = sum.div_ceil(transactions);
            if is_first { new } else { (before * (AVERAGED - 1) + new).div_ceil(AVERAGED) }
        };
        self.typical.bytes = average(self.typical.bytes, bytes);
        self.typical.deliveries = average(self.typical.deliveries, deliveries);
    }
}

impl Peer {
    /// Asks the authority what the participant may send.
    /// `usual`: the quota of participants of this room.
    pub(in crate::room) fn renew_quota(&mut self, permissions: &Permissions, usual: Quota) {
        self.account.quota = permissions.quota(&self.identity, usual);
    }

    /// Counts the present input against the quotas. Above a quota, the transport is not read for a
    /// while. Returns true if a frame for the participant was queued.
    pub(in crate::room) fn charge(&mut self, now: Duration, common: &mut Common) -> bool {
        let Some(delay) = self.count_usage(now, common) else { return false };
        if let Some(connection) = self.connection() {
            let link = connection.id;
            common.delivery.outputs.push_back(Output::Delay { link, delay });
        }
        self.remind(now, common)
    }

    /// Counts the present input against the quotas. Returns for how long the participant's
    /// transport is not to be read, if it is above a quota.
    pub(in crate::room) fn count_usage(
        &mut self,
        now: Duration,
        common: &mut Common,
    ) -> Option<Duration> {
        let Common { config, members, accounting, .. } = &mut *common;
        let used = core::mem::take(&mut accounting.used);
        let Quotas { room, burst, .. } = config.quotas;
        let account = &mut self.account;
        account.learn(used);
        account.own.count(now, used, account.quota, 1);
        account.share.count(now, used, room, members.count_here());
        accounting.usage.count(now, used, room, 1);
        let ahead = account.ahead(now, &accounting.usage);
        let delay = ahead.saturating_sub(burst).min(MAX_DELAY);
        if delay < Duration::from_millis(1) {
            return None;
        }
        if !account.is_limited {
            (account.is_limited, account.reminded) = (true, None);
            accounting.stats.limitations += 1;
        }
        accounting.stats.delayed_reads += 1;
        Some(delay)
    }

    /// Sends HOLD with the number of transactions that a limited participant may send, unless one
    /// was sent lately. Once half of the burst is free, the participant is no longer limited.
    /// Returns true if HOLD was queued.
    pub(in crate::room) fn remind(&mut self, now: Duration, common: &Common) -> bool {
        let Some(hold) = self.hold(now, common) else { return false };
        if let Some(connection) = self.connection_mut() {
            connection.link.queue(&hold);
        }
        true
    }

    /// The HOLD that a limited participant has to be sent now, if one is due.
    pub(in crate::room) fn hold(
        &mut self,
        now: Duration,
        common: &Common,
    ) -> Option<Frame<'static>> {
        if !self.account.is_limited {
            return None;
        }
        let Common { config, members, accounting, intake, log, .. } = common;
        let quotas = &config.quotas;
        let is_over = self.account.ahead(now, &accounting.usage) <= quotas.burst / 2;
        let pause = REMIND_AFTER.min(quotas.burst / 4);
        if !is_over && self.account.reminded.is_some_and(|at| now < at + pause) {
            return None;
        }
        (self.account.is_limited, self.account.reminded) = (!is_over, Some(now));
        let people = members.count_here();
        let takes = self.account.takes(now, &accounting.usage, quotas, people);
        let last = intake.pieces.last(self.id).or_else(|| log.counter(self.id));
        let counter = last.unwrap_or_default().get().saturating_add(takes).saturating_add(1);
        let counter = Counter(counter);
        let hold_ms = if is_over { 0 } else { HOLD.as_millis() as u64 };
        Some(Frame::Hold { counter, hold_ms })
    }

    /// Forgets when HOLD was sent last, because the participant has another transport.
    pub(in crate::room) fn forget_hold(&mut self) {
        self.account.reminded = None;
    }

    /// The participant has another transport: a limited participant is sent HOLD on it, too.
    pub(in crate::room) fn remind_anew(&mut self, now: Duration, common: &Common) {
        self.forget_hold();
        self.remind(now, common);
    }
}
