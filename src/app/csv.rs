//! Lists as CSV (RFC 4180), to be saved as a file.
//!
//! A list is read a portion at a time, each when the client has taken the one before: the file is never in memory. So a
//! change in the meantime may be in it or not. A list whose rows can move in its order drops those that it gave before.

use std::fmt;
use std::pin::Pin;
use std::time::Duration;

use futures_util::{Stream, StreamExt, stream};
use tokio::time::{Instant, timeout_at};

use super::Fault;
use catalogue::entity::text::is_formula;

/// The maximum number of rows of a file. A longer list is cut, and its last row says so.
pub const ROWS: usize = 100_000;
/// The maximum size of a file, in bytes.
pub const BYTES: usize = 256 * 1024 * 1024;
/// The longest time that a file may take, from its first row to its last.
pub const TIME: Duration = Duration::from_secs(600);

/// The cells of a row.
pub type Row = Vec<String>;

/// A list that is read a portion at a time.
pub trait Source: Send + 'static {
    /// The next rows, which may be none, and whether there is another portion.
    fn next(&mut self) -> impl Future<Output = Result<(Vec<Row>, bool), Fault>> + Send;
}

/// The portions of a list.
type Portions = Pin<Box<dyn Stream<Item = Result<Vec<Row>, Fault>> + Send>>;

/// A file that is being written.
pub struct File {
    /// Its name.
    pub name: &'static str,
    portions: Portions,
    /// What is written and not taken yet.
    text: String,
    rows: usize,
    bytes: usize,
    until: Instant,
    is_over: bool,
    /// Whether it has ended before its list.
    is_short: bool,
}

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("File").field("name", &self.name).field("rows", &self.rows).finish_non_exhaustive()
    }
}

impl File {
    /// Begins a file with the names of its columns and the first portion of the list.
    ///
    /// # Errors
    /// Why there is no first portion. A fault in a later one ends the file.
    pub async fn begin(name: &'static str, columns: &[&str], list: impl Source) -> Result<Self, Fault> {
        let portions = stream::unfold(Some(list), |list| async move {
            let mut list = list?;
            match list.next().await {
                Ok((rows, goes_on)) => Some((Ok(rows), goes_on.then_some(list))),
                Err(fault) => Some((Err(fault), None)),
            }
        });
        let mut file = Self {
            name,
            portions: Box::pin(portions),
            text: String::new(),
            rows: 0,
            bytes: 0,
            until: Instant::now() + TIME,
            is_over: false,
            is_short: false,
        };
        file.write(columns.iter().copied());
        file.read().await?;
        Ok(file)
    }

    /// The next part of the file. `None` after the last one.
    pub async fn next(&mut self) -> Option<Result<String, Fault>> {
        while self.text.is_empty() && !self.is_over {
            if let Err(fault) = self.read().await {
                self.is_over = true;
                return Some(Err(fault));
            }
        }
        let text = std::mem::take(&mut self.text);
        (!text.is_empty()).then_some(Ok(text))
    }

    /// The last row of a file that cannot go on, for clients that do not see that its body is cut off.
    pub fn broken_off(&mut self) -> String {
        self.text.clear();
        let note = format!("The file is not whole. The server could not go on after {} rows.", self.rows);
        self.write([&*note].into_iter());
        std::mem::take(&mut self.text)
    }

    /// The number of its rows so far, without the names of the columns.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Whether it has all of its list, once it is over.
    pub fn is_whole(&self) -> bool {
        self.is_over && !self.is_short
    }

    /// Writes the next portion of the list.
    async fn read(&mut self) -> Result<(), Fault> {
        let next = timeout_at(self.until, self.portions.next()).await;
        let portion = match next {
            Ok(Some(Ok(portion))) if Instant::now() < self.until => portion,
            Ok(None) => {
                self.is_over = true;
                return Ok(());
            }
            // Beside the rows that there are, the reason is of use.
            Ok(Some(Err(Fault::TooMuch(why)))) if self.rows > 0 => return self.end(&why),
            Ok(Some(Err(Fault::Busy(why)))) if self.rows > 0 => return self.end(why),
            Ok(Some(Err(fault))) => return Err(fault),
            Ok(Some(Ok(_))) | Err(_) => return self.end("It took too long."),
        };
        for row in portion {
            if self.rows >= ROWS || self.bytes >= BYTES {
                return self.end("");
            }
            self.write(row.iter().map(String::as_str));
            self.rows += 1;
        }
        Ok(())
    }

    /// Ends the file before the end of the list, with a row that says so.
    fn end(&mut self, why: &str) -> Result<(), Fault> {
        (self.is_over, self.is_short) = (true, true);
        let note = format!("The list has more rows. The file ends after {} of them. {why}", self.rows);
        self.write([note.trim_end()].into_iter());
        Ok(())
    }

