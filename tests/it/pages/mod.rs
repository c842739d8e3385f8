//! The pages of the application, without a script. Always tested here: what a page shows, what its forms change, who
//! may open and send them, and that no text of a user becomes HTML.

mod addresses;
mod catalogue;
mod content;
mod daily;
mod definition_forms;
mod definitions;
mod delivery;
mod deploys;
mod domains;
mod explorer;
mod fields;
mod findings;
mod forms;
mod graph;
mod hand_over;
mod history;
mod home;
mod integrations;
mod lists;
mod lookups;
mod onboard;
mod people;
mod reference;
mod rights;
mod roles;
mod standards;
mod suggestions;
mod team;
