//! Servers whose clocks differ by an hour.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use tokio::time::sleep;

use super::balancer::balance;
use super::folder;
use super::member::Member;
use super::nats::Nats;
use crate::durable::people::People;
use crate::skip::skip;

/// Ends a test that hangs; a busy machine does not reach it.
const PATIENCE: Duration = Duration::from_secs(60);

/// Sets the wall clock of a program off by the seconds in `CLOCK_OFFSET`.
const CLOCK: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

int clock_gettime(clockid_t clock, struct timespec *time) {
    int (*real)(clockid_t, struct timespec *) = dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(clock, time);
    if (clock == CLOCK_REALTIME) time->tv_sec += atol(getenv("CLOCK_OFFSET"));
    return result;
}
"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_clocks_an_hour_apart_nothing_confirmed_is_lost_and_the_operator_is_told() {
    let folder = folder("clocks");
    let Some(clock) = clock(&folder) else { return };
    let Some(nats) = Nats::start(folder.join("nats"), true) else { return };
    let options = nats.options();
    let mut members = [("a", -3600), ("b", 0), ("c", 3600)].map(|(name, offset)| {
        let mut member = Member::new(name, &folder, &options);
        member.variables.push(("LD_PRELOAD", clock.to_str().unwrap().to_owned()));
        member.variables.push(("CLOCK_OFFSET", offset.to_string()));
        member
    });
    members.iter_mut().for_each(Member::start);
    let people = People::join(&balance(members.iter().map(Member::address).collect()).await);
    for member in &mut members {
        people.progress(200).await;
        member.kill();
        people.progress_in_each_room(20).await;
        member.start();
    }
    people.progress(200).await;
    println!("{}", people.finish().await);
    for slow in &members[..2] {
        // A server that has just started hears of the others' clocks a moment later.
        let began = Instant::now();
        while !slow.log().contains("the clock of another server is ahead of this one's") {
            assert!(began.elapsed() < PATIENCE, "{}", slow.log());
            sleep(Duration::from_millis(50)).await;
        }
    }
}

/// Compiles a library that sets clocks off; `None` without a compiler, which is told.
fn clock(folder: &Path) -> Option<PathBuf> {
    let (source, library) = (folder.join("clock.c"), folder.join("clock.so"));
    fs::write(&source, CLOCK).unwrap();
    let compiled = Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .args([&library, &source])
        .arg("-ldl")
        .status();
    if compiled.is_ok_and(|status| status.success()) {
        return Some(library);
    }
    skip("cc");
    None
}
