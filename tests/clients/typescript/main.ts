// Creates a service and reads it, through types that graphql-codegen has generated from the server's schema; see `run`.
import assert from 'node:assert/strict';
import { graphql } from './generated/gql.js';
import type { TypedDocumentString } from './generated/graphql.js';

const create = graphql(`
  mutation Create($service: ServiceCreateInput!, $tags: [TagInput!]!, $alias: String!) {
    serviceCreate(input: $service) {
      service { id name }
      errors { message path }
    }
    tagAssign(input: { alias: $alias, tags: $tags }) {
      errors { message path }
    }
  }
`);

const read = graphql(`
  query Read($alias: String!, $first: Int = 10) {
    account {
      service(alias: $alias) {
        name
        tier { alias }
        owner { name }
        timestamps { createdAt }
        tags(first: $first) { nodes { key value } totalCount pageInfo { hasNextPage } }
      }
    }
  }
`);

async function execute<Result, Variables>(query: TypedDocumentString<Result, Variables>, variables: Variables): Promise<Result> {
  const response = await fetch(process.env.ROLLCALL_URL!, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${process.env.ROLLCALL_TOKEN}`,
      'Content-Type': 'application/json',
      Accept: 'application/graphql-response+json',
    },
    body: JSON.stringify({ query, variables }),
  });
  const { data, errors } = await response.json();
  assert.equal(errors, undefined);
  return data;
}

const alias = 'typescript_client';
const created = await execute(create, {
  service: { name: 'TypeScript client', tierAlias: 'tier_1', language: 'TypeScript' },
  alias,
  tags: [{ key: 'made', value: 'by a client' }],
});
assert.deepEqual(created.serviceCreate?.errors, []);
assert.deepEqual(created.tagAssign?.errors, []);
assert.equal(created.serviceCreate?.service?.name, 'TypeScript client');

const { account } = await execute(read, { alias });
const since: string | undefined = account.service?.timestamps.createdAt;
assert.ok(since && !Number.isNaN(Date.parse(since)));
assert.equal(account.service?.tier?.alias, 'tier_1');
assert.equal(account.service?.owner, null);
assert.deepEqual(account.service?.tags, {
  nodes: [{ key: 'made', value: 'by a client' }],
  totalCount: 1,
  pageInfo: { hasNextPage: false },
});

const again = await execute(create, { service: { name: '' }, alias, tags: [] });
assert.deepEqual(again.serviceCreate?.errors.map((error) => error.path), [['name']]);
console.log('typescript: a mutation and a query through generated types');
