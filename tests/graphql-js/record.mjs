// Records in answers.json the responses of graphql-js to queries.json over schema.graphql and data.json.
//
//   npm ci && node record.mjs            rewrites answers.json
//   npm ci && node record.mjs --check    exits with 1 if that would change it
//
// The Rust executor answers the same queries over the same files and is compared with answers.json, so that its
// tests need no Node. Each answer is {name, kind, body, errors}: `body` is the exact text of `data` (missing when
// the request was refused before execution), `errors` is missing when there are none. `kind` is "ok", "execution"
// (executed, with errors) or "request" (refused: syntax, validation, variables, operation name).
//
// graphql is pinned below 16.14, which adds an experimental deprecation of directives to introspection.
//
// Resolvers are synchronous, and a relation succeeds or fails for all parents of a type together, like ours.

import { readFileSync, writeFileSync } from 'node:fs';
import { buildSchema, getIntrospectionQuery, graphqlSync, GraphQLError, validateSchema } from 'graphql';

const file = (name) => new URL(name, import.meta.url);
const read = (name) => readFileSync(file(name), 'utf8');

const schema = buildSchema(read('schema.graphql'));
const data = JSON.parse(read('data.json'));

// ---- the data ----

const types = {
  books: 'Book',
  films: 'Film',
  people: 'Person',
  shelves: 'Shelf',
  calms: 'Calm',
  harshes: 'Harsh',
  wards: 'Ward',
};
const rows = new Map();
for (const [table, typename] of Object.entries(types)) {
  for (const row of data[table]) rows.set(row.id, { ...row, __typename: typename });
}

/** The row an id stands for; lists of ids and nulls become lists of rows and nulls. */
const get = (id) => (Array.isArray(id) ? id.map(get) : id == null ? null : (rows.get(id) ?? null));

/** `list` cut to its first `n`, or whole when `n` is null or absent. */
const cut = (list, n) => (list == null || n == null ? list : list.slice(0, Math.max(n, 0)));

const fail = (message) => {
  throw new Error(message);
};

/** A relation that says `fail` when asked to, else answers what the row holds. */
const relation = (name, answer) => (row, args) => (args.fail != null ? fail(args.fail) : answer(row[name]));
const relations = (names, answer = get) => Object.fromEntries(names.map((name) => [name, relation(name, answer)]));
const same = (value) => value;

const summary = (row, { length, loud }) => {
  const text = Array.from(row.name).slice(0, Math.max(length, 0)).join('');
  return loud ? text + '!' : text;
};
const related = (row, { first }) => get(cut(row.related, first));
const trouble = (_, args) => (args.fail != null ? fail(args.fail) : byId(args.id, ['Calm', 'Harsh']));
const byId = (id, of) => {
  const row = get(id);
  return row !== null && of.includes(row.__typename) ? row : null;
};
const alwaysFails = (name) => (_, args) => fail(args.fail ?? `harsh: ${name}`);

const tally = (counter, by) => {
  counter.value += by;
  counter.history.push(counter.value);
  return { value: counter.value, history: [...counter.history] };
};
const add = (_, { by, fail: message }, counter) => (message != null ? fail(message) : tally(counter, by));

const resolvers = {
  Book: {
    ...relations(['shelf', 'authors', 'sequel', 'borrower']),
    related,
    summary,
  },
  Film: {
    ...relations(['shelf', 'director']),
    related,
    summary,
  },
  Person: {
    ...relations(['friend', 'likes']),
    wrote: (row, { first }) => get(cut(row.wrote, first)),
  },
  Shelf: {
    ...relations(['keeper', 'rows', 'gaps']),
    // `condition: null` and no condition at all both mean every condition.
    holdings: (row, { condition }) =>
      get(row.holdings).filter((holding) => condition == null || holding.condition === condition),
  },
  Calm: {
    ...relations(['word', 'sure'], same),
    ...relations(['one', 'must', 'next', 'kin', 'ward']),
  },
  Harsh: {
    word: alwaysFails('word'),
    sure: alwaysFails('sure'),
    one: alwaysFails('one'),
    must: alwaysFails('must'),
    ...relations(['next', 'kin', 'ward']),
  },
  Ward: {
    ...relations(['loose', 'filled', 'firm', 'strict', 'grid', 'fullGrid', 'firmRows', 'strictGrid']),
    ...relations(['words', 'numbers'], same),
  },
  Query: {
    node: (_, { id }) => get(id),
    nodes: (_, { ids }) => get(ids),
    viewer: () => get(data.viewer),
    shelf: (_, { id }) => byId(id, ['Shelf']),
    shelves: () => get(data.shelves.map((row) => row.id)),
    // Books, then films.
    holdings: (_, { condition, first }) =>
      cut(
        get([...data.books, ...data.films].map((row) => row.id)).filter(
          (row) => condition == null || row.condition === condition,
        ),
        first,
      ),
    // Books, films, people, shelves; upper and lower case differ.
    search: (_, { text, first }) =>
      cut(
        get([...data.books, ...data.films, ...data.people, ...data.shelves].map((row) => row.id)).filter((row) =>
          row.name.includes(text),
        ),
        first,
      ),
    // By id; by name the first of books, films, people, shelves; by range the shelf with the lowest floor that is
    // at least `from`; by list nothing.
    pick: (_, { by }) => {
      if (by.id !== undefined) return get(by.id);
      if (by.name !== undefined) {
        const all = [...data.books, ...data.films, ...data.people, ...data.shelves];
        return get(all.find((row) => row.name === by.name)?.id);
      }
      if (by.range !== undefined) {
        const floors = data.shelves.filter((row) => row.floor >= by.range.from).sort((a, b) => a.floor - b.floor);
        return get(floors[0]?.id);
      }
      return null;
    },
    nothing: () => null,
    empty: () => [],
    trouble,
    mustTrouble: trouble,
    troubles: (_, args) => (args.fail != null ? fail(args.fail) : get(data.troubles)),
    ward: (_, args) => (args.fail != null ? fail(args.fail) : get(data.ward)),
    old: () => 'old',
    older: (_, { than }) => (than == null ? 'older' : `older than ${than}`),
    // graphql-js coerces arguments and input fields in the order of the SDL.
    echo: (_, args) => JSON.stringify(args),
  },
  Tally: {
    now: (_, args, counter) => (args.fail != null ? fail(args.fail) : counter.value),
    note: (_, args) => (args.fail != null ? fail(args.fail) : args.text),
    trouble,
    mustTrouble: trouble,
  },
  Mutation: {
    add,
    mustAdd: add,
    reset: (_, { to }, counter) => {
      counter.value = to ?? 0;
      counter.history.push(counter.value);
      return counter.value;
    },
    addAll: (_, { steps, fail: message }, counter) =>
      message != null ? fail(message) : steps.map((by) => tally(counter, by)),
    undo: () => fail('nothing can be undone'),
  },
};

