//! Whole documents as existing clients of this API send them: generated from structs, minified, with every field of a
//! type, lists within lists, and variables sorted by name. Each must be answered without an error.

use serde_json::{Value, json};

use crate::harness::tour::Tour;

const PAGE: &str = "pageInfo{hasNextPage,hasPreviousPage,startCursor,endCursor},totalCount";
const LEVEL: &str = "alias,checks{id,name},description,id,index,name";
const TIER: &str = "alias,description,id,index,name";
const CONTACT: &str = "address,displayName,displayType,externalId,id,isDefault,type";
const LINK: &str = "baseDirectory,displayName,id,repository{id,defaultAlias},service{id,aliases}";
const ERRORS: &str = "errors{message,path}";

fn tags() -> String {
    format!("tags{{nodes{{id,key,value}},{PAGE}}}")
}

fn team() -> String {
    let (tags, contacts) = (tags(), format!("contacts{{{CONTACT}}}"));
    format!(
        "alias,id,aliases,managedAliases,{contacts},htmlUrl,manager{{id,email,{contacts},htmlUrl,name,provisionedBy,role}},memberships{{nodes{{role,team{{alias,id}},user{{id,email}}}},{PAGE}}},name,parentTeam{{alias,id}},responsibilities,{tags}"
    )
}

fn service() -> String {
    let tags = tags();
    format!(
        "apiDocumentPath,description,framework,htmlUrl,id,aliases,language,lifecycle{{{TIER}}},locked,managedAliases,maturityReport{{overallLevel{{{LEVEL}}}}},name,note,owner{{alias,id}},parent{{id,aliases}},preferredApiDocument{{id,htmlUrl,source{{... on ApiDocIntegration{{id,name,type}},... on ServiceRepository{{{LINK}}}}},timestamps{{createdAt,updatedAt}}}},preferredApiDocumentSource,product,repos{{edges{{node{{id,defaultAlias}},serviceRepositories{{{LINK}}}}},{PAGE}}},defaultServiceRepository{{{LINK}}},{tags},tier{{{TIER}}},timestamps{{createdAt,updatedAt}},tools{{nodes{{category,categoryAlias,displayName,environment,id,url,service{{id,aliases}}}},{PAGE}}},type{{id,aliases}}"
    )
}

fn repository() -> String {
    let tags = tags();
    format!(
        "archivedAt,createdOn,defaultAlias,defaultBranch,description,forked,htmlUrl,id,languages{{name,usage}},lastOwnerChangedAt,locked,name,organization,owner{{alias,id}},private,repoKey,sbomGenerationConfiguration{{disabledReason,enabled,nextGenerationAt,state}},services{{edges{{atRoot,node{{id,aliases}},paths{{href,path}},serviceRepositories{{{LINK}}}}},{PAGE}}},{tags},tier{{{TIER}}},type,url,visible"
    )
}

fn integration() -> &'static str {
    "id,name,type,createdAt,installedAt,displayName,webhookUrl,... on AwsIntegration{iamRole,externalId,awsTagsOverrideOwnership,ownershipTagKeys,regionOverride},... on AzureResourcesIntegration{aliases,ownershipTagKeys,subscriptionId,tagsOverrideOwnership,tenantId},... on GoogleCloudIntegration{aliases,clientEmail,ownershipTagKeys,projects{id,name,url},tagsOverrideOwnership},... on KubernetesIntegration{extractDefinition,transformDefinition},... on NewRelicIntegration{baseUrl,accountKey}"
}

fn system() -> String {
    let tags = tags();
    format!(
        "id,aliases,managedAliases,name,description,htmlUrl,owner{{... on Team{{teamAlias:alias,id}}}},parent{{id,aliases}},note,{tags}"
    )
}

fn user() -> String {
    format!("id,email,contacts{{{CONTACT}}},htmlUrl,name,provisionedBy,role")
}

const FILTER: &str = "id,name,connective,htmlUrl,predicates{caseSensitive,key,keyData,type,value}";

