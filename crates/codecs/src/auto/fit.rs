//! A line through the measured times of exchanges, each of a packet and its answer, by size; robust
//! against single delays.

/// Exchanges that are collected before the first line is fitted.
const EARLY: usize = 8;
/// Exchanges after which a point has lost most of its weight, so that the line follows a changing
/// link.
const MEMORY: f64 = 600.0;
/// A time further from the line than this many spreads counts as if it were this far away.
const CLIP: f64 = 3.0;
/// A time further away than this many spreads is an outlier, and `OUTLIERS` of them in a row are a
/// new link.
const OUTLIER: f64 = 8.0;
const OUTLIERS: u8 = 5;
/// The slope is known if its standard error is at most this share of it, or at most
/// `ABSOLUTE_ERROR` ns per byte.
const RELATIVE_ERROR: f64 = 0.2;
const ABSOLUTE_ERROR: f64 = 1.5;
/// The smallest spread, ns: no network's times vary less.
const LEAST_SPREAD: f64 = 50.0;
/// The factor by which one exchange changes the spread, up or down.
const SPREAD_STEP: f64 = 1.05;

/// A weighted least-squares line of time over bytes.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Fit {
    /// The first exchanges, as bytes and nanoseconds.
    early: [(f64, f64); EARLY],
    /// Exchanges in `early`.
    count: usize,
    /// An estimate of the median absolute distance from the line, ns.
    spread: f64,
    /// Outliers in a row.
    outliers: u8,
    /// Sum of weights.
    weight: f64,
    /// Weighted means of bytes and of nanoseconds.
    mean: (f64, f64),
    /// Weighted sums of squares and products of the distances from the means.
    xx: f64,
    xy: f64,
    yy: f64,
}

impl Fit {
    /// Whether a line has been fitted.
    pub(super) fn is_full(&self) -> bool {
        self.count >= EARLY
    }

    /// Adds an exchange.
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

    /// Fits the first line by medians (Theil-Sen): among eight points one bad point would turn a
    /// least-squares line.
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
        let spread = median(&rest.map(|rest| (rest - base).abs()));
        self.spread = spread.max(LEAST_SPREAD);
        for (bytes, nanos) in early {
            let (line, clip) = (base + slope * bytes, CLIP * self.spread);
            // Not `clamp`, here and below: its panic message formats floats, which is 7 KB of code
            // in a browser.
            self.update(bytes, nanos.max(line - clip).min(line + clip));
        }
    }

    /// Adds an exchange to the line; starts again if the link has changed.
    fn follow(&mut self, bytes: f64, nanos: f64) {
        let dx = bytes - self.mean.0;
        let line = self.mean.1 + self.raw_slope() * dx;
        // Far from the sizes that the line was fitted to, the line itself may be wrong.
        let spread = self.spread * (1.0 + dx * dx / self.xx.max(1.0));
        let off = (nanos - line).abs();
        if off > OUTLIER * spread {
            self.outliers += 1;
            if self.outliers >= OUTLIERS {
                *self = Fit::default();
                self.add(bytes, nanos);
                return;
            }
        } else {
            self.outliers = 0;
        }
        self.update(bytes, nanos.max(line - CLIP * spread).min(line + CLIP * spread));
        self.spread *= if off > spread { SPREAD_STEP } else { 1.0 / SPREAD_STEP };
        self.spread = self.spread.max(LEAST_SPREAD);
    }

    /// Updates the weighted sums.
    fn update(&mut self, bytes: f64, nanos: f64) {
        let keep = 1.0 - 1.0 / MEMORY;
        self.weight = keep * self.weight + 1.0;
        let (dx, dy) = (bytes - self.mean.0, nanos - self.mean.1);
        self.mean.0 += dx / self.weight;
        self.mean.1 += dy / self.weight;
        self.xx = keep * self.xx + dx * (bytes - self.mean.0);
        self.xy = keep * self.xy + dx * (nanos - self.mean.1);
        self.yy = keep * self.yy + dy * (nanos - self.mean.1);
    }

    /// The slope, however uncertain it is.
    fn raw_slope(&self) -> f64 {
        if self.xx > 0.0 { self.xy / self.xx } else { 0.0 }
    }

    /// The most time that a byte can take: the mean time divided by the mean size.
    pub(super) fn upper_bound(&self) -> Option<f32> {
        (self.is_full() && self.mean.0 > 0.0).then(|| (self.mean.1 / self.mean.0) as f32)
    }

    /// The mean time of an exchange, ns; 0 before there is a line.
    pub(super) fn mean_time(&self) -> f32 {
        if self.is_full() { self.mean.1 as f32 } else { 0.0 }
    }

    /// Nanoseconds per byte, if the standard error is small enough.
    pub(super) fn slope(&self) -> Option<f32> {
        let slope = self.raw_slope().max(0.0);
        (self.error() <= allowed(slope)).then_some(slope as f32)
    }

    /// Whether the error is at most half the permitted one, so that no more packets of other sizes
    /// are needed.
    pub(super) fn is_sure(&self) -> bool {
        self.error() <= allowed(self.raw_slope()) / 4.0
    }

    /// The variance of the slope.
    fn error(&self) -> f64 {
        if !self.is_full() || self.xx <= 0.0 {
            return f64::MAX;
        }
        let rest = (self.yy - self.raw_slope() * self.xy).max(0.0);
        rest / ((self.weight - 2.0).max(1.0) * self.xx)
    }
}

/// The largest variance with which a slope counts as known.
fn allowed(slope: f64) -> f64 {
    let error = (RELATIVE_ERROR * slope).max(ABSOLUTE_ERROR);
    error * error
}

/// The median, 0 of no values. Counts ranks, as there are few values: a sort would be more code in
/// a browser than the rest of this file.
fn median(values: &[f64]) -> f64 {
    let is_before = |a: usize, b: usize| values[a].total_cmp(&values[b]).then(a.cmp(&b)).is_lt();
    let all = 0..values.len();
    let rank = |of: usize| all.clone().filter(|&other| is_before(other, of)).count();
    all.clone().find(|&at| rank(at) == values.len() / 2).map_or(0.0, |at| values[at])
}
