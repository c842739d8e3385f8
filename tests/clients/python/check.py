"""Creates a service and reads it, through gql's DSL over the schema that it reads from the server; see `run`."""

import os
from datetime import datetime

from gql import Client
from gql.dsl import DSLMutation, DSLQuery, DSLSchema, DSLVariableDefinitions, dsl_gql
from gql.transport.exceptions import TransportQueryError
from gql.transport.httpx import HTTPXTransport

ALIAS = "python_client"


def main() -> None:
    headers = {"Authorization": f"Bearer {os.environ['ROLLCALL_TOKEN']}"}
    transport = HTTPXTransport(url=os.environ["ROLLCALL_URL"], headers=headers)
    with Client(transport=transport, fetch_schema_from_transport=True) as session:
        schema = DSLSchema(session.client.schema)
        use(session, schema)


def use(session, schema: DSLSchema) -> None:
    variables = DSLVariableDefinitions()
    payload, error, tag = schema.ServiceCreatePayload, schema.Error, schema.Tag
    create = DSLMutation(
        schema.Mutation.serviceCreate(input=variables.service).select(
            payload.service.select(schema.Service.id, schema.Service.name),
            payload.errors.select(error.message, error.path),
        ),
        schema.Mutation.tagAssign(input={"alias": ALIAS, "tags": [{"key": "made", "value": "by a client"}]}).select(
            schema.TagAssignPayload.errors.select(error.message)
        ),
    )
    create.variable_definitions = variables
    create = dsl_gql(create)
    service = {"name": "Python client", "tierAlias": "tier_1", "language": "Python"}
    create.variable_values = {"service": service}
    created = session.execute(create)
    assert created["serviceCreate"]["errors"] == created["tagAssign"]["errors"] == [], created
    assert created["serviceCreate"]["service"]["name"] == "Python client"

    connection = schema.TagConnectionType
    read = dsl_gql(
        DSLQuery(
            schema.Query.account.select(
                schema.Account.service(alias=ALIAS).select(
                    schema.Service.name,
                    schema.Service.tier.select(schema.Tier.alias),
                    schema.Service.owner.select(schema.Team.name),
                    schema.Service.timestamps.select(schema.Timestamps.createdAt),
                    schema.Service.tags(first=10).select(
                        connection.nodes.select(tag.key, tag.value), connection.totalCount
                    ),
                )
            )
        )
    )
    found = session.execute(read)["account"]["service"]
    assert datetime.fromisoformat(found.pop("timestamps")["createdAt"]), found
    assert found == {
        "name": "Python client",
        "tier": {"alias": "tier_1"},
        "owner": None,
        "tags": {"nodes": [{"key": "made", "value": "by a client"}], "totalCount": 1},
    }, found

    create.variable_values = {"service": {"name": ""}}
    refused = session.execute(create)
    assert [error["path"] for error in refused["serviceCreate"]["errors"]] == [["name"]], refused

    create.variable_values = {"service": {"name": 7}}
    try:
        session.execute(create)
    except TransportQueryError as error:
        assert error.errors[0]["extensions"]["code"] == "BAD_USER_INPUT", error
    else:
        raise AssertionError("a name that is no text is taken")
    print("python: a mutation and a query through gql's DSL")


main()
