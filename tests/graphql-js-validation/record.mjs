// Records in cases.json whether graphql-js accepts generated requests over schema/schema.graphql.
//
//   npm ci && node record.mjs            rewrites cases.json
//   npm ci && node record.mjs --check    exits with 1 if a verdict would change
//   npm ci && node record.mjs --ask http://127.0.0.1:8080/graphql TOKEN --seed 7 --cases 100000
//                                        compares this many others with a running server; use a token that may
//                                        only read, and the server --token-limit 0 --ip-limit 0
//   npm ci && node record.mjs --show 7   prints case number 7 (with --seed, of that seed)
//
// Three quarters are valid requests broken in a known way (a kind of breaks.mjs), mutated, or with other variables; the
// rest are valid. The same seed gives the same cases. A case is {kind, query, variables, operationName, verdict}:
// `variables` is JSON text, because 1.0 and 1 are different texts of one number. The verdict is "accepted", or at which
// step it was refused: "syntax", "validation", "root", "operation", "variables", or "arguments".
//
// "root" means that the schema has no root for an operation's type. The specification forbids such an operation since
// 2025 ("Operation Type Existence"). graphql-js 16 refuses to run it, and accepts it beside another operation.
//
// "arguments" means that graphql-js reports the mistake only at a field, during execution: a nullable variable is null in
// a non-null position with a default. The specification allows both. A server that validates the whole request before
// its first resolver refuses it, too. So only an "accepted" request may start to execute.

import { readFileSync, writeFileSync } from 'node:fs';
import {
  buildSchema,
  getArgumentValues,
  getDirectiveValues,
  getNamedType,
  getOperationAST,
  getVariableValues,
  GraphQLError,
  GraphQLIncludeDirective,
  GraphQLSkipDirective,
  isAbstractType,
  isInputObjectType,
  Kind,
  Lexer,
  parse,
  print,
  SchemaMetaFieldDef,
  Source,
  TokenKind,
  TypeMetaFieldDef,
  TypeNameMetaFieldDef,
  validate,
} from 'graphql';
import { breaks, survey } from './breaks.mjs';
import { Author, customScalars } from './document.mjs';
import { Random } from './random.mjs';

const file = (path) => new URL(path, import.meta.url);
const option = (key, otherwise) => {
  const at = process.argv.indexOf(`--${key}`);
  return at < 0 ? otherwise : process.argv[at + 1];
};

const schema = buildSchema(readFileSync(file(option('schema', '../../schema/schema.graphql')), 'utf8'));
for (const [key, { reads, objects, words }] of Object.entries(customScalars)) {
  const isObject = (value) => objects && typeof value === 'object' && value !== null && !Array.isArray(value);
  const read = (value) => {
    if ((typeof value === 'string' && reads.test(value)) || isObject(value)) return value;
    throw new GraphQLError(`not a value of ${key}`);
  };
  const literal = (node) => {
    if (objects && node.kind === Kind.OBJECT) return read({});
    return read(node.kind === Kind.STRING || (words && node.kind === Kind.ENUM) ? node.value : null);
  };
  const type = schema.getType(key);
  if (type) Object.assign(type, { parseValue: read, parseLiteral: literal });
}

// ---- graphql-js's verdict ----

function verdict({ query, variables, operationName }) {
  let document;
  try {
    document = parse(query);
  } catch (error) {
    return { verdict: 'syntax', why: error.message };
  }
  const [mistake] = validate(schema, document);
  if (mistake) return { verdict: 'validation', why: mistake.message };
  const absent = document.definitions.find((it) => it.kind === Kind.OPERATION_DEFINITION && !schema.getRootType(it.operation));
  if (absent) return { verdict: 'root', why: `the schema has no ${absent.operation}` };
  const operation = getOperationAST(document, operationName);
  if (!operation) return { verdict: 'operation', why: 'no such operation' };
  const { errors, coerced } = getVariableValues(schema, operation.variableDefinitions ?? [], JSON.parse(variables));
  if (errors) return { verdict: 'variables', why: errors[0].message };
  try {
    walk(document, operation, coerced);
  } catch (error) {
    return { verdict: 'arguments', why: error.message };
  }
  return { verdict: 'accepted' };
}

