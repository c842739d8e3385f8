//! What is told to others: webhooks, mail, feeds. Always tested here: that each committed change is told, in order for
//! each subject, that nothing else is, and that a bad receiver harms only itself.

mod delivery;
mod due;
mod feeds;
mod filters;
mod kills;
mod kinds;
mod mail;