/// The documents, each with its variables.
fn documents(tour: &Tour) -> Vec<(String, Value)> {
    let id = |name: &str| tour.id(name);
    let (service, team, repository, system) = (service(), team(), repository(), system());
    let (user, integration, tags) = (user(), integration(), tags());
    let domain = system.replace("parent{id,aliases},", "");
    let page = json!({ "after": "", "first": 500 });
    let with = |mut variables: Value, name: &str, value: Value| {
        variables[name] = value;
        variables
    };
    let list = |name: &str, field: &str, fields: &str| {
        format!(
            "query {name}($after:String!$first:Int!){{account{{{field}(after: $after, first: $first){{nodes{{{fields}}},{PAGE}}}}}}}"
        )
    };
    vec![
        (
            format!("query ServiceGet($service:ID!){{account{{service(id: $service){{{service}}}}}}}"),
            json!({ "service": id("shop") }),
        ),
        (list("ServiceList", "services", &service), page.clone()),
        (
            format!(
                "query ServiceListWithTier($after:String!$first:Int!$tier:String!){{account{{services(after: $after, first: $first, tierAlias: $tier){{nodes{{{service}}},{PAGE}}}}}}}"
            ),
            with(page.clone(), "tier", json!("tier_1")),
        ),
        (
            format!(
                "query ServiceListWithTag($after:String!$first:Int!$tag:TagArgs!){{account{{services(after: $after, first: $first, tag: $tag){{nodes{{{service}}},{PAGE}}}}}}}"
            ),
            with(page.clone(), "tag", json!({ "key": "env", "value": "prod" })),
        ),
        (
            format!(
                "query ServiceListWithFilter($after:String!$filter:IdentifierInput!$first:Int!){{account{{services(after: $after, filterIdentifier: $filter, first: $first){{nodes{{{service}}},{PAGE}}}}}}}"
            ),
            with(page.clone(), "filter", json!({ "id": id("vital") })),
        ),
        (
            format!(
                "query ServiceListWithInputFilter($after:String!$filter:[ServiceFilterInput!]$first:Int!){{account{{services(after: $after, filter: $filter, first: $first){{nodes{{{service}}},{PAGE}}}}}}}"
            ),
            with(page.clone(), "filter", json!([{ "key": "name", "type": "contains", "arg": "hop", "connective": null }])),
        ),
        (
            format!(
                "query ServiceDependenciesList($after:String!$first:Int!$service:ID!){{account{{service(id: $service){{dependencies(after: $after, first: $first){{edges{{id,locked,node{{id,aliases}},notes}},{PAGE}}},dependents(after: $after, first: $first){{edges{{id,locked,node{{id,aliases}},notes}},{PAGE}}}}}}}}}"
            ),
            with(page.clone(), "service", id("shop")),
        ),
        (
            format!(
                "query ServiceDocumentsList($after:String!$first:Int!$searchTerm:String!$service:ID!){{account{{service(id: $service){{documents(searchTerm: $searchTerm, after: $after, first: $first){{nodes{{id,htmlUrl,source{{... on ApiDocIntegration{{id,name,type}},... on ServiceRepository{{{LINK}}}}},timestamps{{createdAt,updatedAt}}}},{PAGE}}}}}}}}}"
            ),
            with(with(page.clone(), "service", id("shop")), "searchTerm", json!("")),
        ),
        (
            format!(
                "query ServiceOnCallsList($after:String!$first:Int!$service:ID!){{account{{service(id: $service){{onCalls(after: $after, first: $first){{nodes{{externalEmail,gravatarHref:url,id,name,user{{{user}}}}},{PAGE}}}}}}}}}"
            ),
            with(page.clone(), "service", id("shop")),
        ),
        (
            "query DocumentGet($id:ID!){account{document(id: $id){id,htmlUrl,source{... on ApiDocIntegration{id,name,type}},timestamps{createdAt,updatedAt},content}}}"
                .to_owned(),
            json!({ "id": id("document API documents") }),
        ),
        (
            format!("query TeamGet($team:ID!){{account{{team(id: $team){{{team}}}}}}}"),
            json!({ "team": id("Core") }),
        ),
        (list("TeamList", "teams", &team), page.clone()),
        (
            format!(
                "query TeamListWithManager($after:String!$email:String!$first:Int!){{account{{teams(managerEmail: $email, after: $after, first: $first){{nodes{{{team}}},{PAGE}}}}}}}"
            ),
            with(page.clone(), "email", json!("ada@example.com")),
        ),
        (
            format!(
                "query TeamSearch($after:String!$first:Int!$searchTerm:String!){{account{{teams(searchTerm: $searchTerm, after: $after, first: $first){{nodes{{{team}}},{PAGE}}}}}}}"
            ),
            with(page.clone(), "searchTerm", json!("core")),
        ),
        (
            format!("query RepositoryGet($repo:ID!){{account{{repository(id: $repo){{{repository}}}}}}}"),
            json!({ "repo": id("repository") }),
        ),
        (
            format!(
                "query RepositoryList($after:String!$first:Int!$visible:Boolean!){{account{{repositories(after: $after, first: $first, visible: $visible){{hiddenCount,nodes{{{repository}}},organizationCount,ownedCount,{PAGE},visibleCount}}}}}}"
            ),
            with(page.clone(), "visible", json!(true)),
        ),
        (
            format!(
                "query RepositoryListWithTier($after:String!$first:Int!$tier:String!$visible:Boolean!){{account{{repositories(after: $after, first: $first, tierAlias: $tier, visible: $visible){{hiddenCount,nodes{{{repository}}},organizationCount,ownedCount,{PAGE},visibleCount}}}}}}"
            ),
            with(with(page.clone(), "visible", json!(true)), "tier", json!("tier_1")),
        ),
        (
            format!("query UserGet($input:UserIdentifierInput!){{account{{user(input: $input){{{user}}}}}}}"),
            json!({ "input": { "email": "ada@example.com", "id": null } }),
        ),
        (
            format!(
                "query UserList($after:String!$filter:[UsersFilterInput!]$first:Int!){{account{{users(after: $after, filter: $filter, first: $first){{nodes{{{user}}},{PAGE}}}}}}}"
            ),
            with(page.clone(), "filter", Value::Null),
        ),
        (
            format!("query IntegrationGet($id:ID!){{account{{integration(id: $id){{{integration}}}}}}}"),
            json!({ "id": id("Aws") }),
        ),
        (list("IntegrationList", "integrations", integration), page.clone()),
        (
            format!("query SystemGet($input:IdentifierInput!){{account{{system(input: $input){{{system}}}}}}}"),
            json!({ "input": { "alias": "till", "id": null } }),
        ),
        (list("SystemsList", "systems", &system), page.clone()),
        (
            format!(
                "query SystemChildServicesList($after:String!$first:Int!$system:IdentifierInput!){{account{{system(input: $system){{childServices(after: $after, first: $first){{nodes{{{service}}},{PAGE}}}}}}}}}"
            ),
            with(page.clone(), "system", json!({ "id": id("Till") })),
        ),
        (
            format!("query DomainGet($input:IdentifierInput!){{account{{domain(input: $input){{{domain}}}}}}}"),
            json!({ "input": { "alias": "commerce" } }),
        ),
        (list("DomainsList", "domains", &domain), page.clone()),
        (
            format!(
                "query DomainChildSystemsList($after:String!$domain:IdentifierInput!$first:Int!){{account{{domain(input: $domain){{childSystems(after: $after, first: $first){{nodes{{{system}}},{PAGE}}},{tags}}}}}}}"
            ),
            with(page.clone(), "domain", json!({ "id": id("Commerce") })),
        ),
        (
            format!("query FilterGet($id:ID!){{account{{filter(id: $id){{{FILTER}}}}}}}"),
            json!({ "id": id("vital") }),
        ),
        (list("FilterList", "filters", FILTER), page.clone()),
        (
            format!(
                "query RubricList{{account{{rubric{{categories{{nodes{{description,id,name}},{PAGE}}},levels{{nodes{{{LEVEL}}},{PAGE}}}}}}}}}"
            ),
            json!({}),
        ),
        (
            format!("query LevelGet($id:ID!){{account{{level(id: $id){{{LEVEL}}}}}}}"),
            json!({ "id": id("bronze") }),
        ),
        (
            "query CategoryGet($id:ID!){account{category(id: $id){description,id,name}}}".to_owned(),
            json!({ "id": id("security") }),
        ),
        (
            format!("query TierList{{account{{tiers{{{TIER}}},lifecycles{{{TIER}}}}}}}"),
            json!({}),
        ),
        (
            "query ComponentTypeGet($input:IdentifierInput!){account{componentType(input: $input){id,aliases,description,href,icon{color,name},isDefault,name,timestamps{createdAt,updatedAt}}}}"
                .to_owned(),
            json!({ "input": { "alias": "service" } }),
        ),
        (
            list(
                "ComponentTypeList",
                "componentTypes",
                "id,aliases,description,href,icon{color,name},isDefault,name,timestamps{createdAt,updatedAt}",
            ),
            page.clone(),
        ),
        (
            "query AlertSourceGet($externalIdentifier:AlertSourceExternalIdentifier!){account{alertSource(externalIdentifier: $externalIdentifier){description,externalId,id,integration{id,name,type},metadata,name,type,url}}}"
                .to_owned(),
            json!({ "externalIdentifier": { "externalId": "m", "type": "custom" } }),
        ),
    ]
}

