//! An index for the order of repositories by alias, and the time of each service's last deploy, for an order of services.
//!
//! The time is in a table of its own, so that a deploy does not rewrite the service's row. Every service has a row, null
//! without a deploy, so that services that were never deployed are a range of the index. Triggers keep the rows.

use sea_orm_migration::{prelude::*, schema::*, sea_orm};

use sea_orm::{ConnectionTrait, DbBackend};

use crate::Done;
use crate::ddl::{cascade, create, index};

/// The table of the times.
const TABLE: &str = "service_last_deploy";

pub(crate) fn up<'m>(manager: &'m SchemaManager<'m>) -> Done<'m> {
    Box::pin(async move {
        let table = Table::create()
            .table(TABLE)
            .col(ColumnDef::new("service_id").big_integer().not_null().primary_key())
            .col(big_integer_null("deployed_at"))
            .foreign_key(&mut cascade(TABLE, "service_id", "service"))
            .take();
        manager.create_table(table).await?;
        create(manager, [index("service_in_order_of_last_deploy", TABLE, ["deployed_at", "service_id"])]).await?;
        let db = manager.get_connection();
        let is_postgres = manager.get_database_backend() == DbBackend::Postgres;
        let folded = if is_postgres { r#"lower(default_alias COLLATE "C")"# } else { "lower(default_alias)" };
        let by_alias = format!("CREATE INDEX repository_in_order_of_default_alias ON repository ({folded}, id)");
        db.execute_unprepared(&by_alias).await?;
        let times = format!(
            "INSERT INTO {TABLE} (service_id, deployed_at) \
             SELECT id, (SELECT max(deployed_at) FROM deploy WHERE service_id = service.id) FROM service"
        );
        db.execute_unprepared(&times).await?;
        for statement in if is_postgres { postgres() } else { sqlite() } {
            db.execute_unprepared(&statement).await?;
        }
        Ok(())
    })
}

/// Takes over the time of the row `NEW`, if it is later.
fn later() -> String {
    format!(
        "UPDATE {TABLE} SET deployed_at = NEW.deployed_at \
         WHERE service_id = NEW.service_id AND (deployed_at IS NULL OR deployed_at < NEW.deployed_at);"
    )
}

/// Looks the time up again, if it was that of the row `OLD`.
fn again() -> String {
    format!(
        "UPDATE {TABLE} SET deployed_at = (SELECT max(deployed_at) FROM deploy WHERE service_id = OLD.service_id) \
         WHERE service_id = OLD.service_id AND deployed_at = OLD.deployed_at;"
    )
}

fn sqlite() -> Vec<String> {
    let (later, again) = (later(), again());
    vec![
        format!(
            "CREATE TRIGGER {TABLE}_of_new_service AFTER INSERT ON service \
             BEGIN INSERT INTO {TABLE} (service_id) VALUES (NEW.id); END"
        ),
        format!(
            "CREATE TRIGGER {TABLE}_of_new AFTER INSERT ON deploy WHEN NEW.service_id IS NOT NULL BEGIN {later} END"
        ),
        format!(
            "CREATE TRIGGER {TABLE}_of_deleted AFTER DELETE ON deploy WHEN OLD.service_id IS NOT NULL BEGIN {again} END"
        ),
        format!(
            "CREATE TRIGGER {TABLE}_of_changed AFTER UPDATE OF service_id, deployed_at ON deploy \
             WHEN OLD.service_id IS NOT NEW.service_id OR OLD.deployed_at <> NEW.deployed_at BEGIN {again} {later} END"
        ),
    ]
}

/// New deploys are looked at together: a statement often inserts several of one service.
fn postgres() -> Vec<String> {
    let (later, again) = (later(), again());
    let function = |name: &str, body: &str| {
        format!(
            "CREATE FUNCTION {TABLE}_{name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {body} RETURN NULL; END $$"
        )
    };
    let trigger =
        |name: &str, on: &str| format!("CREATE TRIGGER {TABLE}_of_{name} AFTER {on} EXECUTE FUNCTION {TABLE}_{name}()");
    let latest = format!(
        "UPDATE {TABLE} AS present SET deployed_at = latest.deployed_at FROM \
         (SELECT service_id, max(deployed_at) AS deployed_at FROM inserted WHERE service_id IS NOT NULL \
         GROUP BY service_id) AS latest WHERE present.service_id = latest.service_id \
         AND (present.deployed_at IS NULL OR present.deployed_at < latest.deployed_at);"
    );
    vec![
        function("new_service", &format!("INSERT INTO {TABLE} (service_id) VALUES (NEW.id);")),
        trigger("new_service", "INSERT ON service FOR EACH ROW"),
        function("new", &latest),
        trigger("new", "INSERT ON deploy REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT"),
        function("deleted", &again),
        trigger("deleted", "DELETE ON deploy FOR EACH ROW WHEN (OLD.service_id IS NOT NULL)"),
        function("changed", &format!("{again} {later}")),
        trigger(
            "changed",
            "UPDATE OF service_id, deployed_at ON deploy FOR EACH ROW WHEN \
             (OLD.service_id IS DISTINCT FROM NEW.service_id OR OLD.deployed_at <> NEW.deployed_at)",
        ),
    ]
}
