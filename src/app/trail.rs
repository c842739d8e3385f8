//! The way back through a long list. Lists are read forward only, each page from a cursor, so the address of a page carries
//! the cursors of the pages before it, within bounds. Beyond them there is still the way to the first page.

use super::fields::Fields;

/// The query parameter with the cursors, the earliest first.
const BACK: &str = "back";

/// Stands for the first page, which has no cursor. No cursor is like it.
const FIRST: &str = "-";

/// The maximum number of pages in a trail.
pub const PAGES: usize = 10;

/// The maximum length of the cursors of a trail together, in bytes.
pub const BYTES: usize = 2_000;

/// The pages before a page, the earliest first: the cursor of each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trail(Vec<String>);

impl Trail {
    /// Takes the trail out of the query, so that no other link keeps it. Of one that is too long, the latest pages stay.
    pub fn take(query: &mut Fields) -> Self {
        let given: Vec<String> = query.get_all(BACK).filter(|one| !one.is_empty()).map(str::to_owned).collect();
        *query = query.without(BACK);
        Self::latest(given)
    }

    /// The latest of these pages, within the bounds.
    fn latest(mut pages: Vec<String>) -> Self {
        let mut bytes = 0;
        let kept = pages.iter().rev().take(PAGES).take_while(|page| {
            bytes += page.len();
            bytes <= BYTES
        });
        let left_out = pages.len() - kept.count();
        Self(pages.split_off(left_out))
    }

    /// The trail of the page that follows the one with this cursor.
    pub fn onward(&self, here: Option<&str>) -> Self {
        let here = here.unwrap_or(FIRST).to_owned();
        Self::latest(self.0.iter().cloned().chain([here]).collect())
    }

    /// The page before: its cursor, which is empty for the first page, and its trail. `None` if it is not known.
    pub fn previous(&self) -> Option<(&str, Self)> {
        let (last, before) = self.0.split_last()?;
        Some((if last == FIRST { "" } else { last }, Self(before.to_vec())))
    }

    /// The query of a page with this trail.
    pub fn beside(&self, query: Fields) -> String {
        self.0.iter().fold(query, |query, page| query.append(BACK, page)).query()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trail_leads_back_page_by_page_and_leaves_the_query() {
        let mut query = Fields::parse(b"sort=x&after=c2&back=-&back=c1");
        let trail = Trail::take(&mut query);
        assert_eq!(query.query(), "sort=x&after=c2");
        let next = trail.onward(query.given("after"));
        assert_eq!(next.beside(Fields::one("after", "c3")), "after=c3&back=-&back=c1&back=c2");
        let (after, second) = trail.previous().expect("a page before");
        assert_eq!((after, second.previous()), ("c1", Some(("", Trail::default()))));
        assert_eq!(Trail::default().previous(), None, "of an address that somebody wrote");
        assert_eq!(Trail::default().onward(None).previous(), Some(("", Trail::default())));
    }

    #[test]
    fn a_long_trail_keeps_its_latest_pages() {
        let mut trail = Trail::default().onward(None);
        for page in 0..PAGES {
            trail = trail.onward(Some(&page.to_string()));
        }
        assert_eq!((trail.0.len(), &*trail.0[0]), (PAGES, "0"), "the first page is left out");
        let long = "c".repeat(BYTES - 1);
        let trail = trail.onward(Some(&long));
        assert_eq!(trail.0.len(), 2, "of {BYTES} bytes together");
        assert_eq!(trail.onward(Some(&long)).0, [long.as_str()]);
        assert_eq!(trail.onward(Some(&"c".repeat(BYTES + 1))), Trail::default());
        let sent = "back=x&".repeat(5_000);
        assert_eq!(Trail::take(&mut Fields::parse(sent.as_bytes())).0.len(), PAGES);
    }
}