    fn write<'t>(&mut self, cells: impl Iterator<Item = &'t str>) {
        let before = self.text.len();
        for (at, cell) in cells.enumerate() {
            if at > 0 {
                self.text.push(',');
            }
            self.cell(cell);
        }
        self.text.push_str("\r\n");
        self.bytes += self.text.len() - before;
    }

    fn cell(&mut self, cell: &str) {
        let is_formula = is_formula(cell);
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

    /// Portions of a list, and the fault after them.
    struct Given {
        portions: Vec<Vec<Row>>,
        fault: Option<Fault>,
    }

    impl Source for Given {
        async fn next(&mut self) -> Result<(Vec<Row>, bool), Fault> {
            if self.portions.is_empty()
                && let Some(fault) = self.fault.take()
            {
                return Err(fault);
            }
            let rows = if self.portions.is_empty() { Vec::new() } else { self.portions.remove(0) };
            Ok((rows, !self.portions.is_empty() || self.fault.is_some()))
        }
    }

    fn row(cells: [&str; 2]) -> Row {
        cells.map(str::to_owned).to_vec()
    }

    /// The parts of a file, and the fault that ends it.
    async fn parts(portions: Vec<Vec<Row>>, fault: Option<Fault>) -> (Vec<String>, Option<Fault>) {
        let begun = File::begin("x.csv", &["name", "note"], Given { portions, fault }).await;
        let Ok(mut file) = begun else { panic!("a file") };
        let mut parts = Vec::new();
        while let Some(part) = file.next().await {
            match part {
                Ok(part) => parts.push(part),
                Err(fault) => return (parts, Some(fault)),
            }
        }
        (parts, None)
    }

    #[tokio::test]
    async fn cells_are_quoted_and_formulas_are_texts_and_an_empty_portion_does_not_end_the_file() {
        let first = vec![row(["a,b", "say \"x\""])];
        let (parts, fault) = parts(vec![first, Vec::new(), vec![row(["=1+1", "two\nlines"])]], None).await;
        let expected = ["name,note\r\n\"a,b\",\"say \"\"x\"\"\"\r\n", "\"'=1+1\",\"two\nlines\"\r\n"];
        assert_eq!(parts, expected);
        assert!(fault.is_none());
    }

    #[tokio::test]
    async fn a_file_says_where_it_ends_before_its_list() {
        let many = vec![row(["a", "b"]); ROWS];
        let (whole, _) = parts(vec![many.clone()], None).await;
        assert_eq!(whole.concat().lines().count(), ROWS + 1, "as many as may be");
        let (cut, _) = parts(vec![many, vec![row(["a", "b"])]], None).await;
        let cut = cut.concat();
        let last = "The list has more rows. The file ends after 100000 of them.";
        assert_eq!((cut.lines().count(), cut.lines().last()), (ROWS + 2, Some(last)));
        let some = vec![vec![row(["a", "b"])]];
        let (busy, none) = parts(some.clone(), Some(Fault::Busy("Too many."))).await;
        let last = "The list has more rows. The file ends after 1 of them. Too many.";
        assert_eq!((busy.concat().lines().last(), none.is_none()), (Some(last), true));
        let (_, broken) = parts(some, Some(Fault::Internal("broken".to_owned()))).await;
        assert!(matches!(broken, Some(Fault::Internal(_))), "nobody may take it for whole");
    }

    #[tokio::test]
    async fn a_file_that_cannot_go_on_can_say_so() {
        let given = Given { portions: vec![vec![row(["a", "b"])]], fault: Some(Fault::Internal("broken".to_owned())) };
        let begun = File::begin("x.csv", &["name", "note"], given).await;
        let Ok(mut file) = begun else { panic!("a file") };
        assert!(matches!(file.next().await, Some(Ok(_))));
        assert!(matches!(file.next().await, Some(Err(Fault::Internal(_)))));
        assert_eq!(file.broken_off(), "The file is not whole. The server could not go on after 1 rows.\r\n");
    }

    #[tokio::test]
    async fn a_file_does_not_take_forever() {
        let portions = vec![vec![row(["a", "b"])]; 3];
        let begun = File::begin("x.csv", &["name", "note"], Given { portions, fault: None }).await;
        let Ok(mut file) = begun else { panic!("a file") };
        file.next().await.expect("the first part").expect("no fault");
        file.until = Instant::now();
        let last = file.next().await.expect("a last part").expect("no fault");
        assert_eq!(last, "The list has more rows. The file ends after 1 of them. It took too long.\r\n");
        assert!(file.next().await.is_none());
    }
}
