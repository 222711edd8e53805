//! Independent runs side by side.

use std::collections::VecDeque;
use std::sync::Mutex;

/// Runs every job, as many at a time as there are processors; results in the order of the jobs.
pub fn side_by_side<J: Send, T: Send>(jobs: Vec<J>, run: impl Fn(J) -> T + Sync) -> Vec<T> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(jobs.len());
    let results: Mutex<Vec<Option<T>>> = Mutex::new(jobs.iter().map(|_| None).collect());
    let queue: Mutex<VecDeque<(usize, J)>> = Mutex::new(jobs.into_iter().enumerate().collect());
    let next = || queue.lock().expect("no job panics while it holds the queue").pop_front();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((index, job)) = next() {
                    let result = run(job);
                    results.lock().expect("no job panics while it holds the results")[index] = Some(result);
                }
            });
        }
    });
    let results = results.into_inner().expect("every thread has ended");
    results.into_iter().map(|result| result.expect("every job has run")).collect()
}
