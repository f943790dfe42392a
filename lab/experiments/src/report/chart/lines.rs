//! Lines and points.

use std::fmt::Write;

use super::super::text;
use super::axis::Placed;
use super::{Chart, Drawing, Marks, Series, WIDTH};

const HEIGHT: f64 = 300.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 254.0;
/// Of what is written beside axes.
const FONT: f64 = 12.0;

pub(super) fn draw(chart: &Chart) -> Drawing {
    let points = points(chart);
    let xs: Vec<f64> = points.iter().map(|point| point.0).collect();
    let mut ys: Vec<f64> = points.iter().map(|point| point.1).collect();
    ys.extend(level_in_reach(chart, &ys));
    let Some(y) = Placed::new(&chart.y, &ys, (BOTTOM, TOP), false) else {
        return Drawing::empty();
    };
    let widest = y.ticks.iter().map(|&tick| text::width(&text::tick(tick))).fold(0.0, f64::max);
    let left = FONT * widest + 12.0;
    let right = WIDTH - room_for_ends(chart);
    let Some(x) = Placed::new(&chart.x, &xs, (left, right), false) else {
        return Drawing::empty();
    };

    let mut out = String::new();
    write_axes(&mut out, chart, (&x, &y), (left, right));
    let (strong, others): (Vec<_>, Vec<_>) =
        chart.series.iter().partition(|series| series.look.is_strong());
    for series in strong.into_iter().chain(others).rev() {
        write_series(&mut out, chart, series, (&x, &y));
    }
    write_level(&mut out, chart, &y, (left, right));
    write_ends(&mut out, chart, (&x, &y));
    Drawing { height: HEIGHT, marks: out }
}

/// What the scales are for: points that are shown at first; if there are none, all.
fn points(chart: &Chart) -> Vec<(f64, f64)> {
    let of = |is_shown: &dyn Fn(&&Series) -> bool| -> Vec<_> {
        let series = chart.series.iter().filter(is_shown);
        series.flat_map(|series| usable(chart, series)).collect()
    };
    let shown = of(&|series| series.shown);
    if shown.is_empty() { of(&|_| true) } else { shown }
}

/// Points that can be drawn.
fn usable(chart: &Chart, series: &Series) -> impl Iterator<Item = (f64, f64)> {
    let takes = |point: &&(f64, f64)| chart.x.takes(point.0) && chart.y.takes(point.1);
    series.points.iter().filter(takes).copied()
}

/// The level, unless making room for it would flatten everything else.
fn level_in_reach(chart: &Chart, ys: &[f64]) -> Option<f64> {
    let level =
        chart.level.as_ref().map(|level| level.value).filter(|&level| chart.y.takes(level))?;
    let most = ys.iter().copied().fold(f64::MIN, f64::max);
    let least = ys.iter().copied().fold(f64::MAX, f64::min);
    (level <= 1.5 * most.abs() && level >= 0.5 * least.min(most)).then_some(level)
}

/// Thick lines are named at their end.
fn room_for_ends(chart: &Chart) -> f64 {
    let names = chart.series.iter().filter(|series| series.look.is_strong() && series.shown);
    let widest = names.map(|series| text::width(&series.name).min(8.0)).fold(0.0, f64::max);
    FONT * widest + 18.0
}

fn write_axes(
    out: &mut String,
    chart: &Chart,
    (x, y): (&Placed, &Placed),
    (left, right): (f64, f64),
) {
    let heading = text::escape(&text::cut(&chart.y.heading(), (WIDTH - 8.0) / FONT));
    let _ = writeln!(out, "<text class=\"axis\" x=\"2\" y=\"14\">{heading}</text>");
    for &tick in &y.ticks {
        let (at, tick) = (y.place(tick), text::tick(tick));
        let _ = writeln!(out, "<path class=\"rule\" d=\"M{left:.1} {at:.1}H{right:.1}\"/>");
        let _ = writeln!(
            out,
            "<text class=\"tick end\" x=\"{:.1}\" y=\"{:.1}\">{tick}</text>",
            left - 6.0,
            at + 4.0
        );
    }
    let mut free = f64::MIN;
    for &tick in &x.ticks {
        let (at, tick) = (x.place(tick), text::tick(tick));
        let half = FONT * text::width(&tick) / 2.0;
        let _ = writeln!(out, "<path class=\"stem\" d=\"M{at:.1} {BOTTOM}v4\"/>");
        if at - half < free {
            continue;
        }
        free = at + half + 6.0;
        let at = at.clamp(half, WIDTH - half);
        let _ = writeln!(
            out,
            "<text class=\"tick mid\" x=\"{at:.1}\" y=\"{}\">{tick}</text>",
            BOTTOM + 18.0
        );
    }
    let _ = writeln!(out, "<path class=\"base\" d=\"M{left:.1} {BOTTOM}H{right:.1}\"/>");
    let heading = text::escape(&text::cut(&chart.x.heading(), (WIDTH - 8.0) / FONT));
    let middle = (left + right) / 2.0;
    let _ = writeln!(
        out,
        "<text class=\"axis mid\" x=\"{middle:.1}\" y=\"{}\">{heading}</text>",
        HEIGHT - 8.0
    );
}

