//! Suggestions for misspelt names, and the characters of the parser's tokens. The generator uses them for authors of
//! the SDL, and the engine for clients.
//!
//! Invariant: a name of more than [`LONGEST`] bytes gets no suggestion.

/// The longest name that gets a suggestion, in bytes. It bounds the work for the names in a request.
const LONGEST: usize = 100;

/// The parser's token names, and the tokens.
const TOKENS: &[(&str, &str)] = &[
    ("L_CURLY", "{"),
    ("R_CURLY", "}"),
    ("L_PAREN", "("),
    ("R_PAREN", ")"),
    ("L_BRACK", "["),
    ("R_BRACK", "]"),
    ("COLON", ":"),
    ("AT", "@"),
];

/// Returns the token that the parser expected, from its message `expected R_CURLY, got EOF`.
pub fn expected_token(message: &str) -> Option<&'static str> {
    let name = message.strip_prefix("expected ")?.split(',').next()?;
    TOKENS.iter().find(|(token, _)| *token == name).map(|(_, looks)| *looks)
}

/// Returns the candidate that `name` probably misspells. At most a third of the letters may differ. Among equals, the
/// same initial wins.
pub fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > LONGEST {
        return None;
    }
    let most = name.len() / 3;
    candidates
        .filter(|candidate| candidate.len().abs_diff(name.len()) <= most)
        .filter_map(|candidate| {
            let distance = distance(name.as_bytes(), candidate.as_bytes(), most)?;
            Some((distance, candidate.chars().next() != name.chars().next(), candidate))
        })
        .min()
        .map(|(.., candidate)| candidate)
}

/// The edit distance, ignoring case: letters added, removed, changed or swapped with their neighbour. `None` if it is
/// more than `most`; most candidates are given up after a few letters.
fn distance(a: &[u8], b: &[u8], most: usize) -> Option<usize> {
    let same = |one: u8, other: u8| one.eq_ignore_ascii_case(&other);
    let mut before = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    let mut row = vec![0; b.len() + 1];
    for i in 1..=a.len() {
        row[0] = i;
        for j in 1..=b.len() {
            let changed = last[j - 1] + usize::from(!same(a[i - 1], b[j - 1]));
            row[j] = changed.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]) {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        // A row is computed from the two rows before it, so it is not smaller than both.
        if row.iter().chain(&last).all(|distance| *distance > most) {
            return None;
        }
        std::mem::swap(&mut before, &mut last);
        std::mem::swap(&mut last, &mut row);
    }
    Some(last[b.len()]).filter(|distance| *distance <= most)
}
