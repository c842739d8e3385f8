//! The forms in which a command prints what it read: a table, JSON, or comma-separated values.

use std::io::{self, IsTerminal};

use serde_json::Value as Json;
use unicode_width::UnicodeWidthStr;

use super::fit::{self, cut, fit};
use crate::cli::console::print;
use crate::config::{self, Output};
use crate::entity::Timestamp;
use crate::entity::text::{is_formula, one_line};

/// A column: its title, and where its value is in a node, as a JSON pointer.
pub(in crate::cli) type Column = (&'static str, &'static str);

/// The space between two columns.
const GAP: &str = "  ";

/// Prints the rows of a list.
pub(in crate::cli) fn print_rows(output: Output, columns: &[Column], nodes: &[Json]) -> Result<(), String> {
    match output {
        Output::Json => print(&format!("{:#}\n", Json::Array(nodes.to_vec()))),
        Output::Csv => print(&comma_separated(columns, nodes)?),
        Output::Table => {
            let width = if io::stdout().is_terminal() { fit::terminal() } else { None };
            print(&table(columns, nodes, width, has_styles()))
        }
    }
}

/// Whether the output is shown with styles: a terminal shows it, and nobody asked for none (<https://no-color.org>).
pub(super) fn has_styles() -> bool {
    io::stdout().is_terminal() && !config::wants_no_styles()
}

/// The text, in bold if there are styles.
pub(super) fn bold(text: &str, has_styles: bool) -> String {
    if has_styles { format!("\x1b[1m{text}\x1b[0m") } else { text.to_owned() }
}

/// A value as a text: nothing for null, and the elements of a list with commas.
pub(super) fn text(value: Option<&Json>) -> String {
    match value {
        None | Some(Json::Null) => String::new(),
        Some(Json::String(text)) => text.clone(),
        Some(Json::Bool(value)) => if *value { "yes" } else { "no" }.to_owned(),
        Some(Json::Array(values)) => values.iter().map(|value| text(Some(value))).collect::<Vec<_>>().join(", "),
        Some(value) => value.to_string(),
    }
}

/// A value at a place of a node, for people. The API's names of times end in `At`.
pub(super) fn shown(place: &str, value: Option<&Json>) -> String {
    let text = text(value);
    if place.ends_with("At") { moment(&text) } else { text }
}

/// A time to the minute, as on the pages: `2026-11-27 22:40 UTC`. Any other text as it is.
pub(super) fn moment(text: &str) -> String {
    let exact = Timestamp::parse(text).map(|time| time.to_string());
    let minute = exact.ok().and_then(|exact| exact.get(..16).map(|start| start.replace('T', " ") + " UTC"));
    minute.unwrap_or_else(|| text.to_owned())
}

/// Whether the values of a column are copied into commands and addresses: an alias, an id, an email address, a URL.
fn is_copied((title, place): &Column) -> bool {
    ["alias", "email", "id", "url"].contains(title) || place.ends_with("Alias")
}

/// A line of titles and one for each node. What a terminal of so many columns has no room for is shortened.
fn table(columns: &[Column], nodes: &[Json], most: Option<usize>, has_styles: bool) -> String {
    let row = |node: &Json| -> Vec<String> {
        columns.iter().map(|(_, place)| one_line(&shown(place, node.pointer(place))).to_string()).collect()
    };
    let rows: Vec<Vec<String>> = nodes.iter().map(row).collect();
    let titles: Vec<String> = columns.iter().map(|(title, _)| title.to_uppercase()).collect();
    let width = |place: usize| {
        let cells = rows.iter().chain([&titles]).map(|row| row[place].width());
        cells.max().unwrap_or_default()
    };
    let mut widths: Vec<usize> = (0..columns.len()).map(width).collect();
    if let Some(most) = most {
        fit(&mut widths, |place| is_copied(&columns[place]), GAP.len(), most);
    }
    let line = |row: &[String]| -> String {
        let padded = row.iter().zip(&widths).map(|(cell, width)| {
            let cell = cut(cell, *width);
            let blanks = " ".repeat(width.saturating_sub(cell.width()));
            format!("{cell}{blanks}")
        });
        padded.collect::<Vec<_>>().join(GAP).trim_end().to_owned()
    };
    let mut lines = vec![bold(&line(&titles), has_styles)];
    lines.extend(rows.iter().map(|row| line(row)));
    lines.join("\n") + "\n"
}

