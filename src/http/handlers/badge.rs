//! `GET /badges/services/<alias>.svg`: the level of a service as a picture, for READMEs. Only with `--badges`.

use std::time::{Duration, Instant};

use form_urlencoded::parse;
use maud::{Markup, html};
use percent_encoding::percent_decode_str;
use quick_cache::sync::Cache;
use tokio::sync::Semaphore;
use unicode_width::UnicodeWidthStr;

use crate::entity::text::{SHORT, cleaned};
use crate::graphql::standards::check::{LevelOf, level_of};
use crate::http::reply::{self, Rejection, Reply};
use crate::http::{App, Call};

/// The path of badges.
pub const BADGES: &str = "/badges/services/";

/// How long a badge may be out of date.
pub const AGE: Duration = Duration::from_secs(300);

/// The number of services whose level is remembered.
pub const REMEMBERED: usize = 1_000;

/// The maximum length of a label and of a level, in characters. What is longer is cut.
pub const LENGTH: usize = 40;

/// The number of levels that are computed at a time.
const AT_ONCE: usize = 2;

/// The levels that are remembered, by the alias of the service.
pub struct Badges {
    levels: Cache<String, (Instant, Option<LevelOf>)>,
    places: Semaphore,
}

impl Default for Badges {
    fn default() -> Self {
        Self { levels: Cache::new(REMEMBERED), places: Semaphore::new(AT_ONCE) }
    }
}

/// Returns the badge of a service.
pub async fn answer(app: &App, call: &Call, badges: &Badges) -> Result<Reply, Rejection> {
    let path = call.parts.uri.path().strip_prefix(BADGES).and_then(|path| path.strip_suffix(".svg"));
    let alias = path.map(|alias| percent_decode_str(alias).decode_utf8_lossy().into_owned());
    let alias = alias.filter(|alias| alias.chars().count() <= SHORT).ok_or(Rejection::NotFound)?;
    let query = call.parts.uri.query().unwrap_or_default();
    let label = parse(query.as_bytes()).find(|(name, _)| name == "label").map(|(_, label)| cleaned(&label, LENGTH));
    let label = label.filter(|label| !label.is_empty()).unwrap_or_else(|| "standards".to_owned());
    let known = badges.levels.get(&alias).filter(|(at, _)| at.elapsed() < AGE);
    let level = match known {
        Some((_, level)) => level,
        None => {
            let _place = badges.places.acquire().await.map_err(|error| Rejection::Internal(error.to_string()))?;
            let level = level_of(app.db.read(), &alias).await;
            let level = level.map_err(|error| Rejection::Internal(error.to_string()))?.ok_or(Rejection::NotFound)?;
            badges.levels.insert(alias, (Instant::now(), level.clone()));
            level
        }
    };
    let picture = picture(&label, level.as_ref()).into_string();
    Ok(reply::badge(picture, AGE))
}

/// Draws a badge: the label, and the level in a colour between red and green.
fn picture(label: &str, level: Option<&LevelOf>) -> Markup {
    let said = level.map_or_else(|| "no level".to_owned(), |level| cleaned(&level.name, LENGTH));
    let colour = match level {
        None => "#6b7280",
        Some(LevelOf { place: 0, levels: 2.., .. }) => "#b42318",
        Some(LevelOf { place, levels, .. }) if place + 1 == *levels => "#067647",
        Some(_) => "#8a5a00",
    };
    let width = |text: &str| text.width() * 7 + 12;
    let (left, right) = (width(label), width(&said));
    let middle = |from: usize, width: usize| format!("{}", from + width / 2);
    html! {
        svg xmlns="http://www.w3.org/2000/svg" width=(left + right) height="20" role="img" aria-label={ (label) ": " (said) } {
            title { (label) ": " (said) }
            rect width=(left) height="20" fill="#374151" {}
            rect x=(left) width=(right) height="20" fill=(colour) {}
            g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" {
                text x=(middle(0, left)) y="14" { (label) }
                text x=(middle(left, right)) y="14" { (said) }
            }
        }
    }
}
