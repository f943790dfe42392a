//! A line through times, robust against delays.

/// Exchanges that are collected before the first line is drawn.
const EARLY: usize = 8;
/// Exchanges that a line is drawn through: older ones are forgotten.
const MEMORY: f64 = 600.0;
/// A time that is off the line by more than so many usual deviations counts as if it were off by so many.
const USUAL: f64 = 3.0;
/// One that is off by so many is a stranger, and so many strangers in a row are a new link.
const FAR: f64 = 8.0;
const STRANGERS: u8 = 5;
/// How well the slope must be known to be told: its standard error is at most this share of it, or so many ns.
const SHARE: f64 = 0.2;
const SURE: f64 = 1.5;
/// The least usual deviation, ns: no network's times are better.
const FINEST: f64 = 50.0;
/// How fast the usual deviation follows, as a factor for each exchange.
const FOLLOW: f64 = 1.05;

/// Least squares of time against bytes.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Fit {
    early: [(f64, f64); EARLY],
    count: usize,
    /// The median of absolute differences from the line, ns.
    usual: f64,
    strangers: u8,
    /// Weighted sums, around the means.
    weight: f64,
    mean: (f64, f64),
    xx: f64,
    xy: f64,
    yy: f64,
}

impl Fit {
    /// Whether a line has been drawn.
    pub(super) fn is_full(&self) -> bool {
        self.count >= EARLY
    }

    /// One more point.
    pub(super) fn add(&mut self, bytes: f64, nanos: f64) {
        if self.is_full() {
            self.follow(bytes, nanos);
            return;
        }
        self.early[self.count] = (bytes, nanos);
        self.count += 1;
        if self.is_full() {
            self.begin();
        }
    }

    /// The first line, through medians: among so few points one bad one would turn it.
    fn begin(&mut self) {
        let early = self.early;
        let mut slopes = [0.0; EARLY * (EARLY - 1) / 2];
        let mut count = 0;
        for (index, a) in early.iter().enumerate() {
            for b in &early[..index] {
                if (a.0 - b.0).abs() > 1.0 {
                    slopes[count] = (a.1 - b.1) / (a.0 - b.0);
                    count += 1;
                }
            }
        }
        let slope = median(&slopes[..count]).max(0.0);
        let rest = early.map(|(bytes, nanos)| nanos - slope * bytes);
        let base = median(&rest);
        let usual = median(&rest.map(|rest| (rest - base).abs()));
        self.usual = usual.max(FINEST);
        for (bytes, nanos) in early {
            let (line, most) = (base + slope * bytes, USUAL * self.usual);
            // Not `clamp`, here and below: its panic brings along how floats are written, 7 KB in a browser.
            self.draw(bytes, nanos.max(line - most).min(line + most));
        }
    }

    fn follow(&mut self, bytes: f64, nanos: f64) {
        let dx = bytes - self.mean.0;
        let line = self.mean.1 + self.ratio() * dx;
        // Where the line leaves the sizes that it is drawn through, it may be wrong itself.
        let usual = self.usual * (1.0 + dx * dx / self.xx.max(1.0));
        let off = (nanos - line).abs();
        if off > FAR * usual {
            self.strangers += 1;
            if self.strangers >= STRANGERS {
                *self = Fit::default();
                self.add(bytes, nanos);
                return;
            }
        } else {
            self.strangers = 0;
        }
        self.draw(bytes, nanos.max(line - USUAL * usual).min(line + USUAL * usual));
        self.usual *= if off > usual { FOLLOW } else { 1.0 / FOLLOW };
        self.usual = self.usual.max(FINEST);
    }

    fn draw(&mut self, bytes: f64, nanos: f64) {
        let keep = 1.0 - 1.0 / MEMORY;
        self.weight = keep * self.weight + 1.0;
        let (dx, dy) = (bytes - self.mean.0, nanos - self.mean.1);
        self.mean.0 += dx / self.weight;
        self.mean.1 += dy / self.weight;
        self.xx = keep * self.xx + dx * (bytes - self.mean.0);
        self.xy = keep * self.xy + dx * (nanos - self.mean.1);
        self.yy = keep * self.yy + dy * (nanos - self.mean.1);
    }

    /// The slope as it comes.
    fn ratio(&self) -> f64 {
        if self.xx > 0.0 { self.xy / self.xx } else { 0.0 }
    }

    /// What a byte takes at most, whatever the sizes: all of the time divided among all bytes.
    pub(super) fn most(&self) -> Option<f32> {
        (self.is_full() && self.mean.0 > 0.0).then(|| (self.mean.1 / self.mean.0) as f32)
    }

    /// The mean time, ns.
    pub(super) fn usual_time(&self) -> f32 {
        if self.is_full() { self.mean.1 as f32 } else { 0.0 }
    }

    /// Nanoseconds per byte, if that is known well enough.
    pub(super) fn slope(&self) -> Option<f32> {
        let slope = self.ratio().max(0.0);
        (self.error() <= allowed(slope)).then_some(slope as f32)
    }

    /// Whether the slope is known so well that it may well be known worse.
    pub(super) fn is_sure(&self) -> bool {
        self.error() <= allowed(self.ratio()) / 4.0
    }

    /// The variance of the slope.
    fn error(&self) -> f64 {
        if !self.is_full() || self.xx <= 0.0 {
            return f64::MAX;
        }
        let rest = (self.yy - self.ratio() * self.xy).max(0.0);
        rest / ((self.weight - 2.0).max(1.0) * self.xx)
    }
}

/// The largest variance of a slope that is told.
fn allowed(slope: f64) -> f64 {
    let error = (SHARE * slope).max(SURE);
    error * error
}

/// 0 of none. By ranks, as there are few: sorting is more code in a browser than all else here.
fn median(values: &[f64]) -> f64 {
    let is_before = |a: usize, b: usize| values[a].total_cmp(&values[b]).then(a.cmp(&b)).is_lt();
    let all = 0..values.len();
    let rank = |of: usize| all.clone().filter(|&other| is_before(other, of)).count();
    all.clone().find(|&at| rank(at) == values.len() / 2).map_or(0.0, |at| values[at])
}
