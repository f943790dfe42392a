//! Many documents, and a large one.

use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use super::Plan;
use super::client::{Client, Received};
use super::system::{Running, System};
use super::typist::Typist;
use crate::{Result, Row};

/// The number of clients that open documents at the same time.
const AT_ONCE: u32 = 50;

/// The characters of one update of the large document.
const PASTED: usize = 1 << 20;

/// The time from the opening of the last document until memory is measured.
const CALM: Duration = Duration::from_millis(500);

/// Measures the memory of open documents, and of closed ones.
pub(super) async fn open(system: System, plan: &Plan<'_>, row: Row) -> Result<Row> {
    let running = system.start(plan)?;
    // The first document is not counted, because the server also allocates memory that it needs
    // only once.
    visit(system, running.server.port, "first".to_owned()).await?.leave().await;
    sleep(CALM).await;
    let before = memory(&running)?;
    let mut clients = Vec::new();
    for number in 0..plan.open {
        clients.push(visit(system, running.server.port, format!("open-{number}")).await?);
    }
    sleep(CALM).await;
    let opened = memory(&running)?;
    for client in clients {
        client.leave().await;
    }
    sleep(plan.rest).await;
    let closed = memory(&running)?;
    let each = |bytes: f64| (bytes - before) / 1024.0 / f64::from(plan.open);
    Ok(row
        .with("version", &running.server.version)
        .with("documents", plan.open)
        .with("kb_per_open", each(opened))
        .with("kb_per_closed", each(closed))
        .with("rss_mb", opened / 1e6))
}

/// Measures the loading of a large document.
pub(super) async fn load(system: System, plan: &Plan<'_>, row: Row) -> Result<Row> {
    let running = system.start(plan)?;
    let (mut writer, _) = Client::open(system, running.server.port, "large").await?;
    let mut typist = Typist::default();
    for _ in 0..plan.loaded / PASTED {
        writer.send_update(&typist.text(&[b'x'; PASTED])).await?;
        confirmed(&mut writer).await?;
    }
    let begin = Instant::now();
    let (reader, size) = Client::open(system, running.server.port, "large").await?;
    let seconds = begin.elapsed().as_secs_f64();
    let converged = size >= plan.loaded / PASTED * PASTED;
    let rss = memory(&running)?;
    reader.leave().await;
    writer.leave().await;
    let failure = (!converged).then(|| format!("only {size} bytes came"));
    Ok(row
        .with("version", &running.server.version)
        .with("documents", 1)
        .with("seconds", seconds)
        .with("load_bytes", size)
        .with("converged", converged)
        .with("rss_mb", rss / 1e6)
        .failed(failure))
}

/// Measures single changes of many documents.
pub(super) async fn touch(system: System, plan: &Plan<'_>, row: Row) -> Result<Row> {
    let running = system.start(plan)?;
    let port = running.server.port;
    visit(system, port, "first".to_owned()).await?.leave().await;
    sleep(CALM).await;
    let before = memory(&running)?;
    let begin = Instant::now();
    let mut visits = JoinSet::new();
    for number in 0..plan.touched {
        if number >= AT_ONCE {
            visits.join_next().await.ok_or("nobody comes")???;
        }
        visits.spawn(async move {
            visit(system, port, format!("touched-{number}")).await?.leave().await;
            Result::Ok(())
        });
    }
    while let Some(visit) = visits.join_next().await {
        visit??;
    }
    let seconds = begin.elapsed().as_secs_f64();
    let rss = memory(&running)?;
    sleep(plan.rest).await;
    let closed = (memory(&running)? - before) / 1024.0 / f64::from(plan.touched);
    Ok(row
        .with("version", &running.server.version)
        .with("documents", plan.touched)
        .with("seconds", seconds)
        .with("kb_per_closed", closed)
        .with("rss_mb", rss / 1e6))
}

/// Opens a document and changes it.
async fn visit(system: System, port: u16, document: String) -> Result<Client> {
    let (mut client, _) = Client::open(system, port, &document).await?;
    client.send_update(&Typist::default().letter()).await?;
    confirmed(&mut client).await?;
    Ok(client)
}

/// Waits until the server has sent back an update.
async fn confirmed(client: &mut Client) -> Result<()> {
    while !matches!(client.receive().await?, Received::Update(_)) {}
    Ok(())
}

/// The memory of the server in bytes.
fn memory(running: &Running) -> Result<f64> {
    let memory = running.server.memory().ok_or("the memory of a process is not known here")?;
    Ok(memory as f64)
}
