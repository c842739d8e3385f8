//! The commands. Always tested here: what each prints, on which of the two outputs, and with which exit status, also
//! when its flags, its server or its settings are wrong.

mod agents;
mod command_line;
mod demo;
mod doctor;
mod examples;
mod reading;
mod reading_changes;
mod reading_impact;
mod reading_lists;
mod reading_standards;
mod sender;
mod settings;
