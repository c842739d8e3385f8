//! Checks, scorecards and campaigns. Always tested here: which result each service gets and which level follows, by
//! whatever way a check was written, and that each change of a result is noticed.

mod campaign;
mod check;
mod check_delivery;
mod check_events;
mod check_form;
mod check_history;
mod evaluation;
mod file;
mod repository_checks;
mod scorecard;
mod starter;
