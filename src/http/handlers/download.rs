//! A file while it is sent. Its end is a line of the log, however it comes: the request's own line is written at its begin.

use tracing::{error, info};

use crate::app::{Fault, File};
use crate::http::limits::Key;
use crate::log;
use crate::shares::Hold;

/// A file that is sent in chunks.
pub struct Download {
    file: File,
    /// Its reader's share of all downloads, until it ends.
    _hold: Hold<Key>,
    /// The id of the request.
    request: String,
    /// What the connection has taken.
    taken: Size,
    /// What has been made, of which it has not taken the last chunk.
    made: Size,
    end: End,
}

#[derive(Debug, Clone, Copy, Default)]
struct Size {
    rows: usize,
    bytes: usize,
}

/// How it has ended.
#[derive(Debug)]
enum End {
    /// It has not: the connection is over, or the reader has cancelled.
    Left,
    /// The last chunk was taken.
    Sent,
    /// The server could not go on.
    Cut(String),
    /// Nobody wanted more than its head.
    Unasked,
}

impl Download {
    /// Begins a file. `is_wanted` means that more is asked for than its head.
    pub fn begin(file: File, hold: Hold<Key>, request: String, is_wanted: bool) -> Self {
        let end = if is_wanted { End::Left } else { End::Unasked };
        Self { file, _hold: hold, request, taken: Size::default(), made: Size::default(), end }
    }

    /// Notes that the connection asks for a chunk: it has taken the one before.
    pub fn asked(&mut self) {
        self.taken = self.made;
    }

    /// The next chunk. `None` after the last one.
    pub async fn next(&mut self) -> Option<Result<String, Fault>> {
        let next = self.file.next().await;
        match &next {
            Some(Ok(chunk)) => {
                self.made = Size { rows: self.file.rows(), bytes: self.made.bytes + chunk.len() };
            }
            Some(Err(_)) => {}
            None => self.end = End::Sent,
        }
        next
    }

    /// Notes why the server cannot go on.
    pub fn cut(&mut self, cause: &str) {
        self.end = End::Cut(cause.to_owned());
    }

    /// The last row of a file that cannot go on.
    pub fn broken_off(&mut self) -> String {
        self.file.broken_off()
    }
}

impl Drop for Download {
    fn drop(&mut self) {
        let (Size { rows, bytes }, file) = (self.taken, self.file.name);
        log::of_request(self.request.clone(), || match &self.end {
            End::Sent if self.file.is_whole() => info!(file, rows, bytes, "a file was sent"),
            End::Sent => info!(file, rows, bytes, "a file was sent that has not all of its list"),
            End::Left => info!(file, rows, bytes, "a file was not sent to its end: its reader has left"),
            End::Cut(cause) => error!(file, rows, bytes, cause, "a file was cut off"),
            End::Unasked => {}
        });
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write};
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::app::csv::{Row, Source};
    use crate::http::handlers::app::downloads;

    /// Some portions of one row each, and what comes after them.
    struct Given(usize, Option<Fault>);

    impl Source for Given {
        async fn next(&mut self) -> Result<(Vec<Row>, bool), Fault> {
            match (self.0.checked_sub(1), self.1.take()) {
                (Some(left), after) => {
                    (self.0, self.1) = (left, after);
                    Ok((vec![vec!["a".to_owned()]], left > 0 || self.1.is_some()))
                }
                (None, Some(fault)) => Err(fault),
                (None, None) => Ok((Vec::new(), false)),
            }
        }
    }

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl Write for Lines {
        fn write(&mut self, text: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("whole").write(text)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// What is logged of a file of which a reader takes so many chunks, or all.
    async fn logged(given: Given, most: usize, is_wanted: bool) -> String {
        let lines = Lines::default();
        let kept = lines.clone();
        let subscriber =
            tracing_subscriber::fmt().with_writer(move || kept.clone()).without_time().with_ansi(false).finish();
        let _logs = tracing::subscriber::set_default(subscriber);
        let Ok(file) = File::begin("x.csv", &["name"], given).await else { panic!("a file") };
        let hold = downloads().take_now(Key::Session(1), 1).expect("a place");
        let mut download = Download::begin(file, hold, "request-7".to_owned(), is_wanted);
        for _ in 0..most {
            download.asked();
            match download.next().await {
                Some(Ok(_)) => {}
                Some(Err(fault)) => {
                    download.cut(&format!("{fault:?}"));
                    break;
                }
                None => break,
            }
        }
        drop(download);
        let text = lines.0.lock().expect("whole").clone();
        String::from_utf8(text).expect("text")
    }

    #[tokio::test]
    async fn the_end_of_a_file_is_logged_with_what_was_taken() {
        // The head has 6 bytes, and each row 3.
        let whole = logged(Given(3, None), 10, true).await;
        assert!(whole.contains("a file was sent file=\"x.csv\" rows=3 bytes=15"), "{whole}");
        // Of three chunks the reader has taken two when it asks for the third.
        let left = logged(Given(9, None), 3, true).await;
        let said = "a file was not sent to its end: its reader has left file=\"x.csv\" rows=2 bytes=12";
        assert!(left.contains(said) && left.lines().count() == 1, "{left}");
        let cut = logged(Given(2, Some(Fault::Internal("broken".to_owned()))), 10, true).await;
        assert!(cut.contains("ERROR") && cut.contains("a file was cut off file=\"x.csv\" rows=2 bytes=12"), "{cut}");
        assert!(cut.contains("broken"), "{cut}");
        let short = logged(Given(2, Some(Fault::Busy("Too many."))), 10, true).await;
        assert!(short.contains("a file was sent that has not all of its list file=\"x.csv\" rows=2"), "{short}");
        assert_eq!(logged(Given(2, None), 0, false).await, "", "nobody wanted more than the head");
    }
}
