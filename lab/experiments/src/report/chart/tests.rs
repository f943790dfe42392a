//! Drawings are well-formed and stay within their view box, whatever is drawn.

use proptest::prelude::*;
use roxmltree::{Document, Node};

use super::*;

fn lines(series: Vec<Series>) -> Chart {
    Chart {
        title: "title".to_owned(),
        caption: String::new(),
        x: Axis::linear("size", "octets"),
        y: Axis::linear("rate", "Mbit/s"),
        marks: Marks::Lines,
        series,
        level: None,
    }
}

fn series(points: &[(f64, f64)]) -> Series {
    Series { name: "a".to_owned(), look: Look::number(0), shown: true, points: points.to_vec() }
}

/// What is drawn, by tag and class.
fn count(chart: &Chart, tag: &str, class: &str) -> usize {
    let svg = chart.svg("id");
    let document = Document::parse(&svg).unwrap();
    let has = |node: &Node<'_, '_>| {
        let classes = node.attribute("class").unwrap_or_default();
        node.has_tag_name(("http://www.w3.org/2000/svg", tag))
            && classes.split(' ').any(|one| one == class)
    };
    document.descendants().filter(has).count()
}

#[test]
fn a_line_joins_its_points() {
    let chart = lines(vec![series(&[(1.0, 2.0), (2.0, 3.0), (3.0, 1.0)])]);
    assert_eq!(count(&chart, "path", "mark"), 3);
    assert_eq!(count(&chart, "polyline", "line"), 1);
    let said = "<title>a, 2.00 octets: 3.00 Mbit/s</title>";
    assert!(chart.svg("id").contains(said), "{}", chart.svg("id"));
}

#[test]
fn what_is_no_number_is_a_gap() {
    let points =
        [(1.0, 2.0), (2.0, 3.0), (3.0, f64::NAN), (4.0, 1.0), (5.0, f64::INFINITY), (6.0, 1.0)];
    let chart = lines(vec![series(&points)]);
    assert_eq!(count(&chart, "path", "mark"), 4);
    assert_eq!(count(&chart, "polyline", "line"), 1);
}

#[test]
fn one_point_is_a_mark_without_a_line() {
    let chart = lines(vec![series(&[(500.0, 9.8)])]);
    assert_eq!((count(&chart, "path", "mark"), count(&chart, "polyline", "line")), (1, 0));
}

#[test]
fn no_values_are_said() {
    for chart in [lines(vec![]), lines(vec![series(&[])]), lines(vec![series(&[(f64::NAN, 1.0)])])]
    {
        assert_eq!(count(&chart, "text", "none"), 1);
        let bars = Chart { marks: Marks::Bars(vec![]), ..chart };
        assert_eq!(count(&bars, "text", "none"), 1);
    }
}

#[test]
fn names_cannot_break_out() {
    let evil = "</svg><script>alert('1')</script>\" onload=\"x&amp;".to_owned();
    let mut chart =
        lines(vec![Series { name: evil.clone(), look: Look::ACCENT, ..series(&[(1.0, 1.0)]) }]);
    (chart.title, chart.caption, chart.x.label, chart.y.unit) =
        (evil.clone(), evil.clone(), evil.clone(), evil.clone());
    chart.level = Some(Level { name: evil.clone(), value: 1.0 });
    let svg = chart.svg(&evil);
    let document = Document::parse(&svg).unwrap();
    let tags: Vec<&str> = document.descendants().map(|node| node.tag_name().name()).collect();
    assert!(!tags.contains(&"script"), "{svg}");
    assert!(document.descendants().all(|node| node.attribute("onload").is_none()), "{svg}");
    assert_eq!(
        document.descendants().find(|node| node.tag_name().name() == "title").unwrap().text(),
        Some(&*evil)
    );
}

#[test]
fn bars_have_rows_and_values() {
    let name = |name: &str| Name { name: name.to_owned(), strong: name == "b" };
    let chart = Chart {
        marks: Marks::Bars(vec![name("a"), name("b"), name("c")]),
        ..lines(vec![series(&[(0.0, 1.5), (1.0, 3.0), (7.0, 9.0)])])
    };
    assert_eq!(count(&chart, "rect", "mark"), 2);
    assert_eq!(count(&chart, "text", "value"), 2);
    assert_eq!(count(&chart, "text", "row"), 3);
    assert_eq!(chart.numbers().rows.len(), 3);
    let log = Chart { y: Axis::log("memory", "KB"), ..chart };
    assert_eq!((count(&log, "rect", "mark"), count(&log, "path", "mark")), (0, 2));
}

#[test]
fn what_is_shown_first_sets_the_scale() {
    let hidden = Series { shown: false, ..series(&[(1.0, 9000.0), (2.0, 4.0)]) };
    let chart = lines(vec![series(&[(1.0, 3.0), (2.0, 5.0)]), hidden.clone()]);
    assert_eq!(count(&chart, "path", "mark"), 3);
    assert_eq!(chart.numbers().rows.len(), 4);
    assert_eq!(count(&lines(vec![hidden]), "path", "mark"), 2);
}

