//! What changed: the audit's entries, of which those of one actor and one kind are one line.

use std::collections::HashSet;

use maud::{Markup, html};

use super::Read;
use super::view::period;
use crate::parts::{short, time};
use crate::reading::too_long;
use crate::words::{self, Thing};
use catalogue::entity::audit::Model;

/// The number of lines that are shown.
pub const LINES: usize = 8;
/// The number of objects that a line names.
const NAMED: usize = 3;

/// What an actor did, to one object or more.
pub struct Line {
    actor: String,
    done: String,
    /// The newest entry of each of the first objects, at most [`NAMED`].
    entries: Vec<Model>,
    /// All objects.
    objects: HashSet<Option<Thing>>,
}

/// Folds entries, newest first, into at most [`LINES`].
pub fn folded(entries: Vec<Model>) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for entry in entries {
        let (actor, done) = (words::actor_name(&entry).to_owned(), words::done(&entry));
        let place = match lines.iter().position(|line| line.actor == actor && line.done == done) {
            Some(place) => place,
            None if lines.len() == LINES => continue,
            None => {
                lines.push(Line { actor, done, entries: Vec::new(), objects: HashSet::new() });
                lines.len() - 1
            }
        };
        let Some(line) = lines.get_mut(place) else { continue };
        if line.objects.insert(words::thing(&entry)) && line.entries.len() < NAMED {
            line.entries.push(entry);
        }
    }
    lines
}

/// The objects that lines name.
pub fn named(lines: &[Line]) -> Vec<Thing> {
    lines.iter().flat_map(|line| line.entries.iter().filter_map(words::thing)).collect()
}

/// The card of the last changes.
pub fn card(read: &Read) -> Markup {
    html! {
        section.card {
            h2 #changes { "Changed " (period(read)) }
            @match &read.changes {
                None => (too_long()),
                Some((lines, _)) if lines.is_empty() => p.soft { "Nothing was changed " (period(read)) "." },
                Some((lines, addresses)) => ul.missing { @for line in lines {
                    li {
                        span {
                            bdi { (short(&line.actor)) } " " (line.done) " "
                            @for (at, entry) in line.entries.iter().enumerate() {
                                @if at > 0 { ", " } (words::subject(entry, addresses))
                            }
                            @if line.objects.len() > line.entries.len() {
                                " and " (line.objects.len() - line.entries.len()) " more"
                            }
                            @if let [entry] = &*line.entries {
                                @if let Some(fields) = words::fields(entry) { small { (fields) } }
                            }
                        }
                        @if let Some(newest) = line.entries.first() { span.soft { (time(newest.at, read.now)) } }
                    }
                } },
            }
        }
    }
}
