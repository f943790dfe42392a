//! Saved rows of experiments as one page with plots, which needs nothing beside itself.
//!
//! The folder `report/page` has the page: `page.html` and `page.css`, scripts that make sections,
//! tables and data of plots from the rows, and in `specs` a Vega-Lite specification for each kind
//! of plot.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use rust_embed::Embed;
use serde_json::{Map, Value, json};

use crate::Result;

/// The largest file of rows, in bytes.
const LARGEST: u64 = 256 << 20;
/// The scripts of the page in the order in which they are joined, each after those that it imports.
const SCRIPTS: [&str; 14] = [
    "rows.js",
    "verdicts.js",
    "papers.js",
    "lossless.js",
    "gmc.js",
    "afec.js",
    "web.js",
    "ace.js",
    "fanout.js",
    "cluster.js",
    "fairness.js",
    "contract.js",
    "voice.js",
    "page.js",
];
/// The directories into which npm installs the libraries that draw, and their scripts.
const LIBRARIES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/report/node_modules");
const LIBRARY_SCRIPTS: [&str; 3] = [
    "vega/build/vega.min.js",
    "vega-lite/build/vega-lite.min.js",
    "vega-embed/build/vega-embed.min.js",
];

#[derive(Embed)]
#[folder = "report/page"]
struct Page;

/// The options of `groupwire-lab report`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The directory of saved rows: *.json and *.jsonl, as experiments print them with --json.
    #[arg(long, value_name = "DIRECTORY")]
    from: PathBuf,

    /// The directory to write report.html to. Default: the directory of the rows.
    #[arg(long, value_name = "DIRECTORY")]
    out: Option<PathBuf>,

    /// A registry of published tables and figures (lab/evidence/registry.json): the page, which is
    /// then index.html, begins with these beside the rows.
    #[arg(long, value_name = "FILE")]
    registry: Option<PathBuf>,
}

/// Writes the page.
///
/// # Errors
/// Rows or the libraries cannot be read, or the page cannot be written.
pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    let registry = options.registry.as_deref().map(read_registry).transpose()?.unwrap_or_default();
    let saved = Saved::read(&options.from, answering(&registry))?;
    saved.warnings.iter().for_each(|line| eprintln!("groupwire-lab: {line}"));
    let libraries = LIBRARY_SCRIPTS.map(|name| {
        fs::read_to_string(Path::new(LIBRARIES).join(name)).map_err(|error| {
            format!("{name}: {error}; `npm ci --prefix lab/experiments/report` installs it")
        })
    });
    let libraries = libraries.into_iter().collect::<std::result::Result<Vec<_>, _>>()?;
    let out = options.out.as_ref().unwrap_or(&options.from);
    let path = out.join(if registry.is_object() { "index.html" } else { "report.html" });
    let page = page(&saved, &registry, &libraries);
    let write = fs::create_dir_all(out).and_then(|()| fs::write(&path, page));
    write.map_err(|error| format!("{}: {error}", path.display()))?;
    println!("{}", path.display());
    Ok(ExitCode::SUCCESS)
}

/// The registry of published tables and figures, which the page's scripts understand.
fn read_registry(path: &Path) -> Result<Value> {
    let failed = |why: &dyn std::fmt::Display| format!("{}: {why}", path.display());
    let text = fs::read_to_string(path).map_err(|error| failed(&error))?;
    let registry: Value = serde_json::from_str(&text).map_err(|error| failed(&error))?;
    if !registry["entries"].is_array() {
        return Err(failed(&"no registry of tables and figures: it has no `entries`").into());
    }
    Ok(registry)
}

/// The experiments whose rows answer entries of the registry, which need no script of their own.
fn answering(registry: &Value) -> BTreeSet<String> {
    let entries = registry["entries"].as_array().into_iter().flatten();
    let sources = entries.flat_map(|entry| ["rows", "curves"].map(|list| entry[list].as_array()));
    let sources = sources.flatten().flatten();
    sources.filter_map(|source| Some(source["experiment"].as_str()?.to_owned())).collect()
}