#[tokio::test]
async fn every_query_that_clients_send_is_answered_in_full() {
    let tour = Tour::start().await;
    let documents = documents(&tour);
    assert!(documents.len() > 30);
    for (document, variables) in documents {
        let answer = tour.endpoint.app.query(&document, variables).await;
        assert_eq!(answer.get("errors"), None, "{document}\n{answer}");
        let account = answer["data"]["account"].as_object().expect("an account");
        assert!(account.values().all(|value| !value.is_null()), "{document}\n{answer}");
    }
}

/// A mutation in the form in which clients send it, with the fields of its payload.
fn mutation(name: &str, arguments: &[(&str, &str)], payload: &str) -> String {
    let declared: String = arguments.iter().map(|(argument, ty)| format!("${argument}:{ty}")).collect();
    let given: Vec<String> = arguments.iter().map(|(argument, _)| format!("{argument}: ${argument}")).collect();
    let comma = if payload.is_empty() { "" } else { "," };
    format!("mutation M({declared}){{{name}({}){{{payload}{comma}{ERRORS}}}}}", given.join(", "))
}

#[tokio::test]
async fn explicit_nulls_mean_no_value_on_create_and_clear_on_update() {
    let tour = Tour::start().await;
    let service = format!("service{{{}}}", service());
    let integration = format!("integration{{{}}}", integration());
    let system = format!("system{{{}}}", system());
    let id = |name: &str| tour.id(name);
    let input = |ty: &'static str| [("input", ty)];
    let cases = [
        (
            mutation("serviceCreate", &input("ServiceCreateInput!"), &service),
            json!({ "input": {
                "name": "Nulls", "description": null, "framework": null, "language": null, "lifecycleAlias": null, "ownerAlias": null,
                "ownerInput": null, "parent": null, "product": null, "skipAliasesValidation": null, "tierAlias": null, "type": null,
            } }),
        ),
        (
            mutation("serviceUpdate", &input("ServiceUpdateInput!"), &service),
            json!({ "input": {
                "id": id("shop"), "description": null, "framework": null, "language": null, "lifecycleAlias": null,
                "ownerInput": null, "parent": null, "product": null, "skipAliasesValidation": false, "tierAlias": null, "type": null,
            } }),
        ),
        (
            mutation("teamCreate", &input("TeamCreateInput!"), &format!("team{{{}}}", team())),
            json!({ "input": {
                "name": "Nulls", "contacts": null, "group": null, "managerEmail": null, "members": null, "parentTeam": null,
                "responsibilities": null,
            } }),
        ),
        (
            mutation("teamUpdate", &input("TeamUpdateInput!"), &format!("team{{{}}}", team())),
            json!({ "input": {
                "id": id("Core"), "group": null, "managerEmail": null, "parentTeam": null, "responsibilities": null,
            } }),
        ),
        (
            mutation("systemCreate", &input("SystemInput!"), &system),
            json!({ "input": { "name": "Nulls", "description": null, "note": null, "ownerId": null, "parent": null } }),
        ),
        (
            mutation("systemUpdate", &[("input", "SystemInput!"), ("system", "IdentifierInput!")], &system),
            json!({ "system": { "id": id("Till") }, "input": { "description": null, "note": null, "ownerId": null, "parent": null } }),
        ),
        (
            mutation("repositoryUpdate", &input("RepositoryUpdateInput!"), &format!("repository{{{}}}", repository())),
            json!({ "input": { "id": id("repository"), "ownerId": null, "sbomGeneration": null } }),
        ),
        (
            mutation("filterCreate", &input("FilterCreateInput!"), &format!("filter{{{FILTER}}}")),
            json!({ "input": { "name": "Nulls", "connective": null, "predicates": [
                { "key": "tier_index", "type": "equals", "value": "1", "keyData": null, "caseSensitive": null },
            ] } }),
        ),
        (
            mutation(
                "toolCreate",
                &input("ToolCreateInput!"),
                "tool{category,categoryAlias,displayName,environment,id,url,service{id,aliases}}",
            ),
            json!({ "input": {
                "category": "other", "displayName": "T", "environment": null, "serviceAlias": null, "serviceId": id("shop"),
                "url": "https://t.example.com",
            } }),
        ),
        (
            mutation("contactCreate", &input("ContactCreateInput!"), &format!("contact{{{CONTACT}}}")),
            json!({ "input": {
                "address": "x@example.com", "displayName": null, "displayType": null, "externalId": null, "ownerId": id("Core"),
                "teamAlias": null, "teamId": null, "type": "email",
            } }),
        ),
        (
            mutation(
                "userInvite",
                &[("email", "String!"), ("forceSendInvite", "Boolean"), ("input", "UserInput!")],
                &format!("user{{{}}}", user()),
            ),
            json!({ "email": "nulls@example.com", "forceSendInvite": null, "input": { "name": null, "role": null, "skipWelcomeEmail": null } }),
        ),
        (
            mutation("eventIntegrationCreate", &input("EventIntegrationInput!"), &integration),
            json!({ "input": { "name": null, "type": "githubActions" } }),
        ),
        (
            mutation("kubernetesIntegrationCreate", &input("KubernetesIntegrationInput!"), &integration),
            json!({ "input": { "name": null, "extractDefinition": null, "transformDefinition": null } }),
        ),
        (
            mutation("levelCreate", &input("LevelCreateInput!"), &format!("level{{{LEVEL}}}")),
            json!({ "input": { "name": "Nulls", "description": null, "index": null } }),
        ),
        (
            mutation(
                "serviceRepositoryUpdate",
                &input("ServiceRepositoryUpdateInput!"),
                &format!("serviceRepository{{{LINK}}}"),
            ),
            json!({ "input": { "id": id("link"), "baseDirectory": null, "displayName": null } }),
        ),
    ];
    for (document, variables) in cases {
        let answer = tour.endpoint.app.query(&document, variables).await;
        assert_eq!(answer.get("errors"), None, "{document}\n{answer}");
        let payload = answer["data"].as_object().and_then(|data| data.values().next()).expect("a payload").clone();
        assert_eq!(payload["errors"], json!([]), "{document}\n{answer}");
        let object = payload.as_object().and_then(|payload| payload.values().find(|value| value.is_object()));
        assert!(object.is_some(), "{document}\n{answer}");
    }
}