/** Reads the arguments of every field that could be executed, as graphql-js does when it executes it. */
function walk(document, operation, variables) {
  const fragments = new Map(document.definitions.filter((it) => it.kind === Kind.FRAGMENT_DEFINITION).map((it) => [it.name.value, it]));
  const meta = { __typename: TypeNameMetaFieldDef, __schema: SchemaMetaFieldDef, __type: TypeMetaFieldDef };
  const objects = (type) => (isAbstractType(type) ? schema.getPossibleTypes(type) : [type]);
  const applies = (type, condition) => !condition || objects(schema.getType(condition.name.value)).includes(type);
  const collect = (type, set, collected, visited) => {
    for (const node of set.selections) {
      if (getDirectiveValues(GraphQLSkipDirective, node, variables)?.if === true) continue;
      if (getDirectiveValues(GraphQLIncludeDirective, node, variables)?.if === false) continue;
      if (node.kind === Kind.FIELD) {
        const key = node.alias?.value ?? node.name.value;
        collected.set(key, [...(collected.get(key) ?? []), node]);
      } else if (node.kind === Kind.INLINE_FRAGMENT) {
        if (applies(type, node.typeCondition)) collect(type, node.selectionSet, collected, visited);
      } else if (!visited.has(node.name.value)) {
        visited.add(node.name.value);
        const fragment = fragments.get(node.name.value);
        if (applies(type, fragment.typeCondition)) collect(type, fragment.selectionSet, collected, visited);
      }
    }
    return collected;
  };
  const enter = (type, sets) => {
    const collected = new Map();
    const visited = new Set();
    for (const set of sets) collect(type, set, collected, visited);
    for (const nodes of collected.values()) {
      const definition = meta[nodes[0].name.value] ?? type.getFields()[nodes[0].name.value];
      getArgumentValues(definition, nodes[0], variables);
      const below = nodes.flatMap((node) => node.selectionSet ?? []);
      if (below.length > 0) for (const object of objects(getNamedType(definition.type))) enter(object, below);
    }
  };
  enter(schema.getRootType(operation.operation), [operation.selectionSet]);
}

// ---- the cases ----

const kinds = Object.keys(breaks);
const isNumber = (text) => /^-?[0-9]/.test(text);
const joined = (pairs) => `{${pairs.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(',')}}`;

/** A valid request: most are at once, some have a variable that is null where there must be a value. */
function valid(random) {
  for (;;) {
    const author = new Author(random, schema);
    const { document, operationName } = author.document();
    const query = print(document);
    const request = { query, variables: joined(author.given()), operationName };
    const { verdict: said } = verdict(request);
    if (said === 'accepted' || said === 'arguments') return { author, ...request };
    discarded += 1;
  }
}
let discarded = 0;

/** The same tokens in another layout. */
function relaid(source, random) {
  const tokens = tokensOf(source);
  const blank = () => random.pick([' ', ' ', '\n', ',', '\t', '\r\n', ' ,, ', '\r', ' # comment "{\n', '\n\n  ', '#\ufeffé😀\n', '\ufeff']);
  return random.pick(['', '\ufeff', '\n#\n']) + tokens.join('\0').replace(/\0/g, blank) + random.pick(['', '\n', ' #', ',']);
}

function tokensOf(source) {
  const lexer = new Lexer(new Source(source));
  const tokens = [];
  for (let token = lexer.advance(); token.kind !== TokenKind.EOF; token = lexer.advance()) {
    tokens.push(source.slice(token.start, token.end));
  }
  return tokens;
}

const words = ['query', 'mutation', 'subscription', 'fragment', 'on', 'null', 'true', 'false', 'id', 'x', '__typename', 'Query', 'Int', 'ID'];
const marks = ['{', '}', '(', ')', '[', ']', ':', '=', '!', '$', '$v1', '@', '@skip', '@include(if: true)', '...', '|', '&'];
const values = ['0', '1', '-1', '2.5', '"x"', '""', '"""b"""', '9999999999', '[]', '{}', '"\\u00e9"', '"\\q"', '#x\n'];
const letters = [...' \n\t,{}()[]:!|&$@=."\\#_aZ09-+eE', '...', '""', '"""', 'é', '😀', '\u0007', '\u007f', '\ufeff', '\u2028', '\\u'];

