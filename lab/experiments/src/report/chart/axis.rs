//! From values to places, and which values are written beside an axis.

use super::super::text;

/// Beyond it, either way, a value cannot be drawn.
const LARGEST: f64 = 1e15;

/// What one direction of a chart means.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Axis {
    /// What is measured.
    pub(crate) label: String,
    /// What it is counted in; may be empty.
    pub(crate) unit: String,
    /// How values become places.
    pub(crate) scale: Scale,
    /// Whether exactly the values that occur are written beside it; for few values that somebody chose.
    pub(crate) at_values: bool,
}

/// How values become places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scale {
    /// Equal steps are equal differences.
    Linear,
    /// Equal steps are equal quotients.
    Log,
}

impl Axis {
    /// Equal steps, at round values.
    pub(crate) fn linear(label: &str, unit: &str) -> Self {
        Axis {
            label: label.to_owned(),
            unit: unit.to_owned(),
            scale: Scale::Linear,
            at_values: false,
        }
    }

    /// Equal quotients.
    pub(crate) fn log(label: &str, unit: &str) -> Self {
        Axis { scale: Scale::Log, ..Axis::linear(label, unit) }
    }

    /// Writes exactly the values that occur.
    pub(crate) fn at_values(self) -> Self {
        Axis { at_values: true, ..self }
    }

    /// A value with its unit.
    pub(super) fn told(&self, value: f64) -> String {
        match self.unit.as_str() {
            "" => text::number(value),
            unit => format!("{} {unit}", text::number(value)),
        }
    }

    /// What it measures, and in what.
    pub(super) fn heading(&self) -> String {
        match self.unit.as_str() {
            "" => self.label.clone(),
            unit => format!("{}, {unit}", self.label),
        }
    }

    /// Whether a value can be drawn.
    pub(super) fn takes(&self, value: f64) -> bool {
        match self.scale {
            Scale::Linear => value.is_finite() && value.abs() <= LARGEST,
            Scale::Log => (1.0 / LARGEST..=LARGEST).contains(&value),
        }
    }
}

/// An axis laid out between two places.
#[derive(Debug)]
pub(super) struct Placed {
    scale: Scale,
    /// Of the lowest and the highest value that has a place; as a logarithm, where the scale is one.
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    /// Values to be written.
    pub(super) ticks: Vec<f64>,
}

impl Placed {
    /// Between the places `from` and `to`, for values that the axis takes. `None` if there are none.
    /// `zero`: bars begin at 0, whatever the values.
    pub(super) fn new(
        axis: &Axis,
        values: &[f64],
        (from, to): (f64, f64),
        zero: bool,
    ) -> Option<Self> {
        let (least, most) = span(values)?;
        let (low, high, ticks) = match axis.scale {
            _ if axis.at_values => at_values(axis.scale, values, (least, most)),
            Scale::Linear => linear(least, most, zero),
            Scale::Log => log(least, most),
        };
        Some(Placed { scale: axis.scale, low, high, from, to, ticks })
    }

    /// Where a value is; of one beyond the ends, the end.
    pub(super) fn place(&self, value: f64) -> f64 {
        let share = (on(self.scale, value) - self.low) / (self.high - self.low);
        self.from + share.clamp(0.0, 1.0) * (self.to - self.from)
    }

    /// Whether a value lies within.
    pub(super) fn has(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&on(self.scale, value))
    }
}

fn span(values: &[f64]) -> Option<(f64, f64)> {
    let least = values.iter().copied().reduce(f64::min)?;
    let most = values.iter().copied().reduce(f64::max)?;
    Some((least, most))
}

fn on(scale: Scale, value: f64) -> f64 {
    match scale {
        Scale::Linear => value,
        Scale::Log => value.max(1.0 / LARGEST).log10(),
    }
}

/// Exactly the values, and a little air.
fn at_values(scale: Scale, values: &[f64], (least, most): (f64, f64)) -> (f64, f64, Vec<f64>) {
    let mut ticks = values.to_vec();
    ticks.sort_by(f64::total_cmp);
    ticks.dedup();
    let (least, most) = (on(scale, least), on(scale, most));
    let air = match most - least {
        nothing if nothing < f64::EPSILON * most.abs().max(1.0) => most.abs().max(1.0),
        span => span * 0.04,
    };
    (least - air, most + air, ticks)
}

