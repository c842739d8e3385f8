//! Limits of the pages, which `docs/limits.md` lists.

pub use super::all_deploys::READ as LATEST_DEPLOYS;
pub use super::csv::{BYTES as CSV_BYTES, ROWS as CSV_ROWS, TIME as CSV_TIME};
pub use super::custom::CONNECTED as PROJECT_CONNECTED;
pub use super::definitions::filters::SHOWN as CONDITIONS_SHOWN;
pub use super::definitions::uses::{NAMED as USES_NAMED, PREDICATES as CONDITIONS_READ};
pub use super::deliveries::{LISTED as RECEIPTS_SEARCHED, SEARCHED as DELIVERIES_SEARCHED};
pub use super::documents::LONGEST as DOCUMENT_SHOWN;
pub use super::error_page::ADMINISTRATORS as ADMINISTRATORS_NAMED;
pub use super::feeds::{ENTRIES as FEED_ENTRIES, SEARCHED as FEED_SEARCHED, SUMMARY as FEED_SUMMARY};
pub use super::form::LISTED as CHOICES;
pub use super::graph::picture::{EDGES, RANKED};
pub use super::graph::{AROUND, LARGE, LAYERS, MEMBERS, SHOWN_STEPS, SMALL, SMALL_STEPS};
pub use super::groups::MEMBERS as DOMAIN_SERVICES;
pub use super::history::SEARCHED as HISTORY_SEARCHED;
pub use super::home::ahead::{MEASURED as HOME_MEASURED, RESULTS as HOME_RESULTS, SHOWN as HOME_CHECKS};
pub use super::home::mine::{CHANGES as HOME_CHANGES, SUGGESTIONS as HOME_SUGGESTIONS, TEAMS as HOME_TEAMS};
pub use super::home::{
    FAILING_DAYS as HOME_FAILING_DAYS, LINES as HOME_LINES, LISTED as HOME_FAILING, SINCE_DAYS as HOME_SINCE_DAYS,
};
pub use super::issues::MOST as SERVICE_ISSUES;
pub use super::markdown::LONGEST_TEXT as MARKDOWN_SHOWN;
pub use super::on_call::{READ as HOME_ON_CALLS, SHOWN as HOME_PEOPLE};
pub use super::parts::{COUNTED, FOUND};
pub use super::people::{MEMBERSHIPS as PEOPLE_MEMBERSHIPS, MOST as PEOPLE_FOUND};
pub use super::reference::search::{MOST as REFERENCE_RESULTS, WORDS as REFERENCE_WORDS};
pub use super::scope::NAMED as DEPLOYS_NAMED;
pub use super::service_parts::PROPERTIES as NEW_PROPERTIES;
pub use super::standing::CHECKS as SERVICE_CHECKS;
pub use super::team_leaving::NAMED as LEAVES_NAMED;
pub use super::team_now::{ISSUES as TEAM_ISSUES, WORST as TEAM_WORST};
pub use super::team_tree::{OWNED as TEAM_OWNED, TEAMS as TREE_TEAMS};
pub use super::trail::{BYTES as TRAIL_BYTES, PAGES as TRAIL_PAGES};
pub use super::users::FOUND as USERS_FOUND;
pub use super::waiting::{MOST as WAITING, PATIENCE as WAITING_PATIENCE, PERIOD as WAITING_PERIOD};