/// A cell that a spreadsheet takes for a text.
fn guarded(cell: String) -> String {
    if is_formula(&cell) { format!("'{cell}") } else { cell }
}

fn comma_separated(columns: &[Column], nodes: &[Json]) -> Result<String, String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let failed = |error: csv::Error| format!("the list cannot be written as CSV: {error}");
    writer.write_record(columns.iter().map(|(title, _)| *title)).map_err(failed)?;
    for node in nodes {
        writer.write_record(columns.iter().map(|(_, value)| guarded(text(node.pointer(value))))).map_err(failed)?;
    }
    let bytes = writer.into_inner().map_err(|error| error.to_string())?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const COLUMNS: [Column; 2] = [("name", "/name"), ("owner", "/owner/name")];

    #[test]
    fn a_row_is_one_line_whatever_its_names_hold_and_columns_are_aligned() {
        let nodes =
            [json!({ "name": "a\n\u{1b}[31mb", "owner": null }), json!({ "name": "漢字", "owner": { "name": "x" } })];
        let shown = table(&COLUMNS, &nodes, None, false);
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(lines.len(), 3, "{shown}");
        assert!(!shown.contains('\u{1b}'), "{shown}");
        assert_eq!(lines[0].find("OWNER"), Some(lines[1].len() + GAP.len()), "{shown}");
        // Each of these letters takes two columns and three bytes.
        assert_eq!(lines[2].find('x'), lines[0].find("OWNER").map(|place| place + 2), "{shown}");
    }

    #[test]
    fn a_table_is_as_wide_as_the_terminal_and_its_columns_stay_aligned() {
        let nodes = [
            json!({ "name": "cart", "owner": { "name": "漢字漢字漢字漢字漢字" } }),
            json!({ "name": "ledger", "owner": { "name": "the team of payments" } }),
        ];
        let shown = table(&COLUMNS, &nodes, Some(16), false);
        assert_eq!(shown, "NAME    OWNER\ncart    漢字漢…\nledger  the tea…\n");
        for most in [None, Some(80), Some(28)] {
            assert!(table(&COLUMNS, &nodes, most, false).ends_with("\nledger  the team of payments\n"), "{most:?}");
        }
        let shown = table(&COLUMNS, &nodes, Some(27), true);
        assert!(shown.contains("the team of paymen…\n") && shown.starts_with("\u{1b}[1mNAME"), "{shown}");
    }

    #[test]
    fn a_time_has_no_seconds_in_a_table_and_is_exact_elsewhere() {
        const COLUMNS: [Column; 2] = [("deployed at", "/deployedAt"), ("number", "/deployNumber")];
        let exact = "2026-11-27T22:40:28.551459Z";
        let nodes = [json!({ "deployedAt": exact, "deployNumber": exact })];
        let shown = table(&COLUMNS, &nodes, None, false);
        assert!(shown.ends_with(&format!("\n2026-11-27 22:40 UTC  {exact}\n")), "{shown}");
        assert_eq!(comma_separated(&COLUMNS, &nodes), Ok(format!("deployed at,number\n{exact},{exact}\n")));
        for text in ["soon", "", "2026-11-27"] {
            assert_eq!(super::shown("/deployedAt", Some(&json!(text))), text);
        }
    }

    #[test]
    fn comma_separated_values_are_quoted() {
        let nodes = [json!({ "name": "a, \"b\"", "owner": { "name": "c\nd" } })];
        assert_eq!(comma_separated(&COLUMNS, &nodes), Ok("name,owner\n\"a, \"\"b\"\"\",\"c\nd\"\n".to_owned()));
    }

    #[test]
    fn no_cell_is_a_formula() {
        let nodes = [json!({ "name": "=1+1", "owner": { "name": "@SUM(A1)" } })];
        assert_eq!(comma_separated(&COLUMNS, &nodes), Ok("name,owner\n'=1+1,'@SUM(A1)\n".to_owned()));
    }

    #[test]
    fn a_value_is_shown_without_its_syntax() {
        for (value, expected) in [
            (json!(null), ""),
            (json!("a"), "a"),
            (json!(true), "yes"),
            (json!(false), "no"),
            (json!(7), "7"),
            (json!(["a", 1]), "a, 1"),
        ] {
            assert_eq!(text(Some(&value)), expected);
        }
    }
}