/// Round values from below the least to above the most. From 0, if that is not far away.
fn linear(least: f64, most: f64, zero: bool) -> (f64, f64, Vec<f64>) {
    let near = most > 0.0 && (0.0..0.35 * most).contains(&least);
    let (mut least, mut most) =
        if zero || near { (least.min(0.0), most.max(0.0)) } else { (least, most) };
    let narrowest = least.abs().max(most.abs()).max(1e-12) * 1e-6;
    if most - least < narrowest {
        let air = if most == 0.0 { 1.0 } else { most.abs() * 0.1 };
        let floor = if (zero && least >= 0.0) || most == 0.0 { 0.0 } else { least - air };
        (least, most) = (floor, most + air);
    }
    let step = step((most - least) / 5.0);
    let (first, last) = ((least / step).floor(), (most / step - 1e-9).ceil());
    let count = (last - first).clamp(1.0, 20.0) as usize;
    let ticks: Vec<f64> = (0..=count).map(|tick| (first + tick as f64) * step).collect();
    (first * step, last.max(first + 1.0) * step, ticks)
}

/// The next of 1, 2, 5, 10 and so on.
fn step(at_least: f64) -> f64 {
    let decade = 10f64.powf(at_least.log10().floor());
    let steps = [1.0, 2.0, 5.0].into_iter().map(|one| one * decade);
    steps.into_iter().find(|&step| step >= at_least * 0.999).unwrap_or(10.0 * decade)
}

/// From a power of ten, or of 2 or 5 times one if that is nearer, to another.
fn log(least: f64, most: f64) -> (f64, f64, Vec<f64>) {
    let mut ticks = Vec::new();
    let (first, last) = (least.log10().floor() as i32 - 1, most.log10().ceil() as i32 + 1);
    for decade in first..=last {
        ticks.extend([1.0, 2.0, 5.0].map(|one| one * 10f64.powi(decade)));
    }
    let low = ticks.iter().rposition(|&tick| tick <= least * 1.000_001).unwrap_or(0);
    let high = ticks.iter().position(|&tick| tick >= most * 0.999_999).unwrap_or(ticks.len() - 1);
    let (low, high) = if low < high { (low, high) } else { (low.saturating_sub(1), high + 1) };
    let mut ticks = ticks[low..=high.min(ticks.len() - 1)].to_vec();
    let (low, high) = (ticks[0].log10(), ticks[ticks.len() - 1].log10());
    if high - low > 2.1 {
        ticks.retain(|tick| (tick.log10() - tick.log10().round()).abs() < 1e-9);
    }
    // No more than fit.
    let stride = ticks.len().div_ceil(7);
    (low, high, ticks.into_iter().step_by(stride).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(axis: &Axis, values: &[f64], zero: bool) -> Vec<f64> {
        Placed::new(axis, values, (0.0, 100.0), zero).unwrap().ticks
    }

    #[test]
    fn ticks_are_round_and_around_the_values() {
        let axis = Axis::linear("", "");
        assert_eq!(ticks(&axis, &[8.1, 13.9], false), [8.0, 10.0, 12.0, 14.0]);
        assert_eq!(ticks(&axis, &[0.02, 0.09], false), [0.0, 0.02, 0.04, 0.06, 0.08, 0.1]);
        assert_eq!(ticks(&axis, &[8.1, 9.9], true), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(ticks(&axis, &[-3.0, 4.0], false), [-4.0, -2.0, 0.0, 2.0, 4.0]);
    }

    #[test]
    fn one_value_has_ticks_on_both_sides() {
        for value in [0.0, 1.0, -7.0, 1e15, 1e-12] {
            let placed = Placed::new(&Axis::linear("", ""), &[value], (0.0, 100.0), false).unwrap();
            assert!(placed.has(value), "{value}: {placed:?}");
            assert!(placed.ticks.len() >= 2, "{value}: {placed:?}");
        }
    }

    #[test]
    fn logarithms_have_decades() {
        let axis = Axis::log("", "");
        assert_eq!(ticks(&axis, &[3.0, 4000.0], false), [10.0, 100.0, 1000.0]);
        assert_eq!(ticks(&axis, &[10.0, 100.0], false), [10.0, 20.0, 50.0, 100.0]);
        assert_eq!(ticks(&axis, &[7.0], false), [5.0, 10.0]);
        assert!(!axis.takes(0.0) && !axis.takes(-1.0) && !axis.takes(f64::NAN));
    }

    #[test]
    fn values_themselves_can_be_ticks() {
        let axis = Axis::linear("size", "octets").at_values();
        assert_eq!(ticks(&axis, &[1400.0, 500.0, 500.0], false), [500.0, 1400.0]);
        assert_eq!(ticks(&axis, &[500.0], false), [500.0]);
        assert_eq!(axis.heading(), "size, octets");
    }

    #[test]
    fn places_grow_with_values() {
        let placed = Placed::new(&Axis::linear("", ""), &[0.0, 10.0], (50.0, 0.0), true).unwrap();
        assert_eq!(placed.place(0.0), 50.0);
        assert_eq!(placed.place(10.0), 0.0);
        assert_eq!(placed.place(99.0), 0.0);
        assert!(Placed::new(&Axis::linear("", ""), &[], (0.0, 1.0), true).is_none());
    }
}
