//! What the subject of each entry of the audit belonged to, so that the history of a service has its links and dependencies
//! also after they were deleted.
//!
//! Older entries get it from the rows that still exist; for deleted ones from the exact values that the entry keeps, or else
//! from the name in its details, if what has that name now is older than the entry. Entries that tell neither stay as they
//! are. So do those that an older process writes after this migration, while a cluster is upgraded.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use sea_orm_migration::{prelude::*, schema::*, sea_orm};

use sea_orm::{ConnectionTrait, QueryResult};
use serde_json::{Map, Value as Json};

use crate::Done;
use crate::ddl::{create, partial};

pub(crate) fn up<'m>(manager: &'m SchemaManager<'m>) -> Done<'m> {
    Box::pin(async move {
        for [class, id] in [OWNER, OTHER] {
            for column in [text_null(class), big_integer_null(id)] {
                manager.alter_table(Table::alter().table("audit").add_column(column).take()).await?;
            }
        }
        let db = manager.get_connection();
        for part in PARTS {
            db.execute_unprepared(&part.of_rows()).await?;
        }
        of_deleted(db).await?;
        let indexes = [
            partial("audit_by_owner", "audit", ["owner_class", "owner_id", "at", "id"], "owner_id"),
            partial(
                "audit_by_other_owner",
                "audit",
                ["other_owner_class", "other_owner_id", "at", "id"],
                "other_owner_id",
            ),
        ];
        create(manager, indexes).await
    })
}

/// The columns of the first and of the second thing that a subject belongs to: its SDL type and its id.
const OWNER: [&str; 2] = ["owner_class", "owner_id"];
const OTHER: [&str; 2] = ["other_owner_class", "other_owner_id"];

/// A column that says what rows belong to.
struct Part {
    /// The SDL type of the rows.
    class: &'static str,
    /// Their table.
    table: &'static str,
    /// The column.
    column: &'static str,
    /// The SDL type of what it refers to.
    owner: &'static str,
    /// Where the audit has it.
    place: [&'static str; 2],
}

/// All of them, as they are at this step.
const PARTS: &[Part] = &[
    part("Tool", "tool", "service_id", "Service", OWNER),
    part("Contact", "contact", "service_id", "Service", OWNER),
    part("Contact", "contact", "team_id", "Team", OWNER),
    part("Contact", "contact", "user_id", "User", OWNER),
    part("ServiceDependency", "service_dependency", "source_id", "Service", OWNER),
    part("ServiceDependency", "service_dependency", "destination_id", "Service", OTHER),
    part("ServiceRepository", "service_repository", "service_id", "Service", OWNER),
    part("Property", "property", "service_id", "Service", OWNER),
    part("Property", "property", "team_id", "Team", OWNER),
    part("ServiceDocument", "service_document", "service_id", "Service", OWNER),
    part("AlertSourceService", "alert_source_service", "service_id", "Service", OWNER),
    part("Relationship", "relationship", "source_service_id", "Service", OWNER),
    part("Relationship", "relationship", "source_system_id", "System", OWNER),
    part("Relationship", "relationship", "source_domain_id", "Domain", OWNER),
    part("Relationship", "relationship", "source_team_id", "Team", OWNER),
    part("Relationship", "relationship", "source_infrastructure_resource_id", "InfrastructureResource", OWNER),
    part("Relationship", "relationship", "target_service_id", "Service", OTHER),
    part("Relationship", "relationship", "target_system_id", "System", OTHER),
    part("Relationship", "relationship", "target_domain_id", "Domain", OTHER),
    part("Relationship", "relationship", "target_team_id", "Team", OTHER),
    part("Relationship", "relationship", "target_infrastructure_resource_id", "InfrastructureResource", OTHER),
];

const fn part(
    class: &'static str,
    table: &'static str,
    column: &'static str,
    owner: &'static str,
    place: [&'static str; 2],
) -> Part {
    Part { class, table, column, owner, place }
}

impl Part {
    /// The statement that says of the rows that exist what they belong to.
    fn of_rows(&self) -> String {
        let Self { class, table, column, owner, place: [owner_class, owner_id] } = self;
        format!(
            "UPDATE audit SET {owner_class} = '{owner}', \
             {owner_id} = (SELECT {column} FROM {table} WHERE {table}.id = audit.subject_id) \
             WHERE subject_class = '{class}' AND subject_id IN (SELECT id FROM {table} WHERE {column} IS NOT NULL)"
        )
    }

    /// The name by which the details tell the column.
    fn field(&self) -> &'static str {
        self.column.trim_end_matches("_id")
    }
}

/// The things that people name in details: their SDL type, their table, and the column with the name.
const NAMED: [(&str, &str, &str); 4] = [
    ("Service", "service", "slug"),
    ("Team", "team", "alias"),
    ("System", "system", "slug"),
    ("Domain", "domain", "slug"),
];

/// The number of ids of entries that are looked at together.
const PORTION: i64 = 500;

/// Says of the subjects that no longer exist what they belonged to.
async fn of_deleted(db: &SchemaManagerConnection<'_>) -> Result<(), DbErr> {
    let last = Query::select().expr_as(Func::max(Expr::col("id")), "last").from("audit").take();
    let last: Option<i64> = match db.query_one(&last).await? {
        Some(row) => row.try_get("", "last")?,
        None => None,
    };
    let mut after = 0;
    while after < last.unwrap_or_default() {
        let mut entries = Query::select();
        entries.columns(["id", "at", "subject_class", "detail", "kept"]).from("audit");
        entries.and_where(Expr::col("id").gt(after)).and_where(Expr::col("id").lte(after + PORTION));
        entries.and_where(Expr::col("owner_id").is_null()).and_where(Expr::col("other_owner_id").is_null());
        let entries = db.query_all(&entries).await?;
        let entries = entries.iter().map(Told::read).collect::<Result<Vec<_>, _>>()?;
        // Not in the statement, which would then read the index of classes for each portion.
        let entries: Vec<Told> = entries.into_iter().filter(|entry| entry.parts().next().is_some()).collect();
        fill(db, &entries).await?;
        after += PORTION;
    }
    Ok(())
}

/// An entry.
struct Told {
    id: i64,
    at: i64,
    /// The SDL type of its subject, or nothing.
    class: String,
    /// The values of its rows, before and after.
    kept: Vec<Map<String, Json>>,
    /// The fields that have changed.
    changed: Map<String, Json>,
}

impl Told {
    fn read(row: &QueryResult) -> Result<Self, DbErr> {
        let (detail, kept): (String, Option<String>) = (row.try_get("", "detail")?, row.try_get("", "kept")?);
        let json = |text: &str| serde_json::from_str::<Json>(text).unwrap_or_default();
        let rows = kept.map(|kept| json(&kept));
        let rows = rows.as_ref().and_then(Json::as_array).map(Vec::as_slice).unwrap_or_default();
        let sides = rows.iter().flat_map(|row| ["old", "new"].map(|side| row.get(side).and_then(Json::as_object)));
        Ok(Self {
            id: row.try_get("", "id")?,
            at: row.try_get("", "at")?,
            class: row.try_get::<Option<String>>("", "subject_class")?.unwrap_or_default(),
            kept: sides.flatten().cloned().collect(),
            changed: json(&detail).get("changed").and_then(Json::as_object).cloned().unwrap_or_default(),
        })
    }

