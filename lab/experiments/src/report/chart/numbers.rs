//! The numbers of a chart as a table, for who cannot see it or wants to know exactly.

use super::super::table::{Cell, Table};
use super::super::text;
use super::{Chart, Marks, Name, Series};

pub(super) fn table(chart: &Chart) -> Table {
    match &chart.marks {
        Marks::Lines if chart.x.at_values => by_series(chart),
        Marks::Lines | Marks::Points => points(chart),
        Marks::Bars(names) => by_name(chart, names),
    }
}

/// A line per series, a column per x.
fn by_series(chart: &Chart) -> Table {
    let mut xs: Vec<f64> =
        chart.series.iter().flat_map(|series| &series.points).map(|point| point.0).collect();
    xs.retain(|x| x.is_finite());
    xs.sort_by(f64::total_cmp);
    xs.dedup();
    let mut table = Table::numbers(&chart.y.heading());
    table.head.push(chart.x.heading());
    table.head.extend(xs.iter().map(|&x| text::tick(x)));
    for series in &chart.series {
        let mut row = vec![Cell::new(&series.name)];
        row.extend(xs.iter().map(|&x| value(series, x)));
        table.rows.push(row);
    }
    table
}

/// A line per name, a column per series.
fn by_name(chart: &Chart, names: &[Name]) -> Table {
    let mut table = Table::numbers(&chart.y.heading());
    table.head.push(chart.x.heading());
    table.head.extend(chart.series.iter().map(|series| series.name.clone()));
    for (index, name) in names.iter().enumerate() {
        let mut row = vec![Cell::new(&name.name)];
        row.extend(chart.series.iter().map(|series| value(series, index as f64)));
        table.rows.push(row);
    }
    table
}

/// A line per point.
fn points(chart: &Chart) -> Table {
    let mut table = Table::numbers("");
    table.head = vec![String::new(), chart.x.heading(), chart.y.heading()];
    for series in &chart.series {
        for point in &series.points {
            let cells = [Cell::new(&series.name), number(point.0), number(point.1)];
            table.rows.push(cells.to_vec());
        }
    }
    table
}

fn value(series: &Series, x: f64) -> Cell {
    let point = series.points.iter().find(|point| point.0 == x);
    point.map_or(Cell::new(""), |point| number(point.1))
}

fn number(value: f64) -> Cell {
    Cell::new(&text::number(value))
}