/// The whole page, with scripts, styles, rows, and the registry or null.
fn page(saved: &Saved, registry: &Value, libraries: &[String]) -> String {
    let specs = Page::iter().filter_map(|path| {
        let name = path.strip_prefix("specs/")?.strip_suffix(".json")?.to_owned();
        Some((name, serde_json::from_str(&file(&path)).expect("specifications are JSON")))
    });
    let specs: Map<String, Value> = specs.collect();
    let keys: Value = serde_json::from_str(crate::row::KEYS).expect("keys.json is JSON");
    let data = json!({
        "rows": saved.rows, "files": saved.files, "warnings": saved.warnings, "keys": keys, "specs": specs,
        "registry": registry,
    });
    // Rows may have any text, but none that ends the script element.
    let data = data.to_string().replace('<', "\\u003c");
    let libraries = libraries.iter().map(|script| format!("<script>{script}</script>\n"));
    let parts = [
        ("{{style}}", file("page.css")),
        ("{{script}}", SCRIPTS.map(module).concat()),
        ("{{libraries}}", libraries.collect()),
        ("{{data}}", data),
    ];
    let mut page = file("page.html");
    for (place, part) in parts {
        page = page.replacen(place, &part, 1);
    }
    page
}

/// A script as a part of the one script of the page, in which names need neither import nor export.
fn module(name: &str) -> String {
    let text = file(name);
    let lines = text.lines().filter(|line| !line.starts_with("import "));
    lines.map(|line| line.strip_prefix("export ").unwrap_or(line).to_owned() + "\n").collect()
}

fn file(name: &str) -> String {
    let file = Page::get(name).unwrap_or_else(|| panic!("{name} is built in"));
    String::from_utf8_lossy(&file.data).into_owned()
}

/// Rows that experiments printed with `--json`.
#[derive(Debug, Default)]
struct Saved {
    /// The rows of each experiment, in the order of the files' names and lines.
    rows: BTreeMap<String, Vec<Value>>,
    /// Names of the files that rows are from.
    files: Vec<String>,
    /// A sentence about each file with rows that the page does not show.
    warnings: Vec<String>,
    /// Experiments that the page shows without a script of their own.
    answering: BTreeSet<String>,
}

impl Saved {
    /// Reads all `*.json` and `*.jsonl` of a directory, a row per line.
    fn read(directory: &Path, answering: BTreeSet<String>) -> Result<Saved> {
        let failed =
            |path: &Path, why: &dyn std::fmt::Display| format!("{}: {why}", path.display());
        let mut paths = Vec::new();
        for entry in fs::read_dir(directory).map_err(|error| failed(directory, &error))? {
            let path = entry?.path();
            let is_rows = path.extension().is_some_and(|name| name == "json" || name == "jsonl");
            if is_rows && path.is_file() {
                paths.push(path);
            }
        }
        paths.sort();
        let mut saved = Saved { answering, ..Saved::default() };
        for path in paths {
            let length = fs::metadata(&path).map_err(|error| failed(&path, &error))?.len();
            if length > LARGEST {
                return Err(
                    failed(&path, &format!("over {LARGEST} bytes: are these saved rows?")).into()
                );
            }
            let text = fs::read_to_string(&path).map_err(|error| failed(&path, &error))?;
            saved.add(&path.file_name().unwrap_or_default().to_string_lossy(), &text)?;
        }
        if saved.rows.is_empty() && saved.warnings.is_empty() {
            let why =
                "no rows in *.json or *.jsonl; `groupwire-lab gmc --json > gmc.jsonl` saves some";
            return Err(failed(directory, &why).into());
        }
        Ok(saved)
    }

