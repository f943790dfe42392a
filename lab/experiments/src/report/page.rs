//! One HTML file with everything in it: style, script, drawings.

use super::chart::{Chart, Series};
use super::table::{Table, Tone};
use super::text;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// A page of sections.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Page {
    pub(super) title: String,
    /// A sentence below it.
    pub(super) lead: String,
    /// Sentences that must not be missed.
    pub(super) warnings: Vec<String>,
    pub(super) sections: Vec<Section>,
}

/// What one experiment shows.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Section {
    /// A word, for its address and the way there.
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) blocks: Vec<Block>,
}

/// A part of a section.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Block {
    Heading(String),
    Text(String),
    /// Sentences that must not be missed.
    Warning(String),
    Tiles(Vec<Tile>),
    Table(Table),
    /// Charts with the same series, which share a legend.
    Charts(Vec<Chart>),
    /// One of several panels at a time. `what` they are by.
    Choice {
        what: &'static str,
        panels: Vec<(String, Vec<Block>)>,
    },
}

/// A figure that sums things up.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tile {
    pub(super) what: String,
    pub(super) figure: String,
    pub(super) note: String,
    pub(super) tone: Tone,
}

impl Page {
    pub(super) fn html(&self) -> String {
        let mut writer = Writer::default();
        let out = &mut writer.out;
        out.push_str("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
        out.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
        out.push_str("<meta name=\"color-scheme\" content=\"light dark\">\n");
        let title = text::escape(&self.title);
        out.push_str(&format!(
            "<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n"
        ));
        out.push_str(&format!("<header>\n<h1>{title}</h1>\n<p>{}</p>\n", text::escape(&self.lead)));
        for warning in &self.warnings {
            out.push_str(&format!("<p class=\"warning\">{}</p>\n", text::escape(warning)));
        }
        if self.sections.len() > 1 {
            out.push_str("<nav aria-label=\"Experiments\">\n");
            for section in &self.sections {
                out.push_str(&format!("<a href=\"#{0}\">{0}</a>\n", section.name));
            }
            out.push_str("</nav>\n");
        }
        out.push_str("</header>\n<main>\n");
        for section in &self.sections {
            writer.section(section);
        }
        let mut out = writer.out;
        out.push_str("</main>\n<div id=\"tip\" hidden></div>\n");
        out.push_str(&format!("<script>\n{SCRIPT}</script>\n</body>\n</html>\n"));
        out
    }
}

/// Writes blocks; numbers what must have a name of its own.
#[derive(Default)]
struct Writer {
    out: String,
    charts: usize,
}

impl Writer {
    fn section(&mut self, section: &Section) {
        let title = text::escape(section.title);
        self.out.push_str(&format!(
            "<section id=\"{0}\">\n<h2><span>{0}</span> {title}</h2>\n",
            section.name
        ));
        self.blocks(&section.blocks);
        self.out.push_str("</section>\n");
    }

    fn blocks(&mut self, blocks: &[Block]) {
        for block in blocks {
            self.block(block);
        }
    }

    fn block(&mut self, block: &Block) {
        match block {
            Block::Heading(words) => {
                self.out.push_str(&format!("<h3>{}</h3>\n", text::escape(words)));
            }
            Block::Text(words) => self.out.push_str(&format!("<p>{}</p>\n", text::escape(words))),
            Block::Warning(words) => {
                self.out.push_str(&format!("<p class=\"warning\">{}</p>\n", text::escape(words)));
            }
            Block::Tiles(tiles) => self.tiles(tiles),
            Block::Table(table) => self.out.push_str(&table.html()),
            Block::Charts(charts) => self.charts(charts),
            Block::Choice { what, panels } => self.choice(what, panels),
        }
    }

    fn tiles(&mut self, tiles: &[Tile]) {
        self.out.push_str("<div class=\"tiles\">\n");
        for tile in tiles {
            self.out.push_str(&format!(
                "<div class=\"tile {}\"><h4>{}</h4><strong>{}</strong><p>{}</p></div>\n",
                tile.tone.class(),
                text::escape(&tile.what),
                text::escape(&tile.figure),
                text::escape(&tile.note)
            ));
        }
        self.out.push_str("</div>\n");
    }

    fn charts(&mut self, charts: &[Chart]) {
        self.out.push_str("<div class=\"charts\">\n");
        self.legend(charts);
        self.out.push_str("<div class=\"grid\">\n");
        for chart in charts {
            self.charts += 1;
            let id = format!("chart{}", self.charts);
            let caption = match chart.caption.as_str() {
                "" => String::new(),
                words => format!("<p>{}</p>", text::escape(words)),
            };
            self.out.push_str(&format!(
                "<figure>\n<figcaption><h4>{}</h4>{caption}</figcaption>\n{}<details>\n<summary>Numbers</summary>\n{}\
                 </details>\n</figure>\n",
                text::escape(&chart.title),
                chart.svg(&id),
                chart.numbers().html()
            ));
        }
        self.out.push_str("</div>\n</div>\n");
    }

    /// Of all series that any of the charts has, if there are several.
    fn legend(&mut self, charts: &[Chart]) {
        let mut series: Vec<(&Series, &Chart)> = Vec::new();
        for chart in charts {
            for one in &chart.series {
                if series.iter().all(|(known, _)| known.name != one.name) {
                    series.push((one, chart));
                }
            }
        }
        if series.len() < 2 {
            return;
        }
        self.out.push_str("<div class=\"legend\" role=\"group\" aria-label=\"Shown\">\n");
        for (one, chart) in series {
            let name = text::escape(&one.name);
            self.out.push_str(&format!(
                "<button type=\"button\" aria-pressed=\"{}\" data-name=\"{name}\">{}{name}</button>\n",
                one.shown,
                one.key(&chart.marks)
            ));
        }
        self.out.push_str("</div>\n");
    }

    fn choice(&mut self, what: &str, panels: &[(String, Vec<Block>)]) {
        let what = text::escape(what);
        self.out.push_str("<div class=\"choice\">\n");
        if panels.len() > 1 {
            self.out.push_str(&format!("<label class=\"chooser\" hidden>{what} <select>\n"));
            for (at, (name, _)) in panels.iter().enumerate() {
                self.out
                    .push_str(&format!("<option value=\"{at}\">{}</option>\n", text::escape(name)));
            }
            self.out.push_str("</select></label>\n");
        }
        for (name, blocks) in panels {
            let name = text::escape(name);
            self.out.push_str(&format!("<div class=\"panel\">\n<h3>{name}</h3>\n"));
            self.blocks(blocks);
            self.out.push_str("</div>\n");
        }
        self.out.push_str("</div>\n");
    }
}
