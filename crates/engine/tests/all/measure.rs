//! Times of a service on this machine, by hand:
//! `cargo test -p groupwire-engine --test all measure -- --ignored --nocapture --test-threads=1`

use std::time::Instant;

use bytes::Bytes;
use futures_util::future::join_all;
use groupwire_engine::Engine;

use super::nats::{Nats, SYNCED};
use super::postgres::Postgres;
use super::service::{Service, append, read};

#[tokio::test(flavor = "multi_thread")]
#[ignore = "measures"]
async fn measure_nats_alone() {
    let nats = Nats::start::<1>(SYNCED).unwrap();
    measure(&*(&nats as &dyn Service).wait("measure").await).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "measures"]
async fn measure_three_servers_of_nats() {
    let nats = Nats::start::<3>(SYNCED).unwrap();
    measure(&*(&nats as &dyn Service).wait("measure").await).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "measures"]
async fn measure_postgres() {
    let postgres = Postgres::start(&[]).unwrap();
    measure(&*(&postgres as &dyn Service).wait("measure").await).await;
}

/// One writer, then 22 logs of 100 entries of 15 KB written at the same time, and read as a server
/// does that takes them over.
async fn measure(engine: &dyn Engine) {
    let (mut last, mut times) = (0, Vec::new());
    for _ in 0..500 {
        let start = Instant::now();
        last = append(engine, 60, last, &Bytes::from(vec![5; 300])).await.0;
        times.push(start.elapsed());
    }
    times.sort();
    println!("one writer: p50 {:?}, p99 {:?}", times[250], times[495]);

    let entry = Bytes::from((0..15_000).map(|at| (at * 7 % 253) as u8).collect::<Vec<_>>());
    let start = Instant::now();
    let lasts = join_all((0..22).map(|log| {
        let entry = &entry;
        async move {
            let mut last = 0;
            for _ in 0..100 {
                last = append(engine, log, last, entry).await.0;
            }
            (log, last)
        }
    }))
    .await;
    let taken = start.elapsed();
    println!("22 writers: 2200 appends of 15 KB in {taken:?}");

    let start = Instant::now();
    let read = join_all(lasts.iter().map(|(log, last)| read(engine, *log, 0, *last))).await;
    assert!(read.iter().all(|entries| entries.len() == 100));
    println!("22 logs of 100 entries of 15 KB read in {:?}", start.elapsed());
}
