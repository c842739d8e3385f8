//! Fits a table into the width of a terminal: the widest texts are shortened first, and what is copied last.

use std::io;

use rustix::termios::tcgetwinsize;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::config;

/// What ends a cell that is shortened. It takes one column.
const CUT: char = '…';

/// The fewest columns of a text that is shortened before the first column is.
const SHORT: usize = 4;

/// The fewest columns of the first column, and of what is copied, while both can be read at all.
const READABLE: usize = 8;

/// The number of columns of the terminal that shows the output: what `COLUMNS` says, or else the terminal. `None` if it
/// says none.
pub(super) fn terminal() -> Option<usize> {
    let own = || tcgetwinsize(io::stdout()).ok().map(|size| usize::from(size.ws_col));
    config::columns().or_else(own).filter(|columns| *columns > 0)
}

/// Narrows columns until a line with their widths, and `gap` between two, has at most `most`. The texts give way first, the
/// widest of them before the others; then the first column; then those for which `is_copied` says that people copy what they
/// hold. A terminal too narrow for all columns gets longer lines.
pub(super) fn fit(widths: &mut [usize], is_copied: impl Fn(usize) -> bool, gap: usize, most: usize) {
    let most = most.saturating_sub(gap * widths.len().saturating_sub(1));
    let all = 0..widths.len();
    let (copied, texts): (Vec<usize>, Vec<usize>) = all.clone().skip(1).partition(|place| is_copied(*place));
    let first: Vec<usize> = all.clone().take(1).collect();
    for (some, least) in [(texts, SHORT), (first, READABLE), (copied, READABLE), (all.collect(), 1)] {
        narrow(widths, &some, least, most);
    }
}

/// Narrows some columns to `least` at most, until all of them have at most `most` together.
fn narrow(widths: &mut [usize], some: &[usize], least: usize, most: usize) {
    if widths.iter().sum::<usize>() <= most {
        return;
    }
    // No column needs to be wider than all may be. What follows takes a step for each column of the terminal then.
    for place in some {
        widths[*place] = widths[*place].min(most.max(least));
    }
    let mut sum: usize = widths.iter().sum();
    while sum > most {
        let widest = some.iter().copied().filter(|place| widths[*place] > least).max_by_key(|place| widths[*place]);
        let Some(widest) = widest else { return };
        widths[widest] -= 1;
        sum -= 1;
    }
}

/// A text that takes at most `width` columns.
pub(super) fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut left = width.saturating_sub(1);
    let fits = |letter: &char| {
        // The selector of a picture makes the letter before it wide.
        let wide = if *letter == '\u{fe0f}' { 1 } else { letter.width().unwrap_or_default() };
        let rest = left.checked_sub(wide);
        left = rest.unwrap_or_default();
        rest.is_some()
    };
    let start: String = text.chars().take_while(fits).collect();
    format!("{}{CUT}", start.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Columns of which the second is copied.
    fn fitted(widths: [usize; 4], most: usize) -> [usize; 4] {
        let mut fitted = widths;
        fit(&mut fitted, |place| place == 1, 2, most);
        fitted
    }

    #[test]
    fn the_widest_texts_give_way_then_the_first_column_then_what_is_copied() {
        // Three gaps take six columns.
        for (widths, most, expected) in [
            ([10, 10, 10, 10], 46, [10, 10, 10, 10]),
            ([10, 10, 10, 10], 200, [10, 10, 10, 10]),
            ([10, 10, 10, 30], 56, [10, 10, 10, 20]),
            ([10, 10, 25, 30], 66, [10, 10, 20, 20]),
            ([10, 10, 25, 30], 65, [10, 10, 20, 19]),
            ([40, 20, 25, 30], 80, [40, 20, 7, 7]),
            ([40, 20, 25, 30], 70, [36, 20, 4, 4]),
            ([40, 20, 4, 4], 30, [8, 8, 4, 4]),
            ([40, 20, 3, 4], 30, [8, 9, 3, 4]),
            ([usize::MAX / 8, 10, 10, 10], 80, [56, 10, 4, 4]),
            ([40, 20, 25, 30], 18, [3, 3, 3, 3]),
            ([40, 20, 25, 30], 5, [1, 1, 1, 1]),
        ] {
            assert_eq!(fitted(widths, most), expected, "{widths:?} in {most}");
        }
        fit(&mut [], |_| false, 2, 0);
    }

    #[test]
    fn a_text_is_cut_by_the_columns_that_its_letters_take() {
        for (text, width, expected) in [
            ("cart", 4, "cart"),
            ("carts", 4, "car…"),
            ("shopping cart", 10, "shopping…"),
            // Each of these letters takes two columns.
            ("漢字漢字", 8, "漢字漢字"),
            ("漢字漢字", 7, "漢字漢…"),
            ("漢字漢字", 6, "漢字…"),
            ("a漢字", 3, "a…"),
            ("漢字", 2, "…"),
            // These join the letter before them.
            ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"),
            ("\u{2764}\u{fe0f}\u{2764}\u{fe0f}", 3, "\u{2764}\u{fe0f}…"),
            ("cart", 1, "…"),
        ] {
            let cut = cut(text, width);
            assert_eq!(cut, expected, "{text} in {width}");
            assert!(cut.width() <= width, "{text} in {width}");
        }
    }
}