    /// The columns that say what it belonged to.
    fn parts(&self) -> impl Iterator<Item = &'static Part> {
        PARTS.iter().filter(|part| part.class == self.class)
    }

    /// The id in a column, if the entry keeps it.
    fn id_in(&self, part: &Part) -> Option<i64> {
        self.kept.iter().find_map(|values| values.get(part.column)?.as_i64())
    }

    /// The name that the details have for it.
    fn name_in(&self, part: &Part) -> Option<&str> {
        let change = self.changed.get(part.field())?;
        ["old", "new"].into_iter().find_map(|side| change.get(side)?.as_str())
    }
}

/// Things by SDL type and name: their ids, and when they were made.
type Things = HashMap<(&'static str, String), (i64, i64)>;

async fn fill(db: &SchemaManagerConnection<'_>, entries: &[Told]) -> Result<(), DbErr> {
    let things = named(db, entries).await?;
    let mut found: BTreeMap<([&'static str; 2], &'static str, i64), Vec<i64>> = BTreeMap::new();
    for entry in entries {
        for part in entry.parts() {
            let by_name = || {
                let (id, made) = things.get(&(part.owner, entry.name_in(part)?.to_owned()))?;
                (*made <= entry.at).then_some(*id)
            };
            if let Some(owner) = entry.id_in(part).or_else(by_name) {
                found.entry((part.place, part.owner, owner)).or_default().push(entry.id);
            }
        }
    }
    for (([owner_class, owner_id], class, owner), entries) in found {
        let mut update = Query::update();
        update.table("audit").value(owner_class, class).value(owner_id, owner);
        db.execute(update.and_where(Expr::col("id").is_in(entries))).await?;
    }
    Ok(())
}

/// The things that the details of entries name.
async fn named(db: &SchemaManagerConnection<'_>, entries: &[Told]) -> Result<Things, DbErr> {
    let mut things = Things::new();
    for (class, table, column) in NAMED {
        let names_of = |entry: &Told| -> Vec<String> {
            let parts = entry.parts().filter(|part| part.owner == class && entry.id_in(part).is_none());
            parts.filter_map(|part| entry.name_in(part)).map(str::to_owned).collect()
        };
        let names: BTreeSet<String> = entries.iter().flat_map(names_of).collect();
        if names.is_empty() {
            continue;
        }
        let mut rows = Query::select();
        rows.columns(["id", column, "created_at"]).from(table).and_where(Expr::col(column).is_in(names));
        for row in db.query_all(&rows).await? {
            things.insert((class, row.try_get("", column)?), (row.try_get("", "id")?, row.try_get("", "created_at")?));
        }
    }
    Ok(things)
}
