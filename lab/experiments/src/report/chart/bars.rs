//! Bars to the right, so that names stay readable on a phone.

use std::fmt::Write;

use super::super::text;
use super::axis::{Placed, Scale};
use super::{Chart, Drawing, Name, Series, WIDTH};

const TOP: f64 = 24.0;
/// Of what is written beside axes.
const FONT: f64 = 12.0;
/// Names take no more than that.
const WIDEST: f64 = 170.0;
/// Behind the longest bar, for its value.
const RIGHT: f64 = 62.0;

/// Where things are, from top to bottom.
struct Rows {
    /// From one name to the next.
    pitch: f64,
    /// From one bar to the next.
    bar: f64,
    count: usize,
}

impl Rows {
    fn new(chart: &Chart, count: usize) -> Self {
        let series = chart.series.len().max(1) as f64;
        let bar = if series > 1.0 { 9.0 } else { 16.0 };
        Rows { pitch: series * bar + if series > 1.0 { 9.0 } else { 8.0 }, bar, count }
    }

    /// The upper edge of a bar.
    fn top(&self, row: usize, series: usize) -> f64 {
        TOP + row as f64 * self.pitch + 4.0 + series as f64 * self.bar
    }

    fn middle(&self, row: usize) -> f64 {
        TOP + (row as f64 + 0.5) * self.pitch
    }

    fn bottom(&self) -> f64 {
        TOP + self.count as f64 * self.pitch
    }
}

pub(super) fn draw(chart: &Chart, names: &[Name]) -> Drawing {
    let points = chart.series.iter().flat_map(|series| usable(chart, series, names.len()));
    let mut values: Vec<f64> = points.map(|(_, value)| value).collect();
    let level = chart.level.as_ref().filter(|level| chart.y.takes(level.value));
    if !values.is_empty() {
        values.extend(level.map(|level| level.value));
    }
    let rows = Rows::new(chart, names.len());
    let widest = names.iter().map(|name| FONT * text::width(&name.name)).fold(0.0, f64::max);
    let left = widest.min(WIDEST) + 12.0;
    let Some(x) = Placed::new(&chart.y, &values, (left, WIDTH - RIGHT), true) else {
        return Drawing::empty();
    };

    let mut out = String::new();
    write_axis(&mut out, chart, &x, rows.bottom());
    for (row, name) in names.iter().enumerate() {
        let strong = if name.strong { " strong" } else { "" };
        let _ = writeln!(
            out,
            "<text class=\"row end{strong}\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            left - 8.0,
            rows.middle(row) + 4.0,
            text::escape(&text::cut(&name.name, WIDEST / FONT))
        );
    }
    for (number, series) in chart.series.iter().enumerate() {
        write_series(&mut out, chart, (number, series), names, (&x, &rows));
    }
    if let Some(level) = level {
        let at = x.place(level.value);
        let _ = writeln!(out, "<path class=\"level\" d=\"M{at:.1} {TOP}V{:.1}\"/>", rows.bottom());
        let name = text::cut(&level.name, (WIDTH - at) / FONT);
        let _ = writeln!(
            out,
            "<text class=\"level\" x=\"{at:.1}\" y=\"{:.1}\">{}</text>",
            TOP - 6.0,
            text::escape(&name)
        );
    }
    Drawing { height: (rows.bottom() + 44.0).ceil(), marks: out }
}

/// Indices of names, and values that can be drawn.
fn usable(chart: &Chart, series: &Series, names: usize) -> impl Iterator<Item = (usize, f64)> {
    let points = series.points.iter().filter(move |point| point.0 >= 0.0 && point.0 < names as f64);
    points.filter(|point| chart.y.takes(point.1)).map(|point| (point.0 as usize, point.1))
}

fn write_axis(out: &mut String, chart: &Chart, x: &Placed, bottom: f64) {
    let mut free = f64::MIN;
    for &tick in &x.ticks {
        let (at, tick) = (x.place(tick), text::tick(tick));
        let half = FONT * text::width(&tick) / 2.0;
        let _ = writeln!(out, "<path class=\"rule\" d=\"M{at:.1} {TOP}V{bottom:.1}\"/>");
        if at - half >= free {
            free = at + half + 6.0;
            let _ = writeln!(
                out,
                "<text class=\"tick mid\" x=\"{at:.1}\" y=\"{:.1}\">{tick}</text>",
                bottom + 16.0
            );
        }
    }
    let scale = if chart.y.scale == Scale::Log { " (logarithmic)" } else { "" };
    let heading = text::cut(&format!("{}{scale}", chart.y.heading()), (WIDTH - 8.0) / FONT);
    let heading = text::escape(&heading);
    let _ = writeln!(
        out,
        "<text class=\"axis end\" x=\"{}\" y=\"{:.1}\">{heading}</text>",
        WIDTH - 2.0,
        bottom + 36.0
    );
}

fn write_series(
    out: &mut String,
    chart: &Chart,
    (number, series): (usize, &Series),
    names: &[Name],
    (x, rows): (&Placed, &Rows),
) {
    let alone = chart.series.len() == 1;
    let zero = match chart.y.scale {
        Scale::Linear => x.place(0.0),
        Scale::Log => x.place(0.0) - 4.0,
    };
    out.push_str(&chart.open(series));
    for (row, value) in usable(chart, series, names.len()) {
        let (end, top) = (x.place(value), rows.top(row, number));
        let middle = top + (rows.bar - 1.0) / 2.0;
        let (attributes, title) = chart.says(series, (&names[row].name, value), (end, middle));
        let quiet = if alone && !names[row].strong { " quiet" } else { "" };
        let _ = match chart.y.scale {
            Scale::Linear => writeln!(
                out,
                "<rect class=\"mark{quiet}\" x=\"{:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"2\" \
                 {attributes}>{title}</rect>",
                zero.min(end),
                (end - zero).abs().max(0.8),
                rows.bar - 1.0
            ),
            Scale::Log => writeln!(
                out,
                "<path class=\"stem\" d=\"M{zero:.1} {middle:.1}H{end:.1}\"/>\
                 <path class=\"mark{quiet}\" transform=\"translate({end:.1} {middle:.1})\" d=\"{}\" \
                 {attributes}>{title}</path>",
                series.look.marker()
            ),
        };
        if alone {
            let _ = writeln!(
                out,
                "<text class=\"value\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                end.max(zero) + 7.0,
                middle + 4.0,
                text::number(value)
            );
        }
    }
    out.push_str("</g>\n");
}
