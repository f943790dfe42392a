//! One connection, which is made when it is needed and made again when it was lost.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::{Instant, sleep_until, timeout_at};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::connect::{Live, Target, text};
use crate::Unavailable;

/// The pause between two attempts to connect.
pub(super) const PAUSE: Duration = Duration::from_millis(200);

pub(super) struct Link {
    target: Target,
    patience: Duration,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    live: Option<Arc<Live>>,
    /// No attempt to connect before this time.
    next: Option<Instant>,
}

impl Link {
    pub(super) fn new(target: &Target) -> Self {
        Self { target: target.clone(), patience: target.patience, state: Mutex::default() }
    }

    /// A connection for answers of many megabytes.
    pub(super) fn patient(target: &Target) -> Self {
        Self { patience: target.patience * 12, ..Self::new(target) }
    }

    /// Runs a statement as a transaction of its own, and waits for its commit. After an error it is
    /// not known whether it was committed.
    pub(super) async fn query(
        &self,
        sql: &'static str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, Unavailable> {
        let deadline = Instant::now() + self.patience;
        let silent = || {
            let seconds = self.patience.as_secs_f32();
            Unavailable(format!("no answer from {} within {seconds} s", self.target.address))
        };
        let live = timeout_at(deadline, self.live()).await.map_err(|_| silent())??;
        let answered = live.answered.load(Ordering::Relaxed);
        let run = async { live.client.query(&live.prepare(sql).await?, values).await };
        match timeout_at(deadline, run).await {
            Ok(result) => {
                live.answered.fetch_add(1, Ordering::Relaxed);
                result.map_err(|error| Unavailable(text(&error)))
            }
            Err(_) => {
                // Later statements would wait behind this one. A connection that answers others is
                // only slow, and would be slower if all of them were asked again.
                if live.answered.load(Ordering::Relaxed) == answered {
                    live.driver.abort();
                }
                Err(silent())
            }
        }
    }

    async fn live(&self) -> Result<Arc<Live>, Unavailable> {
        let mut state = self.state.lock().await;
        if let Some(live) = state.live.as_ref().filter(|live| !live.client.is_closed()) {
            return Ok(Arc::clone(live));
        }
        if let Some(next) = state.next {
            sleep_until(next).await;
        }
        state.next = Some(Instant::now() + PAUSE);
        let live = self.target.connect(|_| ()).await.map_err(|error| Unavailable(text(&error)))?;
        let live = Arc::new(live);
        state.live = Some(Arc::clone(&live));
        Ok(live)
    }
}
