//! The code issues of a service, by severity.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::Fault;
use super::parts::{count, empty, external_link, grouped};
use super::reading::{Reading, too_long};
use catalogue::db::ReadHandle;
use catalogue::entity::code_issue::{self, SEVERITIES};

/// The maximum number shown. The most severe come first.
pub const MOST: u64 = 100;

/// The code issues of a service. By default none was read.
#[derive(Default)]
pub struct Issues {
    /// The number of issues of each severity, in lower case, the most severe first.
    counts: Vec<(Option<String>, i64)>,
    worst: Vec<code_issue::Model>,
    /// Whether they were read. If not, none is known.
    were_read: bool,
}

/// The place of a severity: 0 for the most severe.
pub(super) fn rank(word: &Option<String>) -> usize {
    let place = |word: &String| SEVERITIES.iter().position(|known| known == word);
    word.as_ref().and_then(place).unwrap_or(SEVERITIES.len())
}

impl Issues {
    /// Counts the issues by severity, and reads the most severe. The API cannot sort by severity, so both are read from
    /// the database.
    pub async fn of_service(reading: &Reading, service_id: i64) -> Result<Self, Fault> {
        Ok(reading.optional(|db| Self::read(db, service_id)).await?.unwrap_or_default())
    }

    async fn read(db: &dyn ReadHandle, service_id: i64) -> Result<Self, Fault> {
        // Again in lower case: that of a database can differ from that of the issues in the list.
        let mut by_word = BTreeMap::new();
        for (word, number) in code_issue::by_severity(db, service_id).await? {
            *by_word.entry(word.map(|word| word.to_lowercase())).or_default() += number;
        }
        let mut counts = Vec::from_iter(by_word);
        counts.sort_by(|(one, _), (other, _)| rank(one).cmp(&rank(other)).then_with(|| one.cmp(other)));
        let worst = match counts.is_empty() {
            true => Vec::new(),
            false => code_issue::worst(db, service_id, MOST).await?,
        };
        Ok(Self { counts, worst, were_read: true })
    }

    /// The number of issues of each of the two highest severities. Empty without such issues.
    pub fn severe(&self) -> Vec<String> {
        let severe = self.counts.iter().filter(|(word, _)| rank(word) < 2);
        severe.map(|(word, number)| count(*number, &format!("{} issue", word.as_deref().unwrap_or_default()))).collect()
    }

    /// Whether it is known that there are none.
    pub fn are_none(&self) -> bool {
        self.were_read && self.counts.is_empty()
    }

    /// The card of the issues.
    pub fn card(&self) -> Markup {
        html! { section.card { h2 #issues { "Code issues" } (self.list()) } }
    }

    /// Lists the most severe issues by severity.
    fn list(&self) -> Markup {
        let Self { counts, worst, were_read } = self;
        if !were_read {
            return too_long();
        }
        if counts.is_empty() {
            return empty(
                "No code issues.",
                html! {
                    p {
                        "Tools push code issues to a custom integration. "
                        "A project with the name of this service is connected to it."
                    }
                },
            );
        }
        html! {
            @for (word, number) in counts {
                @let class = match rank(word) { 0 | 1 => "mark bad", 2 => "mark warn", _ => "mark none" };
                @let of_word = || worst.iter().filter(|issue| issue.severity.as_ref().map(|text| text.to_lowercase()) == *word);
                @let shown = of_word().count() as i64;
                details open[rank(word) < 2] {
                    summary {
                        span class=(class) { (word.as_deref().unwrap_or("without severity")) } " " (count(*number, "issue"))
                    }
                    // None is left for severities after the most severe issues.
                    @if shown > 0 {
                        ul { @for issue in of_word() {
                            li {
                                (external_link(issue.external_url.as_deref(), &issue.name)) " "
                                span.soft { (issue.issue_category) }
                            }
                        } }
                    }
                    @if shown < *number { p.soft { (grouped(number - shown)) @if shown > 0 { " more" } @else { " not shown here" } ". Read all of them " a href="/reference/Service#codeIssues" { "through the API" } "." } }
                }
            }
        }
    }
}
