//! Figure 1 and the lines of section 4.2.

use super::super::chart::{Axis, Chart, Look, Marks, Series};
use super::super::page::Block;
use super::super::saved::Row;
use super::super::table::{Cell, Table};
use super::super::text;

pub(super) fn blocks(rows: &[&Row]) -> Vec<Block> {
    let fits: Vec<Row> = rows.iter().filter_map(|row| row.object("fit")).collect();
    if fits.is_empty() {
        return Vec::new();
    }
    let is_time = |fit: &&Row| fit.text("y").ends_with(" ms");
    let (times, ratios): (Vec<&Row>, Vec<&Row>) = fits.iter().partition(is_time);
    let mut table = Table::numbers("lines through blocks of the training files");
    table.head = ["from", "to", "intercept", "slope", "R²"].map(str::to_owned).to_vec();
    for fit in &fits {
        let mut cells = vec![Cell::new(fit.text("x")), Cell::new(fit.text("y"))];
        let number = |name: &str| Cell::new(&fit.number(name).map_or("–".to_owned(), text::number));
        cells.extend(["intercept", "slope", "r2"].map(number));
        table.rows.push(cells);
    }
    vec![
        Block::Heading("Ratio against ratio, and time against ratio (the paper's Figure 1)".to_owned()),
        Block::Text(
            "Each point is a block of 32 KiB. Ratios of two codecs are on a line, as in the paper; times of today's \
             codecs hardly follow ratios."
                .to_owned(),
        ),
        Block::Table(table),
        Block::Choice {
            what: "Against ratio",
            panels: vec![
                ("ratios".to_owned(), ratios.into_iter().map(|fit| Block::Charts(vec![chart(fit)])).collect()),
                ("times".to_owned(), times.into_iter().map(|fit| Block::Charts(vec![chart(fit)])).collect()),
            ],
        },
    ]
}

fn chart(fit: &Row) -> Chart {
    let points = fit.pairs("points");
    let at = |x: f64| {
        (
            x,
            fit.number("intercept").unwrap_or(f64::NAN)
                + x * fit.number("slope").unwrap_or(f64::NAN),
        )
    };
    let xs = points.iter().map(|point| point.0);
    let (least, most) = (xs.clone().fold(f64::MAX, f64::min), xs.fold(f64::MIN, f64::max));
    Chart {
        title: format!("{} by {}", fit.text("y"), fit.text("x")),
        caption: format!("R² {}", fit.number("r2").map_or("–".to_owned(), text::number)),
        x: Axis::linear(fit.text("x"), ""),
        y: Axis::linear(fit.text("y"), ""),
        marks: Marks::Points,
        series: vec![
            Series {
                name: "line".to_owned(),
                look: Look::REFERENCE,
                shown: true,
                points: if points.is_empty() { Vec::new() } else { vec![at(least), at(most)] },
            },
            Series { name: "blocks".to_owned(), look: Look::number(0), shown: true, points },
        ],
        level: None,
    }
}