fn write_level(out: &mut String, chart: &Chart, y: &Placed, (left, right): (f64, f64)) {
    let Some(level) = &chart.level else { return };
    if !chart.y.takes(level.value) {
        return;
    }
    let name = text::cut(&level.name, (right - left) / FONT);
    if y.has(level.value) {
        let at = y.place(level.value);
        let _ = writeln!(out, "<path class=\"level\" d=\"M{left:.1} {at:.1}H{right:.1}\"/>");
        let name = text::escape(&name);
        let _ = writeln!(
            out,
            "<text class=\"level end\" x=\"{right:.1}\" y=\"{:.1}\">{name}</text>",
            at - 5.0
        );
    } else {
        // It lies beyond what is drawn: an arrow says on which side.
        let (arrow, at) = match y.place(level.value) <= TOP + 1.0 {
            true => ('↑', TOP - 6.0),
            false => ('↓', BOTTOM - 6.0),
        };
        let name = text::escape(&format!("{name} {arrow}"));
        let _ =
            writeln!(out, "<text class=\"level end\" x=\"{right:.1}\" y=\"{at:.1}\">{name}</text>");
    }
}

fn write_series(out: &mut String, chart: &Chart, series: &Series, (x, y): (&Placed, &Placed)) {
    out.push_str(&chart.open(series));
    let takes = |point: &(f64, f64)| {
        chart.x.takes(point.0) && chart.y.takes(point.1) && x.has(point.0) && y.has(point.1)
    };
    let has_lines = chart.marks == Marks::Lines || series.look.is_strong();
    let runs = series.points.split(|point| !takes(point)).filter(|run| run.len() > 1);
    for run in runs.filter(|_| has_lines) {
        let places =
            run.iter().map(|point| format!("{:.1},{:.1}", x.place(point.0), y.place(point.1)));
        let places: Vec<String> = places.collect();
        let _ = writeln!(out, "<polyline class=\"line\" points=\"{}\"/>", places.join(" "));
    }
    for point in series.points.iter().copied().filter(takes) {
        let place = (x.place(point.0), y.place(point.1));
        let (attributes, title) = chart.says(series, (&chart.x.told(point.0), point.1), place);
        let _ = writeln!(
            out,
            "<path class=\"mark\" transform=\"translate({:.1} {:.1})\" d=\"{}\" {attributes}>{title}</path>",
            place.0,
            place.1,
            series.look.marker()
        );
    }
    out.push_str("</g>\n");
}

/// Names of thick lines at their last points, one below the other.
fn write_ends(out: &mut String, chart: &Chart, (x, y): (&Placed, &Placed)) {
    let strong = chart.series.iter().filter(|series| series.look.is_strong() && series.shown);
    let mut ends: Vec<_> = strong
        .filter_map(|series| {
            let last = usable(chart, series).max_by(|a, b| a.0.total_cmp(&b.0))?;
            Some((y.place(last.1), x.place(last.0), series))
        })
        .collect();
    ends.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut free = TOP;
    for (at, right, series) in ends {
        let at = at.max(free).min(BOTTOM - 2.0);
        free = at + FONT + 1.0;
        let (name, classes) = (text::cut(&series.name, 8.0), series.look.classes());
        let _ = writeln!(
            out,
            "<text class=\"name series {classes}\" data-name=\"{}\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            text::escape(&series.name),
            right + 8.0,
            at + 4.0,
            text::escape(&name)
        );
    }
}
