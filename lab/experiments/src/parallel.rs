//! Runs the jobs of an experiment, some at a time, and emits their rows in the order of the jobs.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::thread;

use crate::Update;

/// Runs a job: takes the number of the worker, the job, and the function that gets its updates.
type Run<'a, J> = dyn Fn(usize, &J, &mut dyn FnMut(Update)) + Sync + 'a;

/// Does all jobs, `workers` at a time. A job tells its progress and its rows. While several jobs go
/// on at a time, what they yield waits until the jobs before them are over. All jobs together are
/// about `total` runs; each run tells its progress once, at its beginning.
pub(crate) fn run<J: Sync>(
    (jobs, total): (&[J], usize),
    workers: usize,
    run: &Run<'_, J>,
    emit: &mut dyn FnMut(Update),
) {
    let next = AtomicUsize::new(0);
    let (sender, receiver) = channel();
    thread::scope(|scope| {
        for worker in 0..workers.min(jobs.len()) {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let Some(job) = jobs.get(place) else { break };
                    // The receiver exists as long as any worker does, so sending does not fail.
                    run(worker, job, &mut |update| drop(sender.send((place, Some(update)))));
                    drop(sender.send((place, None)));
                }
            });
        }
        drop(sender);
        let (mut shown, mut begun) = (0, 0);
        let mut waiting: BTreeMap<usize, (Vec<Update>, bool)> = BTreeMap::new();
        while let Ok((place, update)) = receiver.recv() {
            match update {
                Some(Update::Progress { what, .. }) => {
                    emit(Update::Progress { done: begun, total, what });
                    begun += 1;
                }
                Some(update) if place == shown => emit(update),
                Some(update) => waiting.entry(place).or_default().0.push(update),
                None => waiting.entry(place).or_default().1 = true,
            }
            while let Some((updates, is_over)) = waiting.remove(&shown) {
                updates.into_iter().for_each(&mut *emit);
                if !is_over {
                    break;
                }
                shown += 1;
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_jobs() {
        let jobs: Vec<u64> = (0..20).collect();
        let job = |_, job: &u64, emit: &mut dyn FnMut(Update)| {
            for part in ["a", "b"] {
                emit(Update::Skipped { what: format!("{job:02}{part}"), why: String::new() });
                thread::yield_now();
            }
        };
        for workers in [1, 3] {
            let mut told = Vec::new();
            run((&jobs, jobs.len()), workers, &job, &mut |update| {
                if let Update::Skipped { what, .. } = update {
                    told.push(what);
                }
            });
            assert_eq!(told.len(), 40);
            assert!(told.is_sorted(), "{told:?}");
        }
    }
}