function mutated(random) {
  const { query, variables, operationName } = valid(random);
  let text = query;
  const some = 1 + random.int(3);
  if (random.chance(0.5)) {
    const tokens = tokensOf(query);
    for (let i = 0; i < some && tokens.length > 0; i++) {
      const at = random.int(tokens.length);
      const way = random.int(5);
      if (way === 0) tokens.splice(at, 1);
      else if (way === 1) tokens.splice(at, 0, tokens[at]);
      else if (way === 2) tokens[at] = random.pick(tokens);
      else if (way === 3) tokens[at] = random.pick(random.pick([words, marks, values]));
      else tokens.splice(at, 0, random.pick(random.pick([words, marks, values])));
    }
    text = tokens.join(' ');
  } else {
    const characters = [...query];
    for (let i = 0; i < some && characters.length > 0; i++) {
      const at = random.int(characters.length);
      const way = random.int(4);
      if (way === 0) characters.splice(at, 1 + random.int(3));
      else if (way === 1) characters.splice(at, 0, random.pick(letters));
      else if (way === 2) characters[at] = random.pick(letters);
      else [characters[at], characters[at - 1 < 0 ? 0 : at - 1]] = [characters[at - 1 < 0 ? 0 : at - 1], characters[at]];
    }
    text = characters.join('');
  }
  return { kind: 'mutated', query: text, variables, operationName };
}

/** Variables of any JSON for a valid document. */
function withOtherVariables(random) {
  for (let tries = 0; tries < 300; tries++) {
    const { author, query, operationName } = valid(random);
    if (author.variables.size === 0) continue;
    const any = ['null', '0', '1', '-1', '1.5', '1.0', '1e9', '2147483647', '2147483648', '9007199254740993', '1e30', '""', '"x"', '"1"', 'true',
      'false', '[]', '{}', '[null]', '[[1]]', '["x"]', '{"id":"x"}', '{"alias":null}', '{"id":1.5}', '[{"key":"a","value":"b"}]', '18446744073709551616'];
    const variables = [...author.variables].flatMap(([key, { type }]) => {
      const way = random.int(10);
      if (way < 2) return [];
      return [[key, way < 8 ? author.json(type) : random.pick(any)]];
    });
    return { kind: 'variables', query, variables: joined(variables), operationName };
  }
  throw new Error('the schema asks for no variables');
}

function broken(random, kind) {
  for (let tries = 0; tries < 600; tries++) {
    const { author, query, variables, operationName } = valid(random);
    const document = structuredClone(parse(query, { noLocation: true }));
    const operation = document.definitions.find((it) => it.kind === Kind.OPERATION_DEFINITION && it.name?.value !== 'Other');
    const pairs = [...author.variables.keys()].filter((key) => key in JSON.parse(variables));
    const raws = pairsOf(variables, pairs);
    const it = { document, operation, operationName, variables: raws, author, random, schema };
    let text;
    const act = breaks[kind];
    if (act.edit) text = act.edit(query, random);
    else {
      it.sites = survey(document, schema);
      if (act(it) !== false) text = print(it.document);
    }
    if (text === undefined || text === query && it.variables === raws && it.operationName === operationName) continue;
    const request = { kind, query: text, variables: joined(it.variables), operationName: it.operationName };
    const said = verdict(request).verdict;
    // A break that left the request valid is not a case of its kind.
    if (said !== 'accepted' && said !== 'arguments') return request;
  }
  return undefined;
}

/** The variables of a JSON text as pairs, their values as they are written. */
function pairsOf(text, keys) {
  const pairs = [];
  let at = 1;
  while (text[at] === '"') {
    const end = text.indexOf('":', at);
    const key = JSON.parse(text.slice(at, end + 1));
    let depth = 0;
    let i = end + 2;
    for (let quoted = false; depth > 0 || quoted || !(text[i] === ',' || text[i] === '}'); i++) {
      if (quoted) {
        if (text[i] === '\\') i += 1;
        else if (text[i] === '"') quoted = false;
      } else if (text[i] === '"') quoted = true;
      else if ('[{'.includes(text[i])) depth += 1;
      else if (']}'.includes(text[i])) depth -= 1;
    }
    if (keys.includes(key)) pairs.push([key, text.slice(end + 2, i)]);
    at = i + 1;
  }
  return pairs;
}

/** The types of all that the schema's fields and directives are given. */
function* given() {
  for (const type of Object.values(schema.getTypeMap())) {
    const fields = 'getFields' in type ? Object.values(type.getFields()) : [];
    for (const it of isInputObjectType(type) ? fields : fields.flatMap(({ args }) => args)) yield getNamedType(it.type);
  }
}
const lacks = (test) => [...given()].every((type) => !test(type));

