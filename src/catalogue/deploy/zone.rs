//! Reads the zone after a time of day: an offset, or a name that stands for one.

/// The zones that RFC 5322 defines, and those of central Europe, in hours. Other abbreviations stand for several zones.
const ZONES: [(&str, i32); 14] = [
    ("z", 0),
    ("ut", 0),
    ("utc", 0),
    ("gmt", 0),
    ("cet", 1),
    ("cest", 2),
    ("est", -5),
    ("edt", -4),
    ("cst", -6),
    ("cdt", -5),
    ("mst", -7),
    ("mdt", -6),
    ("pst", -8),
    ("pdt", -7),
];

/// Reads what follows a time: an offset, a zone, both, or nothing, which means UTC. In seconds.
pub(super) fn offset(text: &str) -> Option<i32> {
    // The name of the zone is for people: the offset before it counts. Without one, only UTC is known.
    let text = text.trim();
    let (text, name) = match text.find(['[', '(']) {
        Some(start) if text.ends_with([']', ')']) => (text[..start].trim_end(), Some(&text[start + 1..text.len() - 1])),
        Some(_) => return None,
        None => (text, None),
    };
    let mut words = text.split_whitespace().filter(|word| !word.starts_with("m="));
    match (words.next(), words.next(), words.next()) {
        (None, ..) => match name {
            None | Some("UTC" | "Etc/UTC" | "GMT" | "Z" | "Coordinated Universal Time") => Some(0),
            Some(_) => None,
        },
        (Some(only), None, _) => one_offset(only),
        (Some(first), Some(second), None) => {
            let own = one_offset(first)?;
            let is_name = (3..=5).contains(&second.len()) && second.bytes().all(|byte| byte.is_ascii_alphabetic());
            let fits = match ZONES.iter().find(|(zone, _)| zone.eq_ignore_ascii_case(second)) {
                Some((_, 0)) => own == 0,
                _ => is_name || one_offset(second) == Some(own),
            };
            fits.then_some(own)
        }
        _ => None,
    }
}

/// Reads `Z`, `UTC`, `EST`, `+02`, `+0200`, `+02:00`, `GMT+2` or `+02:00:30`.
pub(super) fn one_offset(text: &str) -> Option<i32> {
    if let Some((_, hours)) = ZONES.iter().find(|(zone, _)| zone.eq_ignore_ascii_case(text)) {
        return Some(hours * 3_600);
    }
    let start = text.find(['+', '-', '\u{2212}'])?;
    let (zone, signed) = text.split_at(start);
    if !["", "utc", "gmt"].contains(&zone.to_ascii_lowercase().as_str()) {
        return None;
    }
    let sign = if signed.starts_with('+') { 1 } else { -1 };
    let (hours, rest) = digits(signed.trim_start_matches(['+', '-', '\u{2212}']), 1, 2)?;
    let part = |rest| match rest {
        "" => Some((0, "")),
        rest => digits(rest.strip_prefix(':').unwrap_or(rest), 2, 2),
    };
    let (minutes, rest) = part(rest)?;
    let (seconds, rest) = part(rest)?;
    let fits = rest.is_empty() && hours <= 23 && minutes <= 59 && seconds <= 59;
    fits.then(|| i32::try_from(hours * 3_600 + minutes * 60 + seconds).map(|offset| sign * offset).ok())?
}

/// Reads between `least` and `most` digits from the start of a text. Returns the rest of the text.
pub(super) fn digits(text: &str, least: usize, most: usize) -> Option<(u32, &str)> {
    let length = text.bytes().take(most).take_while(u8::is_ascii_digit).count();
    let (digits, rest) = text.split_at(length);
    (length >= least).then(|| digits.parse().ok())?.map(|number| (number, rest))
}
