//! The table of services: its columns, which people choose, and its rows.

use maud::{Markup, html};

use crate::operations::services::Service;
use crate::operations::{DeployStatusEnum, ServiceRow};
use crate::parts::{level, status, tags, tier, time};
use crate::service_name::address;
use crate::visit::path;
use catalogue::entity::Timestamp;

/// A column beside the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// The team that owns the service.
    Owner,
    /// Its tier.
    Tier,
    /// Its level.
    Level,
    /// Its lifecycle stage.
    Lifecycle,
    /// Its component type.
    Type,
    /// Its system.
    System,
    /// Its language.
    Language,
    /// Its framework.
    Framework,
    /// When it was deployed last, and with what result.
    LastDeploy,
    /// Its alias.
    Alias,
    /// Its tags.
    Tags,
}

impl Column {
    /// All of them, in the order in which they are offered.
    pub const ALL: [Self; 11] = [
        Self::Owner,
        Self::Tier,
        Self::Level,
        Self::Lifecycle,
        Self::Type,
        Self::System,
        Self::Language,
        Self::Framework,
        Self::LastDeploy,
        Self::Alias,
        Self::Tags,
    ];

    /// Those of a list whose reader has chosen none.
    pub const USUAL: [Self; 5] = [Self::Owner, Self::Tier, Self::Level, Self::Language, Self::LastDeploy];

    /// The word in the address.
    pub fn word(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Tier => "tier",
            Self::Level => "level",
            Self::Lifecycle => "lifecycle",
            Self::Type => "type",
            Self::System => "system",
            Self::Language => "language",
            Self::Framework => "framework",
            Self::LastDeploy => "last_deploy",
            Self::Alias => "alias",
            Self::Tags => "tags",
        }
    }

    /// The heading.
    pub fn label(self) -> &'static str {
        match self {
            Self::Owner => "Owner",
            Self::Tier => "Tier",
            Self::Level => "Level",
            Self::Lifecycle => "Lifecycle",
            Self::Type => "Type",
            Self::System => "System",
            Self::Language => "Language",
            Self::Framework => "Framework",
            Self::LastDeploy => "Last deploy",
            Self::Alias => "Alias",
            Self::Tags => "Tags",
        }
    }

    /// The columns of a file that it stands for.
    pub fn in_files(self) -> &'static [&'static str] {
        match self {
            Self::Owner => &["owner"],
            Self::Tier => &["tier"],
            Self::Level => &["level"],
            Self::Lifecycle => &["lifecycle"],
            Self::Type => &["type"],
            Self::System => &["system"],
            Self::Language => &["language"],
            Self::Framework => &["framework"],
            Self::LastDeploy => &["last deploy", "last status"],
            Self::Alias => &["alias"],
            Self::Tags => &["tags"],
        }
    }

    /// The name of the order by it, without `_ASC` and `_DESC`. `None` if lists are not sorted by it.
    pub fn order(self) -> Option<&'static str> {
        let is_order = !matches!(self, Self::Type | Self::System | Self::Framework | Self::Alias | Self::Tags);
        is_order.then(|| self.word())
    }

    /// The class of its cells. Narrow windows leave out the least important one, where nobody has chosen it.
    fn class(self, is_chosen: bool) -> Option<&'static str> {
        match self {
            Self::LastDeploy => Some("number"),
            Self::Language if !is_chosen => Some("roomy"),
            _ => None,
        }
    }
}

/// Where a list was deployed last: when, with what result, and the word for it that was sent.
type LastDeploy<'a> = (Timestamp, DeployStatusEnum, Option<&'a str>);

/// A row of the table.
pub struct Row<'a> {
    name: &'a str,
    aliases: &'a [String],
    locked: bool,
    /// The alias and the name of the owner.
    owner: Option<(&'a str, &'a str)>,
    tier: Option<(i32, &'a str)>,
    level: Option<&'a str>,
    lifecycle: Option<&'a str>,
    kind: Option<&'a str>,
    system: Option<&'a str>,
    language: Option<&'a str>,
    framework: Option<&'a str>,
    last_deploy: Option<LastDeploy<'a>>,
    tags: Vec<(&'a str, &'a str)>,
}

impl<'a> From<&'a ServiceRow> for Row<'a> {
    fn from(row: &'a ServiceRow) -> Self {
        let deploy = row.last_deploy.as_ref();
        Self {
            name: &row.name,
            aliases: &row.aliases,
            locked: row.locked,
            owner: None,
            tier: row.tier.as_ref().map(|tier| (tier.index, &*tier.name)),
            level: row.level.as_ref().map(|level| level.name.as_deref().unwrap_or_default()),
            lifecycle: row.lifecycle.as_ref().map(|stage| &*stage.name),
            kind: None,
            system: row.parent.as_ref().map(|system| &*system.name),
            language: row.language.as_deref(),
            framework: None,
            last_deploy: deploy.map(|one| (one.deployed_at.0, one.deploy_status, one.status.as_deref())),
            tags: Vec::new(),
        }
    }
}

