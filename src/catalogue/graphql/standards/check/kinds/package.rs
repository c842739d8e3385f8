//! The repository of a service uses a package. A pipeline reports it, from lock files.

use serde::{Deserialize, Serialize};

use super::super::change::Change;
use super::super::comparison::{Comparison, Of};
use super::super::question::{Asks, Facts, Question};
use super::super::reported;
use crate::entity::check;
use crate::entity::text::SHORT;
use crate::graphql::filter::predicate::regex;
use crate::graphql::prelude::*;

/// The package managers whose lock files are read.
const READ: [PackageManagerEnum; 7] = [
    PackageManagerEnum::Cargo,
    PackageManagerEnum::Gem,
    PackageManagerEnum::Golang,
    PackageManagerEnum::Gradle,
    PackageManagerEnum::Maven,
    PackageManagerEnum::Npm,
    PackageManagerEnum::Pypi,
];

/// The parameters of `PackageVersionCheck`.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(in crate::graphql::standards::check) struct PackageVersion {
    /// A value of the SDL's `CheckResultStatusEnum`.
    pub(in crate::graphql::standards::check) missing_package_result: Option<String>,
    /// A value of the SDL's `PackageConstraintEnum`.
    pub(in crate::graphql::standards::check) package_constraint: String,
    /// A value of the SDL's `PackageManagerEnum`.
    pub(in crate::graphql::standards::check) package_manager: String,
    pub(in crate::graphql::standards::check) package_name: Option<String>,
    pub(in crate::graphql::standards::check) package_name_is_regex: bool,
    pub(in crate::graphql::standards::check) version_constraint_predicate: Option<Comparison>,
}

impl PackageVersion {
    #[allow(clippy::too_many_arguments, reason = "one for each field of its inputs")]
    pub(in crate::graphql::standards::check) async fn give(
        &mut self,
        change: &mut Change<'_>,
        missing: MaybeUndefined<CheckResultStatusEnum>,
        constraint: MaybeUndefined<PackageConstraintEnum>,
        manager: MaybeUndefined<PackageManagerEnum>,
        name: MaybeUndefined<String>,
        is_regex: MaybeUndefined<bool>,
        version: MaybeUndefined<PredicateUpdateInput>,
    ) -> Result<()> {
        if !missing.is_undefined() {
            self.missing_package_result = missing.value().map(|word| word.as_str().to_owned());
        }
        let constraint = constraint.map_value(PackageConstraintEnum::as_str);
        change.word("packageConstraint", &mut self.package_constraint, constraint);
        change.word("packageManager", &mut self.package_manager, manager.map_value(PackageManagerEnum::as_str));
        change.text("packageName", &mut self.package_name, &name, SHORT, true);
        Change::flag(&mut self.package_name_is_regex, is_regex);
        change.comparison("versionConstraintPredicate", Of::Text, &mut self.version_constraint_predicate, &version);
        if self.package_name_is_regex
            && let Err(error) = regex(self.name(), true)
        {
            let message = format!("not a regular expression: {error}");
            change.draft.problems.push(UserError::new("packageName", message));
        }
        if self.constraint() == Some(PackageConstraintEnum::MatchesVersion)
            && self.version_constraint_predicate.is_none()
        {
            let message = "versionConstraintPredicate must be given if packageConstraint is matches_version";
            change.draft.problems.push(UserError::new("versionConstraintPredicate", message));
        }
        Ok(())
    }

    fn name(&self) -> &str {
        self.package_name.as_deref().unwrap_or_default()
    }

    fn constraint(&self) -> Option<PackageConstraintEnum> {
        PackageConstraintEnum::from_word(&self.package_constraint)
    }
}

impl Asks for PackageVersion {
    fn wanted(&self) -> String {
        let like = if self.package_name_is_regex { "whose name matches " } else { "" };
        let package = format!("{} package {like}{}", self.package_manager, quoted(self.name()));
        let version = self.version_constraint_predicate.as_ref().map(Comparison::words).unwrap_or_default();
        let may_lack = self.missing_package_result.as_deref() == Some(CheckResultStatusEnum::Passed.as_str());
        match self.constraint() {
            Some(PackageConstraintEnum::DoesNotExist) => format!("no {package}"),
            Some(PackageConstraintEnum::MatchesVersion) if may_lack => {
                format!("no {package}, or only versions of it that match: the version {version}")
            }
            Some(PackageConstraintEnum::MatchesVersion) => format!("a {package} whose version {version}"),
            Some(PackageConstraintEnum::Exists) | None => format!("a {package}"),
        }
    }

    fn said(&self, found: Option<&str>) -> String {
        reported::said(found)
    }

    async fn question(&self, check: &check::Model, _: Facts<'_>) -> Result<Question> {
        if !READ.iter().any(|manager| manager.as_str() == self.package_manager) {
            let words: Vec<_> = READ.iter().map(|manager| manager.as_str()).collect();
            let message = format!("lock files are read only of {}", words.join(", "));
            return Err(UserError::new("packageManager", message).into());
        }
        Ok(reported::question(check))
    }
}
