//! Lets clients join as fast as the server can serve them, so that a rush of clients, such as after
//! a restart, disturbs neither the people in rooms nor those who come.

mod config;
mod line;
mod pace;

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep};

pub use config::ArrivalLimits;
pub(crate) use pace::Newcomer;
use pace::{Answer, Measured, Pace};

use crate::figures::figure::figures;

/// See the [module](self).
pub(crate) struct Arrivals {
    limits: ArrivalLimits,
    /// The origin of the times that `pace` is given.
    began: Instant,
    pace: Mutex<Pace>,
    measured: Measurements,
    admitted: AtomicU64,
    held: AtomicU64,
    deferred: AtomicU64,
}

/// Measurements of the rooms in the current interval.
#[derive(Default)]
struct Measurements {
    times: AtomicU32,
    late: AtomicU32,
    longest_us: AtomicU32,
    served: AtomicU32,
}

figures! {
    /// How clients are taken in.
    struct ArrivalFigures {
        /// Clients that were let in, to be asked for their token.
        Counter admitted as "admitted_joins": u64;
        /// Clients whose connection waited for their turn.
        Counter held as "held_joins": u64;
        /// Clients that were told when to come back, because more came than the server can serve.
        Counter deferred as "deferred_joins": u64;
        /// Joins per second that the server takes in when more come.
        Gauge rate as "join_rate": f64;
    }
}

impl Arrivals {
    pub(crate) fn new(limits: ArrivalLimits) -> Self {
        Arrivals {
            limits,
            began: Instant::now(),
            pace: Mutex::new(Pace::new(limits)),
            measured: Measurements::default(),
            admitted: AtomicU64::new(0),
            held: AtomicU64::new(0),
            deferred: AtomicU64::new(0),
        }
    }

    /// Waits until the server may work on an accepted connection. Meanwhile no other one is
    /// accepted, and clients wait in the kernel.
    pub(crate) async fn connected(&self, newcomer: Newcomer) {
        let wait = self.decide(|pace, now| pace.connect(now, newcomer));
        if !wait.is_zero() {
            sleep(wait).await;
        }
    }

    /// Waits until a client may join.
    ///
    /// # Errors
    /// The time after which the client has to come back instead.
    pub(crate) async fn admit(&self) -> Result<(), Duration> {
        let mut since = None;
        let mut answer = self.decide(Pace::arrive);
        loop {
            match answer {
                Answer::Join => {
                    self.admitted.fetch_add(1, Ordering::Relaxed);
                    return Ok(());
                }
                Answer::ComeBack { after } => {
                    self.deferred.fetch_add(1, Ordering::Relaxed);
                    return Err(after);
                }
                Answer::Wait { after, place } => {
                    let since = *since.get_or_insert_with(|| {
                        self.held.fetch_add(1, Ordering::Relaxed);
                        Instant::now()
                    });
                    sleep(after).await;
                    let waited = since.elapsed();
                    answer = self.decide(|pace, now| pace.ask_again(now, place, waited));
                }
            }
        }
    }

    /// A room ran something `lag` after it was due.
    pub(crate) fn lagged(&self, lag: Duration) {
        self.measured.times.fetch_add(1, Ordering::Relaxed);
        if lag > self.limits.lag && !self.limits.lag.is_zero() {
            let us = u32::try_from(lag.as_micros()).unwrap_or(u32::MAX);
            self.measured.longest_us.fetch_max(us, Ordering::Relaxed);
            self.measured.late.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A room took in a client that had waited for the room this long.
    pub(crate) fn served(&self, waited: Duration) {
        self.measured.served.fetch_add(1, Ordering::Relaxed);
        self.lagged(waited);
    }

    /// What was counted since the start of the server, and the rate now.
    pub(crate) fn figures(&self) -> ArrivalFigures {
        ArrivalFigures {
            admitted: self.admitted.load(Ordering::Relaxed),
            held: self.held.load(Ordering::Relaxed),
            deferred: self.deferred.load(Ordering::Relaxed),
            rate: self.pace().rate(),
        }
    }

    fn decide<T>(&self, ask: impl FnOnce(&mut Pace, Duration) -> T) -> T {
        let now = self.began.elapsed();
        let mut pace = self.pace();
        if pace.is_due(now) {
            pace.end_interval(now, self.measured.take());
        }
        ask(&mut pace, now)
    }

    fn pace(&self) -> MutexGuard<'_, Pace> {
        self.pace.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Measurements {
    fn take(&self) -> Measured {
        let counts = [&self.times, &self.late, &self.longest_us, &self.served];
        let [times, late, longest_us, served] =
            counts.map(|count| count.swap(0, Ordering::Relaxed));
        Measured { times, late, longest: Duration::from_micros(longest_us.into()), served }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn clients_wait_or_are_told_when_to_come_back_and_are_counted() {
        let limits = ArrivalLimits { joins_per_second: 10, ..ArrivalLimits::default() };
        let arrivals = Arrivals::new(limits);
        let began = Instant::now();
        let mut told = Vec::new();
        let waiting = (0..30).map(|_| arrivals.admit());
        let answers = futures_util::future::join_all(waiting).await;
        told.extend(answers.into_iter().filter_map(Result::err));
        let waited = began.elapsed();
        assert!(waited > Duration::from_millis(900) && waited < Duration::from_millis(1100));
        let figures = arrivals.figures();
        assert_eq!(figures.admitted + figures.deferred, 30);
        assert_eq!(figures.deferred as usize, told.len());
        assert!(figures.held <= figures.admitted && figures.held > 5, "{figures:?}");
        assert!(told.len() > 15 && told.is_sorted(), "{told:?}");
        assert!((figures.rate - 10.0).abs() < 1e-9);
    }

    #[tokio::test(start_paused = true)]
    async fn rooms_that_are_late_slow_arrivals_down() {
        let arrivals = Arrivals::new(ArrivalLimits::default());
        let before = arrivals.figures().rate;
        for _ in 0..20 {
            arrivals.connected(Newcomer::Plain).await;
            (0..2).for_each(|_| arrivals.served(Duration::from_millis(300)));
            tokio::time::advance(Duration::from_millis(100)).await;
        }
        assert!(arrivals.figures().rate < before / 3.0);
    }
}
