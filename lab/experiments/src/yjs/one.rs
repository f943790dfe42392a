//! Measures one document that many clients have open.

use std::sync::Arc;
use std::sync::Mutex;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until};

use super::Plan;
use super::client::{Client, Received};
use super::system::System;
use super::typist::Typist;
use crate::statistics::{Summary, median};
use crate::{Result, Row};

/// The measurement of one document.
pub(super) struct One<'a> {
    pub(super) system: System,
    pub(super) clients: usize,
    pub(super) plan: &'a Plan<'a>,
}

/// The name of the document.
const DOCUMENT: &str = "plan";

/// The number of changes before those that are measured.
const BEFORE: u32 = 3;

/// The time from the last client's arrival until the first change.
const CALM: Duration = Duration::from_millis(500);

/// The time at which each change was sent; the first one has number 1.
type Times = Arc<Mutex<Vec<Instant>>>;

/// The results of one receiver.
struct Found {
    received: u64,
    latencies: Vec<f64>,
    deliveries: u64,
}

/// Measures one client that types.
pub(super) async fn typing(one: &One<'_>, row: Row) -> Result<Row> {
    measure(one, row, true).await
}

/// Measures one client that moves its cursor.
pub(super) async fn awareness(one: &One<'_>, row: Row) -> Result<Row> {
    measure(one, row, false).await
}

async fn measure(one: &One<'_>, row: Row, types: bool) -> Result<Row> {
    let running = one.system.start(one.plan)?;
    let port = running.server.port;
    let (mut writer, _) = Client::open(one.system, port, DOCUMENT).await?;
    let mut readers = Vec::new();
    for _ in 1..one.clients {
        readers.push(Client::open(one.system, port, DOCUMENT).await?.0);
    }
    let mut typist = Typist::default();
    let mut yjs_bytes = 0;
    for _ in 0..BEFORE {
        send(&mut writer, &mut typist, types).await?;
        sleep(one.plan.period).await;
    }
    for reader in &mut readers {
        settle(reader, types).await?;
    }
    sleep(CALM).await;
    let times: Times = Arc::default();
    let changes = one.plan.changes;
    let mut receiving = JoinSet::new();
    for reader in readers {
        receiving.spawn(receive(reader, Arc::clone(&times), changes, types));
    }
    // The writer's own echo is read, so that its server is not slowed down, but it does not count.
    let cpu = running.server.cpu();
    let begin = Instant::now();
    for change in 0..changes {
        sleep_until(begin + one.plan.period * change).await;
        times.lock().expect("nobody panics").push(Instant::now());
        yjs_bytes += send(&mut writer, &mut typist, types).await?;
    }
    let mut all = Vec::new();
    while let Some(found) = receiving.join_next().await {
        all.push(found??);
    }
    let used = running.server.cpu().zip(cpu).map(|(after, before)| after - before);
    let deliveries: u64 = all.iter().map(|found| found.deliveries).sum();
    let latencies: Vec<f64> =
        all.iter().flat_map(|found| found.latencies.iter().copied()).collect();
    let each = f64::from(changes) * all.len() as f64;
    let received: u64 = all.iter().map(|found| found.received).sum();
    let summary = Summary::of(&latencies);
    writer.leave().await;
    Ok(row
        .with("version", &running.server.version)
        .with("changes", changes)
        .with("yjs_bytes", f64::from(yjs_bytes) / f64::from(changes))
        .with("bytes_per_update", received as f64 / each)
        .with("p50_ms", median(latencies))
        .with("p99_ms", summary.p99)
        .with("deliveries", deliveries)
        .with("server_us_per_delivery", used.map(|used| used.as_secs_f64() * 1e6 / each))
        .with("converged", true))
}

/// Sends the next change. Returns the number of bytes that Yjs makes for it.
async fn send(writer: &mut Client, typist: &mut Typist, types: bool) -> Result<u32> {
    if types {
        let update = typist.letter();
        writer.send_update(&update).await?;
        Ok(update.len() as u32)
    } else {
        let state = typist.state();
        writer.send_state(&state).await?;
        Ok(state.update().len() as u32)
    }
}

/// Waits for the changes that are not measured.
async fn settle(reader: &mut Client, types: bool) -> Result<()> {
    let mut updates = 0;
    loop {
        match reader.receive().await? {
            Received::Update(_) if types => {
                updates += 1;
                if updates == BEFORE {
                    return Ok(());
                }
            }
            Received::State(number) if !types && number >= u64::from(BEFORE) => return Ok(()),
            _ => {}
        }
    }
}

/// Waits for all changes. Newer states of awareness may replace older ones.
async fn receive(mut reader: Client, times: Times, changes: u32, types: bool) -> Result<Found> {
    let before = reader.received();
    let mut latencies = Vec::new();
    let mut last = 0;
    while last < u64::from(changes) {
        let number = match reader.receive().await? {
            Received::Update(_) if types => last + 1,
            Received::State(number) if !types => number.saturating_sub(u64::from(BEFORE)),
            _ => continue,
        };
        if number <= last {
            continue;
        }
        last = number;
        let sent = times.lock().expect("nobody panics").get(number as usize - 1).copied();
        let sent = sent.ok_or("something came that was not sent")?;
        latencies.push(sent.elapsed().as_secs_f64() * 1e3);
    }
    let received = reader.received() - before;
    let deliveries = latencies.len() as u64;
    reader.leave().await;
    Ok(Found { received, latencies, deliveries })
}
