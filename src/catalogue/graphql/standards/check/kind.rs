//! The table of the kinds of checks. Each has its SDL type, its parameters ([`kinds`](super::kinds)), the fields of its
//! inputs, and its mutations. A kind that lacks one of them does not compile.

use sea_orm::{ActiveEnum, Iterable};
use serde_json::{Map, Value as Json};

use super::change::{Change, Common, Given};
use super::comparison::Comparison;
use super::kinds;
use super::question::{Asks, Facts, Question};
use crate::entity::check::{self, Kind, Model};
use crate::graphql::field::id::Id;
use crate::graphql::list::relation::{to_its_one, to_one};
use crate::graphql::prelude::*;

/// Says what was found of a service, from the text that SQL returned.
type Said = Box<dyn Fn(Option<&str>) -> String + Send + Sync>;

/// A check whose question was put to the catalogue.
pub(super) struct Asked {
    /// What SQL has to answer, or why the check cannot be evaluated.
    pub(super) question: Result<Question, String>,
    /// What a service must have to pass.
    pub(super) wanted: String,
    /// Says what was found of a service.
    pub(super) said: Said,
}

async fn asked<A: Asks + 'static>(check: &Model, facts: Facts<'_>) -> Result<Asked> {
    let own: A = parameters(check);
    let question = match own.question(check, facts).await {
        Ok(question) => Ok(question),
        Err(error @ Error::User(_)) => Err(error.to_string()),
        Err(error) => return Err(error),
    };
    Ok(Asked { question, wanted: own.wanted(), said: Box::new(move |found| own.said(found)) })
}

/// Reads the parameters of a check.
pub(super) fn parameters<A: Asks>(check: &Model) -> A {
    // Mutations write only what can be read, so the fallback is not expected.
    serde_json::from_str(&check.parameters).unwrap_or_default()
}

fn described(wanted: &str) -> String {
    format!("The service has {wanted}.")
}

/// The kind that a word of the SDL's `CheckType` names.
pub(in crate::graphql) fn kind_of(word: &str) -> Option<Kind> {
    Kind::try_from_value(&word.to_owned()).ok()
}

/// The word of the kind that an input creates.
pub fn type_of(input: &str) -> Option<String> {
    Kind::iter().find(|kind| input_of(*kind) == input).map(|kind| kind.to_value())
}

/// The words of all kinds.
pub(in crate::graphql) fn types() -> Vec<String> {
    Kind::iter().map(|kind| kind.to_value()).collect()
}

fn predicates<'c>(stored: impl Iterator<Item = &'c Option<Comparison>>) -> Vec<Option<Predicate>> {
    stored.map(|stored| stored.as_ref().map(Comparison::to_sdl)).collect()
}