#[test]
fn a_level_far_away_is_an_arrow() {
    let level = |value| Some(Level { name: "link".to_owned(), value });
    let chart = Chart { level: level(12.0), ..lines(vec![series(&[(1.0, 8.0), (2.0, 10.0)])]) };
    assert_eq!(count(&chart, "path", "level"), 1);
    let chart = Chart { level: level(1000.0), ..chart };
    assert_eq!(count(&chart, "path", "level"), 0);
    assert!(chart.svg("id").contains("link ↑"));
}

#[test]
fn numbers_of_chosen_values_are_a_matrix() {
    let mut chart = lines(vec![series(&[(500.0, 9.0), (700.0, 10.0)]), series(&[(700.0, 11.0)])]);
    assert_eq!(chart.numbers().rows.len(), 3);
    chart.x = chart.x.at_values();
    let numbers = chart.numbers();
    assert_eq!(numbers.head, ["size, octets", "500", "700"]);
    let texts: Vec<Vec<&str>> =
        numbers.rows.iter().map(|row| row.iter().map(|cell| &*cell.text).collect()).collect();
    assert_eq!(texts, [["a", "9.00", "10.0"], ["a", "", "11.0"]]);
}

fn any_value() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>(),
        -10.0..1000.0,
        Just(0.0),
        Just(f64::NAN),
        (-20i32..20).prop_map(|e| 10f64.powi(e))
    ]
}

fn any_axis() -> impl Strategy<Value = Axis> {
    (".{0,40}", "[a-z/<]{0,6}", any::<bool>(), any::<bool>()).prop_map(
        |(label, unit, log, at_values)| {
            let axis = if log { Axis::log(&label, &unit) } else { Axis::linear(&label, &unit) };
            if at_values { axis.at_values() } else { axis }
        },
    )
}

fn any_series() -> impl Strategy<Value = Series> {
    let points = prop::collection::vec((prop_oneof![any_value(), 0.0..6.0], any_value()), 0..8);
    (".{0,30}", 0usize..24, any::<bool>(), points).prop_map(|(name, look, shown, points)| {
        let look = match look {
            22 => Look::ACCENT,
            23 => Look::REFERENCE,
            number => Look::number(number),
        };
        Series { name, look, shown, points }
    })
}

fn any_chart() -> impl Strategy<Value = Chart> {
    let names = prop::collection::vec((".{0,60}", any::<bool>()), 0..7);
    let names = names
        .prop_map(|names| names.into_iter().map(|(name, strong)| Name { name, strong }).collect());
    let marks = prop_oneof![Just(Marks::Lines), Just(Marks::Points), names.prop_map(Marks::Bars)];
    let level =
        prop::option::of((".{0,60}", any_value()).prop_map(|(name, value)| Level { name, value }));
    let all = prop::collection::vec(any_series(), 0..5);
    (".{0,30}", ".{0,30}", any_axis(), any_axis(), marks, all, level).prop_map(
        |(title, caption, x, y, marks, series, level)| Chart {
            title,
            caption,
            x,
            y,
            marks,
            series,
            level,
        },
    )
}

/// All numbers in an attribute.
fn numbers(text: &str) -> Vec<f64> {
    assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
    let digits = |letter: char| letter.is_ascii_digit() || matches!(letter, '.' | '-');
    text.split(|letter| !digits(letter))
        .filter(|part| !part.is_empty())
        .map(|part| part.parse().unwrap())
        .collect()
}

/// Where a node is: corners, ends, middles.
fn places(node: &Node<'_, '_>) -> Vec<(f64, f64)> {
    let of = |name: &str| node.attribute(name).map(numbers);
    let one = |name: &str| of(name).map_or(0.0, |numbers| numbers[0]);
    match node.tag_name().name() {
        "text" => vec![(one("x"), one("y"))],
        "rect" => vec![(one("x"), one("y")), (one("x") + one("width"), one("y") + one("height"))],
        "polyline" => of("points").unwrap().chunks(2).map(|pair| (pair[0], pair[1])).collect(),
        "path" => match (of("transform"), node.attribute("d").unwrap()) {
            (Some(at), _) => vec![(at[0] - 4.0, at[1] - 4.0), (at[0] + 4.0, at[1] + 4.0)],
            (None, line) => {
                let at = numbers(line);
                let end = match line {
                    _ if line.contains('H') => (at[2], at[1]),
                    _ if line.contains('V') => (at[0], at[2]),
                    _ => (at[0], at[1] + at[2]),
                };
                vec![(at[0], at[1]), end]
            }
        },
        _ => Vec::new(),
    }
}

proptest! {
    #[test]
    fn drawings_are_well_formed_and_within_their_view_box(chart in any_chart()) {
        let svg = chart.svg("id");
        let document = Document::parse(&svg).unwrap();
        let root = document.root_element();
        let view = numbers(root.attribute("viewBox").unwrap());
        for node in root.descendants().filter(Node::is_element) {
            for (x, y) in places(&node) {
                prop_assert!((0.0..=view[2]).contains(&x), "x {x} of {node:?}");
                prop_assert!((0.0..=view[3]).contains(&y), "y {y} of {node:?}");
            }
        }
        prop_assert_eq!(svg, chart.svg("id"));
        let _ = chart.numbers().html();
    }
}