    /// Adds the rows of a file.
    fn add(&mut self, name: &str, text: &str) -> Result<()> {
        let (mut strange, mut count) = (Vec::new(), 0);
        for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let row: Map<String, Value> = serde_json::from_str(line).map_err(|error| {
                format!("{name}, line {}: no row as `groupwire-lab EXPERIMENT --json` prints it: {error}", at + 1)
            })?;
            count += 1;
            let experiment = row.get("experiment").and_then(Value::as_str);
            let experiment = experiment.filter(|&name| {
                Page::get(&format!("{name}.js")).is_some() || self.answering.contains(name)
            });
            match experiment.map(str::to_owned) {
                Some(experiment) => self.rows.entry(experiment).or_default().push(row.into()),
                None => strange.push(at + 1),
            }
        }
        if let Some(first) = strange.first() {
            self.warnings.push(format!(
                "{name}: {} of {count} rows are of no experiment that there are plots for (the first in line {first})",
                strange.len()
            ));
        }
        if count > strange.len() {
            self.files.push(name.to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn saved(text: &str) -> Result<Saved> {
        let mut saved = Saved::default();
        saved.add("rows.jsonl", text)?;
        Ok(saved)
    }

    #[test]
    fn rows_are_sorted_by_experiment_and_strange_ones_are_named() {
        let text =
            "{\"experiment\":\"gmc\",\"trace\":\"xml\"}\n\n{\"a\":1}\n{\"experiment\":\"moon\"}\n";
        let saved = saved(text).unwrap();
        assert_eq!((saved.rows.len(), saved.rows["gmc"].len()), (1, 1));
        assert!(saved.warnings[0].starts_with("rows.jsonl: 2 of 3 rows"), "{saved:?}");
        assert!(saved.warnings[0].ends_with("(the first in line 3)"), "{saved:?}");
    }

    #[test]
    fn what_is_no_json_is_named_by_its_line() {
        for (text, line) in [("{}\nhello\n", 2), ("[1]\n", 1), ("{}\n\n{\"a\":", 3)] {
            let error = saved(text).unwrap_err().to_string();
            assert!(error.starts_with(&format!("rows.jsonl, line {line}: ")), "{error}");
            assert!(error.contains("--json"), "{error}");
        }
    }

    #[test]
    fn rows_that_answer_an_entry_need_no_script() {
        let registry = json!({"entries": [{"rows": [{"experiment": "moon"}], "curves": [{"experiment": "tide"}]}]});
        let mut saved = Saved { answering: answering(&registry), ..Saved::default() };
        let text = "{\"experiment\":\"moon\"}\n{\"experiment\":\"tide\"}\n";
        saved.add("rows.jsonl", text).unwrap();
        assert_eq!(saved.rows.len(), 2);
        assert_eq!(saved.warnings, [""; 0]);
    }

    #[test]
    fn the_page_is_complete_and_rows_cannot_end_its_data() {
        let evil = r#"{"experiment":"gmc","trace":"</script><script>alert(1)</script>"}"#;
        let page = page(&saved(evil).unwrap(), &Value::Null, &["library()".to_owned()]);
        assert!(page.contains("alert(1)") && !page.contains("<script>alert"));
        assert!(page.contains("<script>library()</script>") && !page.contains("{{"), "{page}");
        // The joining removes imports of one line; any other import would be found here.
        assert!(!page.contains("from \"./") && !page.contains("\nexport "), "{page}");
    }

    #[test]
    fn scripts_that_are_joined_declare_no_name_twice() {
        let declared = |line: &str| {
            let line = line.strip_prefix("async ").unwrap_or(line);
            let (kind, rest) = line.split_once(' ')?;
            let is_name = |character: char| character.is_alphanumeric() || character == '_';
            let name: String = rest.chars().take_while(|character| is_name(*character)).collect();
            ["function", "const", "let", "class"].contains(&kind).then_some(name)
        };
        let mut names = std::collections::BTreeSet::new();
        for script in SCRIPTS {
            for name in module(script).lines().filter_map(declared) {
                assert!(names.insert(name.clone()), "{script} declares {name} once more");
            }
        }
        assert!(names.len() > 100, "{names:?}");
    }
}
