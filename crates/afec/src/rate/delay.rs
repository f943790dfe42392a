//! The queueing delay of packets: the time that they spend in queues on the path.

use core::time::Duration;

/// The number of spans (each as long as [`SPAN`]) over which the minimum delay is taken: 30 s in
/// all. A clock that is wrong by 100 ppm drifts by 3 ms in that time, and an estimator that keeps
/// the queue short sees an empty queue far more often than every 30 s. LEDBAT (RFC 6817) takes ten
/// minutes, because bulk transfers keep the queue filled.
const SPANS: usize = 6;
/// The length of a span.
const SPAN: Duration = Duration::from_secs(5);

/// The queueing delay of packets: their one-way delay minus the smallest one-way delay of the last
/// 30 s (the base delay of RFC 6817). The clocks of the two ends differ, so that one-way delays are
/// known up to a constant.
#[derive(Debug, Clone)]
pub(super) struct QueueDelay {
    /// The one-way delay of the newest packet plus a constant, in ms; `None` before the first
    /// packet.
    relative: Option<i64>,
    /// For each span the packet with the least delay, the newest span first.
    minima: [Option<Minimum>; SPANS],
    /// When the newest span began.
    began: Duration,
}

/// The packet with the least delay of a span.
#[derive(Debug, Clone, Copy)]
struct Minimum {
    /// The packet's delay in ms, relative as in [`Delay::relative`].
    delay: f64,
    bytes: u32,
}

/// The delay of a packet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Delay {
    /// The one-way delay in ms plus a constant, which is unknown because the clocks of the two ends
    /// differ.
    pub(super) relative: f64,
    /// The time that the packet waited in queues, in ms.
    pub(super) queue: f64,
}

impl QueueDelay {
    pub(super) fn new() -> Self {
        QueueDelay { relative: None, minima: [None; SPANS], began: Duration::ZERO }
    }

    /// Notes a packet that was sent when the sender's clock showed `sent` ms, and returns its
    /// delay. `rate` is the rate of arrival in bytes per second, 0 if unknown.
    pub(super) fn arrived(&mut self, now: Duration, sent: u16, bytes: u32, rate: f64) -> Delay {
        let difference = (now.as_millis() as u16).wrapping_sub(sent);
        let whole = match self.relative {
            None => i64::from(difference),
            Some(last) => last + i64::from(difference.wrapping_sub(last as u16) as i16),
        };
        self.relative = Some(whole);
        let relative = whole as f64 + f64::from(now.subsec_micros() % 1000) / 1000.0;

        self.turn(now);
        let newest = &mut self.minima[0];
        if newest.is_none_or(|least| relative < least.delay) {
            *newest = Some(Minimum { delay: relative, bytes });
        }
        Delay { relative, queue: self.queue(relative, bytes, rate) }
    }

    /// Sets the base delay: `relative` becomes the delay of a packet of `bytes` bytes that is not
    /// queued.
    pub(super) fn rebase(&mut self, relative: f64, bytes: u32) {
        self.minima = [None; SPANS];
        self.minima[0] = Some(Minimum { delay: relative, bytes });
    }

    fn queue(&self, relative: f64, bytes: u32, rate: f64) -> f64 {
        let base = self.minima.iter().flatten().min_by(|a, b| a.delay.total_cmp(&b.delay));
        let Some(base) = base else {
            return 0.0;
        };
        // A longer packet takes longer on the link: its additional bytes divided by the link's
        // rate. That rate is unknown, but at least `rate`, and equal to `rate` if there is a queue.
        let additional = f64::from(bytes.saturating_sub(base.bytes));
        let transmission = if rate > 0.0 { additional / rate * 1000.0 } else { 0.0 };
        (relative - base.delay - transmission).max(0.0)
    }

    /// Begins a new span if the present one is over.
    fn turn(&mut self, now: Duration) {
        let passed = now.saturating_sub(self.began).as_nanos() / SPAN.as_nanos();
        if passed == 0 {
            return;
        }
        self.minima.rotate_right((passed as usize).min(SPANS) % SPANS);
        let cleared = passed.min(SPANS as u128) as usize;
        self.minima[..cleared].fill(None);
        self.began = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn clocks_wrap_and_drift() {
        let mut delay = QueueDelay::new();
        // Ten minutes at 10 packets per second; the sender's clock is 100 ppm slow and wraps every
        // 65.5 s; the delay is 40 ms.
        for i in 0..6000u64 {
            let sent = i as f64 * 100.0 * (1.0 - 100e-6) + 60_000.0;
            let seen = delay.arrived(ms(i * 100 + 40), sent as u64 as u16, 60, 600.0);
            assert!(seen.queue < 5.0, "{i}: {}", seen.queue);
        }
    }

    #[test]
    fn a_new_base_is_taken_after_half_a_minute() {
        let mut delay = QueueDelay::new();
        delay.arrived(ms(40), 0, 60, 600.0);
        assert_eq!(delay.arrived(ms(1140), 1000, 60, 600.0).queue, 100.0);
        let mut last = f64::MAX;
        for i in 2..40u64 {
            last = delay.arrived(ms(i * 1000 + 140), (i * 1000) as u16, 60, 600.0).queue;
        }
        assert_eq!(last, 0.0);
    }

    #[test]
    fn a_longer_packet_is_no_queue() {
        let mut delay = QueueDelay::new();
        // 40 bytes and 300 bytes at 3600 bytes/s; 5 packets of 300 bytes a second come.
        delay.arrived(ms(11), 0, 40, 0.0);
        assert_eq!(delay.arrived(ms(283), 200, 300, 1500.0).queue, 0.0);
    }
}