impl<'a> From<&'a Service> for Row<'a> {
    fn from(row: &'a Service) -> Self {
        let deploy = row.last_deploy.as_ref();
        let tags = row.tags.iter().flat_map(|tags| &tags.nodes);
        Self {
            name: &row.name,
            aliases: &row.aliases,
            locked: row.locked,
            owner: row.owner.as_ref().map(|team| (team.alias.as_str(), &*team.name)),
            tier: row.tier.as_ref().map(|tier| (tier.index, &*tier.name)),
            level: row.level.as_ref().map(|level| level.name.as_deref().unwrap_or_default()),
            lifecycle: row.lifecycle.as_ref().map(|stage| &*stage.name),
            kind: row.r#type.as_ref().map(|kind| &*kind.name),
            system: row.parent.as_ref().map(|system| &*system.name),
            language: row.language.as_deref(),
            framework: row.framework.as_deref(),
            last_deploy: deploy.map(|one| (one.deployed_at.0, one.deploy_status, one.status.as_deref())),
            tags: tags.map(|tag| (&*tag.key, &*tag.value)).collect(),
        }
    }
}

impl Row<'_> {
    fn cell(&self, column: Column, now: Timestamp) -> Markup {
        let text = |text: Option<&str>| html! { @if let Some(text) = text { (text) } };
        match column {
            Column::Owner => html! { @match self.owner {
                Some((alias, name)) => a href=(path(["teams", alias])) { (name) },
                None => span.mark.warn { "no owner" },
            } },
            Column::Tier => html! { @match self.tier {
                Some((index, name)) => (tier(index, name)),
                None => span.mark.warn { "no tier" },
            } },
            Column::Level => html! { @if let Some(name) = self.level { (level(name)) } },
            Column::Lifecycle => text(self.lifecycle),
            Column::Type => text(self.kind),
            Column::System => text(self.system),
            Column::Language => text(self.language),
            Column::Framework => text(self.framework),
            Column::LastDeploy => html! { @match self.last_deploy {
                Some((at, understood, sent)) => { (time(at, now)) " " (status(understood, sent)) },
                None => span.soft { "never" },
            } },
            Column::Alias => html! { @if let Some(alias) = self.aliases.first() { code { (alias) } } },
            Column::Tags => html! { @if !self.tags.is_empty() { (tags(self.tags.iter().copied())) } },
        }
    }
}

/// How a table is shown.
pub struct Shape<'s> {
    /// Its columns beside the name.
    pub columns: &'s [Column],
    /// Whether its reader has chosen them: then narrow windows show all of them, too, and phones name each.
    pub is_chosen: bool,
    /// Whether rows name their systems, which a column may do, too.
    pub with_systems: bool,
    /// Whether there is a cell before each row, to select it or to mark it.
    pub has_before: bool,
}

/// A table of services. `heading` builds the heading of a column from its label, its order and its class. Each row comes
/// with what stands before it.
pub fn table<'a>(
    shape: &Shape<'_>,
    heading: impl Fn(&str, Option<&str>, Option<&str>) -> Markup,
    rows: impl Iterator<Item = (Row<'a>, Markup)>,
) -> Markup {
    let now = Timestamp::now();
    let class = |column: &Column| column.class(shape.is_chosen);
    let with_system = shape.with_systems && !shape.is_chosen && !shape.columns.contains(&Column::System);
    html! {
        div.scroll tabindex="0" role="region" aria-label="Services" {
            table.lined {
                thead { tr {
                    @if shape.has_before { th.pick scope="col" { span.hidden { "Mark and select" } } }
                    (heading("Service", Some("name"), None))
                    @for column in shape.columns { (heading(column.label(), column.order(), class(column))) }
                } }
                tbody { @for (row, before) in rows { tr {
                    @if shape.has_before { td.pick { (before) } }
                    th scope="row" {
                        a href=(address(row.aliases)) { (row.name) }
                        @if row.locked { " " span.mark.none { "locked" } }
                        @if let Some(system) = row.system.filter(|_| with_system) { small { (system) } }
                    }
                    @for column in shape.columns {
                        td class=[class(column)] data-label=[shape.is_chosen.then(|| column.label())] { (row.cell(*column, now)) }
                    }
                } } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use catalogue::graphql::saved_view::parameters::COLUMNS;

    #[test]
    fn saved_views_and_pages_have_the_same_columns() {
        assert_eq!(Column::ALL.map(Column::word), COLUMNS);
    }
}
