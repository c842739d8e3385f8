//! Lists as CSV (RFC 4180), to be saved as a file.

use super::answer::Answer;

/// The maximum number of rows of a file. A longer list is cut, and its last row says so.
pub const ROWS: usize = 100_000;
/// The maximum size of a file, in bytes.
pub const BYTES: usize = 32 * 1024 * 1024;

/// A file that is being written.
pub struct Csv {
    text: String,
    rows: usize,
}

impl Csv {
    /// Begins a file with the names of its columns.
    pub fn new(columns: &[&str]) -> Self {
        let mut csv = Self { text: String::new(), rows: 0 };
        csv.write(columns.iter().copied());
        csv
    }

    /// Adds a row. Returns whether there is room for another.
    pub fn row<'t>(&mut self, cells: impl IntoIterator<Item = &'t str>) -> bool {
        self.write(cells.into_iter());
        self.rows += 1;
        self.has_room()
    }

    /// Whether there is room for another row.
    pub fn has_room(&self) -> bool {
        self.rows < ROWS && self.text.len() < BYTES
    }

    /// The file. `is_whole` is false if the list has more rows.
    pub fn file(mut self, name: &'static str, is_whole: bool) -> Answer {
        if !is_whole {
            let note = format!("The list has more rows. The file ends after {} of them.", self.rows);
            self.write([&*note].into_iter());
        }
        Answer::File { name, text: self.text }
    }

    fn write<'t>(&mut self, cells: impl Iterator<Item = &'t str>) {
        for (at, cell) in cells.enumerate() {
            if at > 0 {
                self.text.push(',');
            }
            self.cell(cell);
        }
        self.text.push_str("\r\n");
    }

    fn cell(&mut self, cell: &str) {
        // Spreadsheets would run a text that begins like a formula.
        let is_formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r']);
        if !is_formula && !cell.contains(['"', ',', '\n', '\r']) {
            self.text.push_str(cell);
            return;
        }
        self.text.push('"');
        if is_formula {
            self.text.push('\'');
        }
        self.text.push_str(&cell.replace('"', "\"\""));
        self.text.push('"');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_and_formulas_are_texts() {
        let mut csv = Csv::new(&["name", "note"]);
        csv.row(["a,b", "say \"x\""]);
        csv.row(["=1+1", "two\nlines"]);
        let Answer::File { text, .. } = csv.file("x.csv", false) else { panic!("a file") };
        let expected = "name,note\r\n\"a,b\",\"say \"\"x\"\"\"\r\n\"'=1+1\",\"two\nlines\"\r\n\
                        The list has more rows. The file ends after 2 of them.\r\n";
        assert_eq!(text, expected);
    }
}
