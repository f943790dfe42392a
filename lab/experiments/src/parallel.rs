//! Jobs of an experiment, some at a time, their rows in order.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::thread;

use crate::Update;

/// Makes the rows of all jobs, by as many threads as there are cores unless stated.
pub(crate) fn run<J: Sync + Display, R: Send>(
    jobs: &[J],
    threads: Option<NonZero<usize>>,
    rows: &(dyn Fn(&J) -> Vec<R> + Sync),
    tell: &mut dyn FnMut(Update<R>),
) {
    let cores = || thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
    let threads = threads.unwrap_or_else(cores).get().min(jobs.len());
    let next = AtomicUsize::new(0);
    let (sender, receiver) = channel();
    thread::scope(|scope| {
        for _ in 0..threads {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let Some(job) = jobs.get(place) else { break };
                    // The receiver is there for as long as any thread is, so sending does not fail.
                    drop(sender.send((place, None)));
                    drop(sender.send((place, Some(rows(job)))));
                }
            });
        }
        drop(sender);
        // Rows wait for those of the jobs before theirs.
        let (mut done, mut shown, mut waiting) = (0, 0, BTreeMap::new());
        while let Ok((place, rows)) = receiver.recv() {
            match rows {
                None => {
                    let what = jobs[place].to_string();
                    tell(Update::Progress { done, total: jobs.len(), what });
                }
                Some(rows) => {
                    done += 1;
                    waiting.insert(place, rows);
                }
            }
            while let Some(rows) = waiting.remove(&shown) {
                rows.into_iter().for_each(|row| tell(Update::Row(Box::new(row))));
                shown += 1;
            }
        }
    });
}
