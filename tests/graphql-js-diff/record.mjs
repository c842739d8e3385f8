// Writes expected.json: for every pair of schemas in cases/, the breaking and the dangerous changes
// graphql-js finds, for tests/it/project/schema_diff.rs. With --check it writes nothing, and fails if
// expected.json would change.
//
// A file of cases/ is a list of pairs, each "### name", the old SDL, "# becomes", the new SDL.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import {
  BreakingChangeType,
  DangerousChangeType,
  buildSchema,
  findBreakingChanges,
  findDangerousChanges,
  validateSchema,
  version,
} from 'graphql';

const cases = new URL('cases/', import.meta.url);
const expected = new URL('expected.json', import.meta.url);

function pairs(file) {
  const text = readFileSync(new URL(file, cases), 'utf8');
  return text.split(/^### /m).slice(1).map((pair) => {
    const name = pair.slice(0, pair.indexOf('\n')).trim();
    const sides = pair.slice(pair.indexOf('\n')).split(/^# becomes$/m);
    if (sides.length !== 2) {
      throw new Error(`${file}: "${name}" needs one line "# becomes"`);
    }
    return { name: `${file.replace('.graphql', '')}: ${name}`, old: sides[0].trim(), new: sides[1].trim() };
  });
}

function schema(name, sdl) {
  const built = buildSchema(sdl);
  const [error] = validateSchema(built);
  if (error) {
    throw new Error(`${name}: ${error.message}`);
  }
  return built;
}

function changes(pair) {
  const [older, newer] = [schema(pair.name, pair.old), schema(pair.name, pair.new)];
  const list = (of, changes) =>
    changes.map(({ type, description }) => ({ class: of, kind: type, description }));
  return [
    ...list('breaking', findBreakingChanges(older, newer)),
    ...list('dangerous', findDangerousChanges(older, newer)),
  ];
}

const recorded = {
  graphql: version,
  breakingKinds: Object.keys(BreakingChangeType),
  dangerousKinds: Object.keys(DangerousChangeType),
  cases: readdirSync(cases)
    .filter((file) => file.endsWith('.graphql'))
    .sort()
    .flatMap(pairs)
    .map((pair) => ({ ...pair, changes: changes(pair) })),
};
const text = JSON.stringify(recorded, null, 1) + '\n';

if (!process.argv.includes('--check')) {
  writeFileSync(expected, text);
  console.log(`${recorded.cases.length} pairs recorded with graphql ${version}`);
} else if (readFileSync(expected, 'utf8') !== text) {
  console.error('tests/graphql-js-diff/expected.json is not what graphql-js says: run node record.mjs');
  process.exit(1);
}