/// Defines the kinds: for each its SDL type, its parameters, the fields of its inputs, the mutations that create and
/// change it, and the fields that the SDL type has besides those of all checks: those that a parameter of the same name
/// gives, by its type, and the others as methods.
macro_rules! kinds {
    ($(
        $name:ident $resolver:ident: $kind:ident $own:ident [$($field:ident)*]
        $create:ident $create_one:ident $create_input:ident, $update:ident $update_one:ident $update_input:ident
        $(predicates[$($predicate:ident)*])? $(texts[$($text:ident)*])? $(lists[$($list:ident)*])?
        $(values[$($value:ident: $type:ty),*])? { $($item:item)* }
    )*) => {
        /// The SDL type of a row's kind.
        impl From<Model> for Check {
            fn from(row: Model) -> Self {
                match row.kind {
                    $(Kind::$kind => {
                        let own: kinds::$own = parameters(&row);
                        let description = described(&own.wanted());
                        $name { row, own, description }.into()
                    })*
                }
            }
        }

        /// The name of the input that creates a check of a kind.
        pub(in crate::graphql) fn input_of(kind: Kind) -> &'static str {
            match kind {
                $(Kind::$kind => stringify!($create_input),)*
            }
        }

        /// Creates a check of a kind, or changes it, as the fields of the input say. `is_read` says that the fields are
        /// only read.
        pub(in crate::graphql) async fn write(
            ctx: &MutationCtx<'_>,
            kind: Kind,
            is_there: bool,
            is_read: bool,
            fields: Map<String, Json>,
        ) -> Result<()> {
            match (kind, is_there) {
                $(
                    (Kind::$kind, false) => {
                        let input = ctx.input(stringify!($create_input), fields)?;
                        if is_read { Ok(()) } else { Box::pin(Mutation::$create_one(ctx, input)).await.map(drop) }
                    }
                    (Kind::$kind, true) => {
                        let input = ctx.input(stringify!($update_input), fields)?;
                        if is_read { Ok(()) } else { Box::pin(Mutation::$update_one(ctx, input)).await.map(drop) }
                    }
                )*
            }
        }

        /// What a check asks of a service, in words.
        pub(super) fn description(check: &Model) -> String {
            match check.kind {
                $(Kind::$kind => described(&parameters::<kinds::$own>(check).wanted()),)*
            }
        }

        /// Puts the question of a check.
        pub(super) async fn ask(check: &Model, facts: Facts<'_>) -> Result<Asked> {
            match check.kind {
                $(Kind::$kind => Box::pin(asked::<kinds::$own>(check, facts)).await,)*
            }
        }

        $(
            /// The SDL type of the same name.
            #[derive(Debug)]
            pub struct $name {
                row: Model,
                #[allow(dead_code, reason = "some kinds have no parameters")]
                own: kinds::$own,
                description: String,
            }

            impl $resolver for $name {
                fn id(&self) -> Id {
                    Id::new::<check::Entity>(self.row.id)
                }

                fn name(&self) -> &str {
                    &self.row.name
                }

                fn description(&self) -> Option<&str> {
                    Some(&self.description)
                }

                fn enabled(&self) -> Option<bool> {
                    Some(self.row.enabled || self.row.counts(Timestamp::now()))
                }

                fn enable_on(&self) -> Option<Timestamp> {
                    self.row.enable_at
                }

                fn locked_by(&self) -> Option<&str> {
                    self.row.locked_by.as_deref()
                }

                async fn category(checks: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<Option<Category>>> {
                    let keys = checks.iter().map(|check| Some(check.row.category_id)).collect();
                    Ok(to_its_one(ctx, keys).await?.into_iter().map(Some).collect())
                }

                async fn level(checks: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<Option<Level>>> {
                    let keys = checks.iter().map(|check| Some(check.row.level_id)).collect();
                    Ok(to_its_one(ctx, keys).await?.into_iter().map(Some).collect())
                }

                async fn filter(checks: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<Option<Filter>>> {
                    to_one(ctx, checks.iter().map(|check| check.row.filter_id).collect()).await
                }

                async fn owner(checks: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<Option<Team>>> {
                    to_one(ctx, checks.iter().map(|check| check.row.owner_id).collect()).await
                }

                fn raw_notes(&self) -> Option<&str> {
                    self.row.notes.as_deref()
                }

                fn r#type(&self) -> Option<CheckType> {
                    Some(CheckType::$kind)
                }

                $($(async fn $predicate(checks: &[&Self], _: &Ctx<'_>) -> Result<Vec<Option<Predicate>>> {
                    Ok(predicates(checks.iter().map(|check| &check.own.$predicate)))
                })*)?

                $($(fn $text(&self) -> Option<&str> {
                    self.own.$text.as_deref()
                })*)?

                $($(async fn $list(checks: &[&Self], _: &Ctx<'_>) -> Result<Vec<Option<Vec<String>>>> {
                    Ok(checks.iter().map(|check| check.own.$list.clone()).collect())
                })*)?

                $($(fn $value(&self) -> Option<$type> {
                    Some(self.own.$value)
                })*)?

                $($item)*
            }

            impl $create for Mutation {
                async fn $create_one(ctx: &MutationCtx<'_>, input: $create_input) -> Result<CheckResponsePayload> {
                    let $create_input {
                        category_id, enable_on, enabled, filter_id, level_id, name, notes, owner_id, $($field),*
                    } = input;
                    let mut change = Change::new(ctx, Kind::$kind);
                    let mut own = kinds::$own::default();
                    change.set(Common {
                        category_id: category_id.given(),
                        enable_on,
                        enabled: enabled.given(),
                        filter_id,
                        level_id: level_id.given(),
                        name: name.given(),
                        notes,
                        owner_id,
                    }).await?;
                    own.give(&mut change, $($field.given()),*).await?;
                    change.done(&own).await
                }
            }

            impl $update for Mutation {
                async fn $update_one(ctx: &MutationCtx<'_>, input: $update_input) -> Result<CheckResponsePayload> {
                    let $update_input {
                        category_id, enable_on, enabled, filter_id, id, level_id, name, notes, owner_id, $($field),*
                    } = input;
                    let (mut change, mut own) = Change::open::<kinds::$own>(ctx, Kind::$kind, &id).await?;
                    change.set(Common {
                        category_id, enable_on, enabled, filter_id, level_id, name, notes, owner_id
                    }).await?;
                    own.give(&mut change, $($field.given()),*).await?;
                    change.done(&own).await
                }
            }
        )*
    };
}

kinds! {
    AlertSourceUsageCheck AlertSourceUsageCheckResolver: AlertSourceUsage AlertSourceUsage [alert_source_name_predicate alert_source_type]
    CheckAlertSourceUsageCreateMutation check_alert_source_usage_create CheckAlertSourceUsageCreateInput, CheckAlertSourceUsageUpdateMutation check_alert_source_usage_update CheckAlertSourceUsageUpdateInput
    predicates[alert_source_name_predicate] {
        fn alert_source_type(&self) -> Option<AlertSourceTypeEnum> {
            AlertSourceTypeEnum::from_word(self.own.alert_source_type.as_deref()?)
        }
    }

    CodeIssueCheck CodeIssueCheckResolver: CodeIssue CodeIssue [constraint issue_name issue_type max_allowed resolution_time severity]
    CheckCodeIssueCreateMutation check_code_issue_create CheckCodeIssueCreateInput, CheckCodeIssueUpdateMutation check_code_issue_update CheckCodeIssueUpdateInput
    texts[issue_name] lists[issue_type severity] {
        fn constraint(&self) -> Option<CheckCodeIssueConstraintEnum> {
            CheckCodeIssueConstraintEnum::from_word(&self.own.constraint)
        }
        fn max_allowed(&self) -> Option<i32> {
            self.own.max_allowed
        }
        async fn resolution_time(checks: &[&Self], _: &Ctx<'_>) -> Result<Vec<Option<CodeIssueResolutionTime>>> {
            let times = checks.iter().map(|check| {
                let time = check.own.resolution_time.as_ref()?;
                Some(CodeIssueResolutionTime { unit: Some(time.unit()), value: Some(time.value) })
            });
            Ok(times.collect())
        }
    }

    GitBranchProtectionCheck GitBranchProtectionCheckResolver: GitBranchProtection GitBranchProtection []
    CheckGitBranchProtectionCreateMutation check_git_branch_protection_create CheckGitBranchProtectionCreateInput, CheckGitBranchProtectionUpdateMutation check_git_branch_protection_update CheckGitBranchProtectionUpdateInput
    {}

    HasDocumentationCheck HasDocumentationCheckResolver: HasDocumentation HasDocumentation [document_subtype document_type]
    CheckHasDocumentationCreateMutation check_has_documentation_create CheckHasDocumentationCreateInput, CheckHasDocumentationUpdateMutation check_has_documentation_update CheckHasDocumentationUpdateInput
    {
        fn document_subtype(&self) -> Option<HasDocumentationSubtypeEnum> {
            HasDocumentationSubtypeEnum::from_word(&self.own.document_subtype)
        }
        fn document_type(&self) -> Option<HasDocumentationTypeEnum> {
            HasDocumentationTypeEnum::from_word(&self.own.document_type)
        }
    }

    CustomEventCheck CustomEventCheckResolver: Generic CustomEvent [integration_id pass_pending result_message service_selector success_condition]
    CheckCustomEventCreateMutation check_custom_event_create CheckCustomEventCreateInput, CheckCustomEventUpdateMutation check_custom_event_update CheckCustomEventUpdateInput
    texts[result_message service_selector success_condition] values[pass_pending: bool] {
        async fn integration(checks: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<Option<Integration>>> {
            let keys = checks.iter().map(|check| check.row.integration_id).collect();
            let rows = to_one::<crate::entity::integration::Model>(ctx, keys).await?;
            Ok(rows.into_iter().map(|row| row.map(Integration::from)).collect())
        }
    }

    DependencyTierCheck DependencyTierCheckResolver: DependencyTier DependencyTier []
    CheckDependencyTierCreateMutation check_dependency_tier_create CheckDependencyTierCreateInput, CheckDependencyTierUpdateMutation check_dependency_tier_update CheckDependencyTierUpdateInput
    {}

    DeployMetricsCheck DeployMetricsCheckResolver: DeployMetrics DeployMetrics [days environments max_allowed metric]
    CheckDeployMetricsCreateMutation check_deploy_metrics_create CheckDeployMetricsCreateInput, CheckDeployMetricsUpdateMutation check_deploy_metrics_update CheckDeployMetricsUpdateInput
    lists[environments] values[days: i32, max_allowed: i32] {
        fn metric(&self) -> Option<DeployMetricsCheckMetricEnum> {
            Some(self.own.metric())
        }
    }

    HasRecentDeployCheck HasRecentDeployCheckResolver: HasRecentDeploy HasRecentDeploy [days]
    CheckHasRecentDeployCreateMutation check_has_recent_deploy_create CheckHasRecentDeployCreateInput, CheckHasRecentDeployUpdateMutation check_has_recent_deploy_update CheckHasRecentDeployUpdateInput
    values[days: i32] {}

    ManualCheck ManualCheckResolver: Manual Manual [update_frequency update_requires_comment]
    CheckManualCreateMutation check_manual_create CheckManualCreateInput, CheckManualUpdateMutation check_manual_update CheckManualUpdateInput
    values[update_requires_comment: bool] {
        async fn update_frequency(checks: &[&Self], _: &Ctx<'_>) -> Result<Vec<Option<ManualCheckFrequency>>> {
            let frequencies = checks.iter().map(|check| {
                let frequency = check.own.update_frequency.as_ref()?;
                Some(ManualCheckFrequency {
                    frequency_time_scale: frequency.unit(),
                    frequency_value: frequency.count,
                    starting_date: frequency.start(),
                })
            });
            Ok(frequencies.collect())
        }
    }

    PackageVersionCheck PackageVersionCheckResolver: PackageVersion PackageVersion [missing_package_result package_constraint package_manager package_name package_name_is_regex version_constraint_predicate]
    CheckPackageVersionCreateMutation check_package_version_create CheckPackageVersionCreateInput, CheckPackageVersionUpdateMutation check_package_version_update CheckPackageVersionUpdateInput
    predicates[version_constraint_predicate] texts[package_name] values[package_name_is_regex: bool] {
        fn missing_package_result(&self) -> Option<CheckResultStatusEnum> {
            CheckResultStatusEnum::from_word(self.own.missing_package_result.as_deref()?)
        }
        fn package_constraint(&self) -> Option<PackageConstraintEnum> {
            PackageConstraintEnum::from_word(&self.own.package_constraint)
        }
        fn package_manager(&self) -> Option<PackageManagerEnum> {
            PackageManagerEnum::from_word(&self.own.package_manager)
        }
    }

    RelationshipCheck RelationshipCheckResolver: Relationship Relationship [relationship_count_predicate relationship_definition_id]
    CheckRelationshipCreateMutation check_relationship_create CheckRelationshipCreateInput, CheckRelationshipUpdateMutation check_relationship_update CheckRelationshipUpdateInput
    predicates[relationship_count_predicate] {
        async fn relationship_definition(
            checks: &[&Self],
            ctx: &Ctx<'_>,
        ) -> Result<Vec<Option<RelationshipDefinitionType>>> {
            to_one(ctx, checks.iter().map(|check| check.row.relationship_definition_id).collect()).await
        }
    }

    RepositoryIntegratedCheck RepositoryIntegratedCheckResolver: HasRepository RepositoryIntegrated []
    CheckRepositoryIntegratedCreateMutation check_repository_integrated_create CheckRepositoryIntegratedCreateInput, CheckRepositoryIntegratedUpdateMutation check_repository_integrated_update CheckRepositoryIntegratedUpdateInput
    {}

    RepositoryFileCheck RepositoryFileCheckResolver: RepoFile RepositoryFile [directory_search file_contents_predicate file_paths use_absolute_root]
    CheckRepositoryFileCreateMutation check_repository_file_create CheckRepositoryFileCreateInput, CheckRepositoryFileUpdateMutation check_repository_file_update CheckRepositoryFileUpdateInput
    predicates[file_contents_predicate] lists[file_paths] values[directory_search: bool, use_absolute_root: bool] {}

    RepositoryGrepCheck RepositoryGrepCheckResolver: RepoGrep RepositoryGrep [directory_search file_contents_predicate file_paths]
    CheckRepositoryGrepCreateMutation check_repository_grep_create CheckRepositoryGrepCreateInput, CheckRepositoryGrepUpdateMutation check_repository_grep_update CheckRepositoryGrepUpdateInput
    predicates[file_contents_predicate] lists[file_paths] values[directory_search: bool] {}

    RepositorySearchCheck RepositorySearchCheckResolver: RepoSearch RepositorySearch [file_contents_predicate file_extensions]
    CheckRepositorySearchCreateMutation check_repository_search_create CheckRepositorySearchCreateInput, CheckRepositorySearchUpdateMutation check_repository_search_update CheckRepositorySearchUpdateInput
    predicates[file_contents_predicate] lists[file_extensions] {}

    ServiceConfigurationCheck ServiceConfigurationCheckResolver: HasServiceConfig ServiceConfiguration []
    CheckServiceConfigurationCreateMutation check_service_configuration_create CheckServiceConfigurationCreateInput, CheckServiceConfigurationUpdateMutation check_service_configuration_update CheckServiceConfigurationUpdateInput
    {}

    ServiceDependencyCheck ServiceDependencyCheckResolver: ServiceDependency ServiceDependency []
    CheckServiceDependencyCreateMutation check_service_dependency_create CheckServiceDependencyCreateInput, CheckServiceDependencyUpdateMutation check_service_dependency_update CheckServiceDependencyUpdateInput
    {}

    ServiceOwnershipCheck ServiceOwnershipCheckResolver: HasOwner ServiceOwnership [contact_method require_contact_method tag_key tag_predicate]
    CheckServiceOwnershipCreateMutation check_service_ownership_create CheckServiceOwnershipCreateInput, CheckServiceOwnershipUpdateMutation check_service_ownership_update CheckServiceOwnershipUpdateInput
    predicates[tag_predicate] texts[contact_method tag_key] {
        fn require_contact_method(&self) -> Option<bool> {
            self.own.require_contact_method
        }
    }

    ServicePropertyCheck ServicePropertyCheckResolver: ServiceProperty ServiceProperty [component_type property_definition property_value_predicate service_property]
    CheckServicePropertyCreateMutation check_service_property_create CheckServicePropertyCreateInput, CheckServicePropertyUpdateMutation check_service_property_update CheckServicePropertyUpdateInput
    predicates[property_value_predicate] {
        async fn property_definition(checks: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<Option<PropertyDefinition>>> {
            to_one(ctx, checks.iter().map(|check| check.row.property_definition_id).collect()).await
        }
        fn service_property(&self) -> Option<ServicePropertyTypeEnum> {
            Some(self.own.field())
        }
    }

    TagDefinedCheck TagDefinedCheckResolver: TagDefined TagDefined [tag_key tag_predicate]
    CheckTagDefinedCreateMutation check_tag_defined_create CheckTagDefinedCreateInput, CheckTagDefinedUpdateMutation check_tag_defined_update CheckTagDefinedUpdateInput
    predicates[tag_predicate] texts[tag_key] {}

    ToolUsageCheck ToolUsageCheckResolver: ToolUsage ToolUsage [environment_predicate tool_category tool_name_predicate tool_url_predicate]
    CheckToolUsageCreateMutation check_tool_usage_create CheckToolUsageCreateInput, CheckToolUsageUpdateMutation check_tool_usage_update CheckToolUsageUpdateInput
    predicates[environment_predicate tool_name_predicate tool_url_predicate] {
        fn tool_category(&self) -> Option<ToolCategory> {
            ToolCategory::from_word(&self.own.tool_category)
        }
    }
}