for (const [typename, fields] of Object.entries(resolvers)) {
  for (const [name, resolve] of Object.entries(fields)) {
    const field = schema.getType(typename).getFields()[name] ?? fail(`no field ${typename}.${name}`);
    field.resolve = resolve;
  }
}

const date = (value) => {
  if (typeof value !== 'string' || !/^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(value)) {
    throw new GraphQLError('A Date looks like 2024-02-29.');
  }
  return value;
};
Object.assign(schema.getType('Date'), {
  parseValue: date,
  parseLiteral: (node) => date(node.kind === 'StringValue' ? node.value : null),
});

const faults = validateSchema(schema);
if (faults.length > 0) fail(faults.map(String).join('\n'));

// ---- running the queries ----

function answer({ name, query, variables, operationName }) {
  const { data: body, errors } = graphqlSync({
    schema,
    source: query,
    contextValue: { value: data.counter, history: [data.counter] },
    variableValues: variables,
    operationName,
  });
  return {
    name,
    kind: body === undefined ? 'request' : errors === undefined ? 'ok' : 'execution',
    body: body === undefined ? undefined : JSON.stringify(body),
    errors: errors?.map((error) => error.toJSON()),
  };
}

/** A JSON list with one element on each line. */
const lines = (list) => `[\n${list.map((item) => JSON.stringify(item)).join(',\n')}\n]\n`;

const cases = JSON.parse(read('queries.json'));
const names = new Set(cases.map(({ name }) => name));
if (names.size !== cases.length) fail('two cases in queries.json have the same name');
for (const { name, query, introspection } of cases) {
  // `introspection` names the options of the query that graphql-js's clients send.
  if (introspection !== undefined && query !== getIntrospectionQuery(introspection)) {
    fail(`${name}: not what getIntrospectionQuery(${JSON.stringify(introspection)}) says`);
  }
}

const answers = cases.map(answer);
const text = lines(answers);
const counts = {};
for (const { kind } of answers) counts[kind] = (counts[kind] ?? 0) + 1;
const summed = `${answers.length} cases: ${Object.entries(counts).map(([kind, n]) => `${n} ${kind}`).join(', ')}`;

if (process.argv.slice(2).includes('--check')) {
  let before = '';
  try {
    before = read('answers.json');
  } catch {
    // None recorded yet: all are new.
  }
  if (before === text) {
    console.log(`answers.json is what graphql-js says (${summed})`);
  } else {
    let old = [];
    try {
      old = JSON.parse(before);
    } catch {
      console.error('answers.json cannot be read');
    }
    const recorded = new Map(old.map((item) => [item.name, JSON.stringify(item)]));
    const differing = [];
    for (const item of answers) {
      const was = recorded.get(item.name);
      recorded.delete(item.name);
      if (was === undefined) differing.push(`+ ${item.name}`);
      else if (was !== JSON.stringify(item)) {
        differing.push(`~ ${item.name}\n    recorded ${was.slice(0, 300)}\n    now      ${JSON.stringify(item).slice(0, 300)}`);
      }
    }
    for (const name of recorded.keys()) differing.push(`- ${name}`);
    console.error(differing.slice(0, 20).join('\n'));
    console.error(
      differing.length > 0
        ? `${differing.length} answers differ from answers.json; run node record.mjs and look at the change`
        : 'answers.json holds the same answers written or ordered differently; run node record.mjs',
    );
    process.exitCode = 1;
  }
} else {
  writeFileSync(file('answers.json'), text);
  console.log(summed);
}