/** Kinds that nothing of the schema can be broken in; more show themselves when it is tried. */
const impossible = new Set([
  ...kinds.filter((kind) => kind.includes('@oneOf') && lacks((type) => type.isOneOf)),
  ...kinds.filter((kind) => kind.endsWith('not Float') && lacks((type) => type.name === 'Float')),
]);
/** The case number `i` of a seed. */
function make(seed, i) {
  const start = Math.imul(seed, 0x9e3779b1) + Math.imul(i, 0x85ebca6b);
  const random = new Random(start);
  let made;
  const way = i % 20;
  if (way < 5) {
    const { query, variables, operationName } = valid(random);
    made = { kind: 'valid', query: random.chance(0.3) ? relaid(query, random) : query, variables, operationName };
  } else if (way < 14) {
    const turn = Math.floor(i / 20) * 9 + (way - 5);
    for (let next = turn; !made; next++) {
      const kind = kinds[next % kinds.length];
      if (impossible.has(kind)) continue;
      made = broken(new Random(start + next), kind);
      if (!made) impossible.add(kind);
    }
  } else if (way < 17) made = mutated(random);
  else made = withOtherVariables(random);
  return { ...made, ...verdict(made) };
}

// ---- the command line ----

const seed = Number(option('seed', 1));
const count = Number(option('cases', 1000));
const flags = process.argv.slice(2);
const line = ({ kind, query, variables, operationName, verdict: said }) => JSON.stringify({ kind, query, variables, operationName, verdict: said });

const tally = (cases, key) => cases.reduce((counts, it) => ({ ...counts, [it[key]]: (counts[it[key]] ?? 0) + 1 }), {});
const summary = (cases) => {
  const said = Object.entries(tally(cases, 'verdict')).map(([key, n]) => `${n} ${key}`).join(', ');
  return `${cases.length} cases: ${said}; ${Object.keys(tally(cases, 'kind')).length - 3} kinds of broken ones`;
};

function record() {
  const cases = Array.from({ length: count }, (_, i) => make(seed, i));
  writeFileSync(file('cases.json'), `[\n${cases.map(line).join(',\n')}\n]\n`);
  console.log(summary(cases));
  if (impossible.size > 0) console.log(`not in this schema: ${[...impossible].join(', ')}`);
}

/** An addition to the schema would give other cases, and changes no verdict: it is the recorded ones that are checked. */
function check() {
  const cases = JSON.parse(readFileSync(file('cases.json'), 'utf8'));
  const changed = cases.flatMap((it, i) => {
    const now = verdict(it);
    return now.verdict === it.verdict ? [] : [`case ${i}, ${it.kind}: recorded ${it.verdict}, now ${now.verdict} (${now.why ?? ''})`];
  });
  if (changed.length === 0) return console.log(`cases.json is what graphql-js says (${summary(cases)})`);
  console.error(`${changed.slice(0, 20).join('\n')}\n${changed.length} verdicts differ from cases.json; run node record.mjs`);
  process.exitCode = 1;
}

async function ask(url, token) {
  if (!url || !token) throw new Error('usage: node record.mjs --ask URL TOKEN [--seed N] [--cases N]');
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    accept: 'application/graphql-response+json',
  };
  let next = 0;
  let disagreements = 0;
  const verdicts = {};
  const worker = async () => {
    while (next < count) {
      const i = next++;
      const { kind, query, variables, operationName, verdict: said, why } = make(seed, i);
      const body = `{"query":${JSON.stringify(query)},"variables":${variables},"operationName":${JSON.stringify(operationName ?? null)}}`;
      const response = await fetch(url, { method: 'POST', headers, body });
      const text = await response.text();
      // A mutation fails at the token's scope.
      const ours = { 200: 'accepted', 403: 'accepted', 400: 'refused' }[response.status] ?? `status ${response.status}`;
      verdicts[said] = (verdicts[said] ?? 0) + 1;
      if (ours === (said === 'accepted' ? 'accepted' : 'refused')) continue;
      disagreements += 1;
      console.log(`case ${i} of seed ${seed}, ${kind}: graphql-js ${said} (${why ?? ''}), ours ${ours}: ${text.slice(0, 300)}`);
      console.log(`  ${JSON.stringify(query)} ${variables} ${operationName ?? ''}`);
    }
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  console.log(`${count} cases of seed ${seed}, ${disagreements} disagreements: ${JSON.stringify(verdicts)}`);
  process.exitCode = disagreements > 0 ? 1 : 0;
}

if (flags.includes('--ask')) await ask(...flags.slice(flags.indexOf('--ask') + 1));
else if (flags.includes('--show')) console.log(make(seed, Number(option('show'))));
else if (flags.includes('--check')) check();
else record();
