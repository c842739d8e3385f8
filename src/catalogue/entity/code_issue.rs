//! Code issues: problems that a scanner found.

use sea_orm::sea_query::{CaseStatement, ExprTrait, Func};

use super::code_issue_project_resource;
use super::prelude::*;
use crate::db::{Following, Follows};

super::table! {
    "code_issue", Directly("CodeIssue"), Members, untold(OverdueToldAt);

    /// The project in which the issue was found.
    pub code_issue_project_id: i64,
    /// The id in the source system; unique within the project.
    pub external_id: String,
    /// The name as the source system writes it.
    pub name: String,
    /// The scanner's category, as sent.
    pub issue_category: String,
    /// The type of problem, as sent.
    pub issue_type: Option<String>,
    /// The severity, as sent.
    pub severity: Option<String>,
    /// The URL of the issue in the source system.
    pub external_url: Option<String>,
    /// When the issue came into the code.
    pub introduced_at: Option<Timestamp>,
    /// When the row was created.
    pub created_at: Timestamp,
    /// When the row was last changed.
    pub updated_at: Timestamp,
    /// When it became an event that the issue is overdue.
    pub overdue_told_at: Option<Timestamp>,
}

// They go along with their project.
impl Follows<super::integration::Entity> for Entity {
    const FROM: Following = Following::Deletion;
}

impl Model {
    /// Since when the issue is open.
    pub fn open_since(&self) -> Timestamp {
        self.introduced_at.unwrap_or(self.created_at)
    }
}

super::rules![
    FieldRule::text("externalId", Column::ExternalId, text::SHORT).required(),
    FieldRule::text("name", Column::Name, text::SHORT).required(),
    FieldRule::text("issueCategory", Column::IssueCategory, text::SHORT).required(),
    FieldRule::text("issueType", Column::IssueType, text::SHORT),
    FieldRule::text("severity", Column::Severity, text::SHORT),
    FieldRule::text("url", Column::ExternalUrl, text::URL),
    FieldRule::new("introducedAt", Column::IntroducedAt, ValueRule::Moment),
];

/// Finds an issue by its id in the source system.
pub async fn by_external_id(
    db: &dyn ReadHandle,
    code_issue_project_id: i64,
    external_id: &str,
) -> Result<Option<Model>, db::Error> {
    let key = Column::CodeIssueProjectId.eq(code_issue_project_id).and(Column::ExternalId.eq(external_id));
    db.one(Entity::find().filter(key)).await
}

/// The severities that scanners agree on, worst first.
pub const SEVERITIES: [&str; 5] = ["critical", "high", "medium", "low", "info"];

/// Counts the issues of a service by severity in lower case. `None` counts issues without a severity.
pub async fn by_severity(db: &dyn ReadHandle, service_id: i64) -> Result<Vec<(Option<String>, i64)>, db::Error> {
    let of_service = of_service(service_id).select_only();
    let counted = of_service.column_as(severity(), "word").column_as(Column::Id.count(), "issues");
    db.rows(counted.group_by(Expr::col("word")).as_query(), |row| Ok((row.get(0)?, row.get(1)?))).await
}

/// Returns at most `limit` issues of a service, worst first, and newest first within a severity.
pub async fn worst(db: &dyn ReadHandle, service_id: i64, limit: u64) -> Result<Vec<Model>, db::Error> {
    let (mut rank, mut last) = (CaseStatement::new(), 0);
    for word in SEVERITIES {
        rank = rank.case(severity().eq(word), last);
        last += 1;
    }
    let rank = rank.finally(last);
    db.all(of_service(service_id).order_by_asc(Expr::Case(Box::new(rank))).order_by_desc(Column::Id).limit(limit)).await
}

/// The issues of these services, in any order, at most `limit`: the id of each, its severity in lower case, and since when it
/// is open.
pub async fn of_services(
    db: &dyn ReadHandle,
    services: &[i64],
    limit: u64,
) -> Result<Vec<(i64, Option<String>, Timestamp)>, db::Error> {
    let own = of_projects(db::any(db, code_issue_project_resource::Column::ServiceId, services)).select_only();
    let own = own.column(Column::Id).column_as(severity(), "word").column_as(open_since(), "since");
    let read = |row: &db::Row<'_>| Ok((row.get(0)?, row.get(1)?, Timestamp::from_micros(row.get(2)?)));
    db.rows(own.limit(limit).as_query(), read).await
}

/// The ids of critical issues that were open before a time and are not told yet: at most `most`, those that are open for
/// longest first.
pub async fn overdue(db: &dyn ReadHandle, before: Timestamp, most: u64) -> Result<Vec<i64>, db::Error> {
    let overdue = Entity::find().select_only().column(Column::Id).filter(is_overdue(before));
    db.rows(overdue.order_by_asc(open_since()).limit(most).as_query(), |row| row.get(0)).await
}

/// Marks those of these issues as told that are overdue and are not told yet. Returns them.
pub async fn tell_overdue(
    db: &db::Transaction,
    ids: &[i64],
    before: Timestamp,
    now: Timestamp,
) -> Result<Vec<Model>, db::Error> {
    let tell = Entity::update_many().col_expr(Column::OverdueToldAt, Expr::value(now));
    // That somebody was told is no change of the issue.
    let tell = tell.col_expr(Column::UpdatedAt, Expr::col(Column::UpdatedAt));
    db.updated(tell.filter(db::any(db, Column::Id, ids)).filter(is_overdue(before))).await
}

/// As the index `code_issue_untold` has it.
fn is_overdue(before: Timestamp) -> Expr {
    let is_critical = severity().eq(SEVERITIES[0]);
    is_critical.and(open_since().lt(before)).and(Column::OverdueToldAt.is_null())
}

/// Since when an issue is open: since the problem came into the code, or else since the row was created.
fn open_since() -> Expr {
    let columns = [Column::IntroducedAt, Column::CreatedAt];
    Func::coalesce(columns.map(|column| Expr::col(column.as_column_ref()))).into()
}

fn severity() -> Expr {
    Func::lower(Expr::col(Column::Severity.as_column_ref())).into()
}

/// Selects the issues of all projects that are connected to a service, each issue once.
fn of_service(service_id: i64) -> Select<Entity> {
    of_projects(code_issue_project_resource::Column::ServiceId.eq(service_id))
}

/// Selects the issues of all projects with a connection that meets a condition, each issue once.
fn of_projects(connection: Expr) -> Select<Entity> {
    let projects = Query::select()
        .column(code_issue_project_resource::Column::CodeIssueProjectId)
        .from(code_issue_project_resource::Entity)
        .and_where(connection)
        .take();
    Entity::find().filter(Column::CodeIssueProjectId.in_subquery(projects))
}

/// Defines a table of what issues refer to, in its module. Takes the table, and the list of the issue that has its rows.
macro_rules! references {
    ($table:tt, $list:tt) => {
        use super::code_issue;
        use super::prelude::*;

        super::table! {
            $table, In($list), |row| Owner::Row(RowOf::new::<code_issue::Entity>(row.code_issue_id)),
            |row| Entry::text(&row.identifier);

            /// The issue.
            pub code_issue_id: i64,
            /// The identifier, such as `CVE-…` or `CWE-…`, as sent. The order of the ids is the order in which they were sent.
            pub identifier: String,
            /// The URL of its description.
            pub url: Option<String>,
        }

        super::rules![
            FieldRule::text("identifier", Column::Identifier, text::SHORT).required(),
            FieldRule::text("url", Column::Url, text::URL),
        ];
    };
}
pub(super) use references;
