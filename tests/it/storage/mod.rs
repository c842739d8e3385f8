//! The database. Always tested here: that what was acknowledged is stored once, whatever is killed, full, locked or
//! away, and that it survives upgrades, backups and moves, on SQLite and on PostgreSQL.

mod backup;
mod clock;
mod commits;
mod database_files;
mod faults;
mod faults_under_load;
mod full_disk;
mod kill;
mod locks;
mod migrations;
mod newer_words;
mod pgbouncer;
mod postgres;
mod power_cut;
mod primary_lost;
mod reads;
mod replica;
mod transfer;
mod upgrade;
mod writer;
