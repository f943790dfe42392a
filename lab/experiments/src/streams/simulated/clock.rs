//! A clock of this thread's processor time.

use std::time::Duration;

/// The processor time of this thread.
#[cfg(target_os = "linux")]
pub(in crate::streams) fn cpu() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Wall time, on systems without a clock of processor time.
#[cfg(not(target_os = "linux"))]
pub(in crate::streams) fn cpu() -> Duration {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed()
}
