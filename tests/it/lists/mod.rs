//! Lists, filters, orders and searches. Always tested here: that a list has everything that it should and nothing
//! else, page by page, and that its cost does not grow with the catalogue.

mod catalogue_search;
mod favourite;
mod filter;
mod paging;
mod plans;
mod properties;
mod saved_view;
mod search;
mod services_change;
mod sort;
mod statements;
