// Random valid operations over any schema, as graphql-js's syntax trees, and variables for them as JSON text.
//
// They stay far below the limits that a server publishes (depth, fields, aliases, directives, nesting).

import {
  GraphQLList,
  GraphQLNonNull,
  isAbstractType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  isRequiredArgument,
  isRequiredInputField,
  Kind,
  getNamedType,
  parseType,
} from 'graphql';

export const name = (value) => ({ kind: Kind.NAME, value });
export const variable = (value) => ({ kind: Kind.VARIABLE, name: name(value) });
export const argument = (key, value) => ({ kind: Kind.ARGUMENT, name: name(key), value });
export const objectField = (key, value) => ({ kind: Kind.OBJECT_FIELD, name: name(key), value });
export const directive = (key, args = []) => ({ kind: Kind.DIRECTIVE, name: name(key), arguments: args });
export const selectionSet = (selections) => ({ kind: Kind.SELECTION_SET, selections });
export const field = (key, args = [], selections) => ({
  kind: Kind.FIELD,
  name: name(key),
  arguments: args,
  directives: [],
  selectionSet: selections && selectionSet(selections),
});
export const inline = (condition, selections) => ({
  kind: Kind.INLINE_FRAGMENT,
  typeCondition: condition && { kind: Kind.NAMED_TYPE, name: name(condition) },
  directives: [],
  selectionSet: selectionSet(selections),
});
export const spread = (key) => ({ kind: Kind.FRAGMENT_SPREAD, name: name(key), directives: [] });
export const fragment = (key, condition, selections) => ({
  kind: Kind.FRAGMENT_DEFINITION,
  name: name(key),
  typeCondition: { kind: Kind.NAMED_TYPE, name: name(condition) },
  directives: [],
  selectionSet: selectionSet(selections),
});
export const variableDefinition = (key, type, defaultValue) => ({
  kind: Kind.VARIABLE_DEFINITION,
  variable: variable(key),
  type: parseType(String(type)),
  defaultValue,
  directives: [],
});
/** Any text in the place of a value: graphql-js prints the word of an enum as it is. */
export const raw = (text) => ({ kind: Kind.ENUM, value: text });

const NULL = { kind: Kind.NULL };
const list = (values) => ({ kind: Kind.LIST, values });
const object = (fields) => ({ kind: Kind.OBJECT, fields });

/** Literals of the built-in scalars, as texts. */
const literals = {
  Int: ['0', '-0', '1', '7', '25', '-3', '2147483647', '-2147483648'],
  Float: ['0', '1', '-1', '1.5', '-0.0', '1e3', '1.5E-7', '0.1e+2', '2147483648', '12345678901234567890'],
  Boolean: ['true', 'false'],
  ID: ['"x"', '""', '7', '-1', '0', '"7"', '12345678901234567890', '"gid://rollcall/Service/1"', '"Z2lkOi8v"'],
  String: [
    '""',
    '"x"',
    '"shopping_cart"',
    '"a \\"quoted\\" word"',
    '"tab\\tnew\\nline \\/ \\\\ \\b\\f\\r"',
    '"\\u00e9 \\uD83D\\uDE00"',
    '"\\u{1F600} \\u{e9} \\u{00000041}"',
    '"é 😀 \u2028 \ufeff"',
    '"# no comment"',
    '"""block"""',
    '"""\n  two\n    lines\n"""',
    '"""an escaped \\""" and "quotes" \\u12 \\q"""',
    '""""""',
    '"""\r\n a\r b\n"""',
  ],
};

/** The same as JSON. */
const json = {
  Int: ['0', '-0', '1', '25', '-3', '5.0', '1e2', '-1.0E1', '2147483647', '-2147483648'],
  Float: ['0', '1', '-1.5', '1e3', '5.0', '1e300', '-0.0', '2147483648', '12345678901234567890'],
  Boolean: ['true', 'false'],
  ID: ['"x"', '""', '7', '-1', '5.0', '1e3', '9007199254740993', '12345678901234567890', '1e30', '"é"'],
  String: ['""', '"x"', '"\\u00e9"', '"\\ud83d\\ude00"', '"a\\n\\"b\\" \\/ \\\\"', '"1"', '"true"', '"😀"'],
};

/** The custom scalars of the schemas: what their servers say that they read, and what they do not. */
export const customScalars = {
  ISO8601DateTime: {
    reads: /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])[T ]([01]\d|2[0-3])(:[0-5]\d){2}(\.\d{1,9})? ?(Z|UTC|[+-]\d\d:\d\d)?$/,
    good: ['"2026-11-21T01:44:00Z"', '"2026-01-02T03:04:05.123456789-05:00"', '"2026-01-02 03:04:05"'],
    bad: ['"yesterday"', '""', '5', '1.5', 'true', '{}', '"2026-13-01T00:00:00Z"'],
    badLiterals: ['WORD', '{at: "2026-11-21T01:44:00Z"}'],
  },
  YAML: {
    reads: /^[^]*$/,
    good: ['"a: 1"', '""'],
    bad: ['5', '1.5', 'true', '{}'],
    badLiterals: ['WORD', '{a: 1}'],
  },
  JSON: {
    objects: true,
    reads: /^[^]*$/,
    good: ['"{\\"a\\": 1}"', '"{}"'],
    bad: ['5', '1.5', 'true', '[]'],
    badLiterals: ['WORD'],
  },
  JSONSchema: {
    objects: true,
    reads: /^[^]*$/,
    good: ['"{\\"type\\": \\"string\\"}"', '"{}"'],
    bad: ['5', '1.5', 'true', '[]'],
    badLiterals: ['WORD'],
  },
  // These two accept variables of other types too, which graphql-js cannot know: documents here declare their own.
  ServiceReference: {
    objects: true,
    reads: /^[^]*$/,
    good: ['"shop"', '""'],
    bad: ['1.5', 'true', '[]'],
    badLiterals: ['WORD'],
  },
  IntegrationTypeName: {
    reads: /^[^]*$/,
    good: ['"deploy"', '"aws ecr"'],
    bad: ['5', '1.5', 'true', '{}'],
    badLiterals: [],
  },
  JsonString: {
    reads: /^[^]*$/,
    good: ['"1"', '"true"', '"{}"'],
    bad: ['5', '1.5', 'true', '{}'],
    badLiterals: ['WORD', '{a: 1}'],
  },
  ComponentTypeIconEnum: {
    words: true,
    reads: /^[A-Za-z0-9]{1,64}$/,
    good: ['"PhGear"', '"PhBird"'],
    bad: ['"Ph Gear"', '5', 'true', '{}'],
    badLiterals: ['{at: "PhGear"}'],
  },
  Date: {
    reads: /^\d{4}-\d{2}-\d{2}$/,
    good: ['"2024-02-29"', '"1999-12-31"'],
    bad: ['"yesterday"', '""', '5', '1.5', 'true', '{}'],
    badLiterals: ['WORD', '{at: "2024-02-29"}'],
  },
};

/** Makes one request's document, with the names that it needs. */
export class Author {
  constructor(random, schema) {
    this.random = random;
    this.schema = schema;
    this.variables = new Map();
    this.fragments = [];
    this.fields = 12 + random.int(25);
    this.names = 0;
  }

  /** A document with one operation that is meant to run, and sometimes others; `operation` names it. */
  document() {
    const { random, schema } = this;
    const mutation = schema.getMutationType();
    const root = mutation && random.chance(0.3) ? mutation : schema.getQueryType();
    const isMutation = root === mutation;
    const selections = this.selections(root, 0);
    const operation = {
      kind: Kind.OPERATION_DEFINITION,
      operation: isMutation ? 'mutation' : 'query',
      name: random.chance(0.6) ? name('Operation') : undefined,
      variableDefinitions: [],
      directives: this.directives(isMutation ? 'MUTATION' : 'QUERY', 0.05, true),
      selectionSet: selections,
    };
    for (const [key, { type, defaultValue }] of this.variables) {
      const definition = variableDefinition(key, type, defaultValue);
      definition.directives = this.directives('VARIABLE_DEFINITION', 0.05, true);
      operation.variableDefinitions.push(definition);
    }
    const described = [...operation.variableDefinitions, ...this.fragments.map(({ node }) => node)];
    for (const node of operation.name ? [operation, ...described] : described) {
      if (random.chance(0.04)) node.description = { kind: Kind.STRING, value: 'it, "é"\n{#', block: random.chance(0.5) };
    }
    const definitions = [operation, ...this.fragments.map(({ node }) => node)];
    let operationName;
    if (operation.name && random.chance(0.3)) operationName = operation.name.value;
    if (operation.name && random.chance(0.15)) {
      operationName = operation.name.value;
      const other = { ...operation, operation: 'query', name: name('Other'), variableDefinitions: [], directives: [] };
      definitions.push({ ...other, selectionSet: selectionSet([field('__typename')]) });
    }
    return { document: { kind: Kind.DOCUMENT, definitions: random.shuffle(definitions) }, operationName };
  }

  fresh(prefix) {
    this.names += 1;
    return `${prefix}${this.names}`;
  }

  selections(parent, depth) {
    const { random } = this;
    const count = 1 + random.int(depth === 0 ? 2 : 4);
    const selections = [];
    for (let i = 0; i < count; i++) selections.push(this.selection(parent, depth));
    return selectionSet(selections);
  }

  selection(parent, depth) {
    const { random } = this;
    if (depth < 8 && random.chance(0.18) && this.fields > 0) {
      const type = this.overlapping(parent);
      if (random.chance(0.5)) {
        const known = this.fragments.filter(({ on }) => this.overlap(on, parent));
        if (known.length > 0 && random.chance(0.5)) {
          const node = spread(random.pick(known).node.name.value);
          node.directives = this.directives('FRAGMENT_SPREAD', 0.15);
          return node;
        }
        const key = this.fresh('Fragment');
        const node = fragment(key, type.name, this.selections(type, depth + 1).selections);
        node.directives = this.directives('FRAGMENT_DEFINITION', 0.1);
        this.fragments.push({ on: type, node });
        return { ...spread(key), directives: this.directives('FRAGMENT_SPREAD', 0.15) };
      }
      const bare = random.chance(0.3);
      const node = inline(bare ? undefined : type.name, this.selections(bare ? parent : type, depth + 1).selections);
      node.directives = this.directives('INLINE_FRAGMENT', 0.15);
      return node;
    }
    return this.field(parent, depth);
  }

  field(parent, depth) {
    const { random, schema } = this;
    this.fields -= 1;
    if (parent === schema.getQueryType() && random.chance(0.06)) return this.introspection();
    if (!('getFields' in parent) || random.chance(0.06)) return this.named(field('__typename'));
    const all = Object.values(parent.getFields());
    const leaves = all.filter((definition) => isLeafType(getNamedType(definition.type)));
    const usable = (depth >= 7 || this.fields <= 0) ? leaves : all;
    if (usable.length === 0) return field('__typename');
    const definition = random.pick(usable);
    const node = field(definition.name);
    node.arguments = this.arguments(definition.args);
    node.directives = this.directives('FIELD', 0.1);
    const type = getNamedType(definition.type);
    if (isCompositeType(type)) node.selectionSet = this.selections(type, depth + 1);
    return this.named(node);
  }

  /** The same field, with an alias where it could be in the way of another. */
  named(node) {
    if (node.arguments.length > 0 || node.selectionSet || this.random.chance(0.15)) {
      if (this.random.chance(0.9)) node.alias = name(this.fresh('alias'));
    }
    return node;
  }

  introspection() {
    const type = this.random.pick(Object.keys(this.schema.getTypeMap()));
    const type_ = this.value(new GraphQLNonNull(this.schema.getType('String')), { constant: 0.7 });
    const node = this.random.pick([
      () => field('__schema', [], [field('queryType', [], [field('name')]), field('__typename')]),
      () => field('__type', [argument('name', raw(`"${type}"`))], [field('name'), field('kind')]),
      () => field('__type', [argument('name', type_)], [field('description')]),
      () => field('__schema', [], [
        field('directives', [argument('includeDeprecated', raw('true'))].slice(1), [field('name'), field('locations')]),
      ]),
      () => field('__type', [argument('name', raw(`"${type}"`))], [
        field('fields', [argument('includeDeprecated', raw('true'))], [field('name'), field('type', [], [field('kind')])]),
      ]),
    ])();
    node.alias = name(this.fresh('alias'));
    return node;
  }

  possible(type) {
    return isAbstractType(type) ? this.schema.getPossibleTypes(type) : [type];
  }

  overlap(a, b) {
    const others = this.possible(b);
    return this.possible(a).some((type) => others.includes(type));
  }

  overlapping(parent) {
    const types = Object.values(this.schema.getTypeMap());
    const known = types.filter((type) => isCompositeType(type) && !type.name.startsWith('__'));
    const fitting = known.filter((type) => this.overlap(type, parent));
    return this.random.chance(0.4) || fitting.length === 0 ? parent : this.random.pick(fitting);
  }

  directives(location, probability, constant = false) {
    const { random } = this;
    const directives = [];
    while (random.chance(probability) && directives.length < 2) {
      const used = (definition) => directives.some((node) => node.name.value === definition.name);
      const known = this.schema.getDirectives().filter((it) => it.locations.includes(location));
      const fitting = known.filter((definition) => definition.isRepeatable || !used(definition));
      if (fitting.length === 0) break;
      const definition = random.pick(fitting);
      directives.push(directive(definition.name, this.arguments(definition.args, constant ? 1 : 0.5)));
    }
    return directives;
  }

  arguments(definitions, constant = 0.65) {
    const given = definitions.filter((it) => isRequiredArgument(it) || this.random.chance(0.4));
    const nodes = given.map((it) => argument(it.name, this.value(it.type, { constant, hasDefault: has(it) })));
    return this.random.chance(0.3) ? this.random.shuffle(nodes) : nodes;
  }

  /** A literal, or with the probability of 1 - `constant` a variable, that may stand where a `type` is asked for. */
  value(type, { constant = 0.65, hasDefault = false, depth = 0, inList = false } = {}) {
    const { random } = this;
    if (!random.chance(constant)) return variable(this.usable(type, hasDefault));
    if (isNonNullType(type)) return this.some(type.ofType, { constant, depth, inList });
    return random.chance(0.08) ? NULL : this.some(type, { constant, depth, inList });
  }

  some(type, { constant, depth, inList }) {
    const { random } = this;
    if (isListType(type)) {
      if (!inList && random.chance(0.15)) return this.some(nullable(type.ofType), { constant: 1, depth, inList: false });
      const values = [];
      while (values.length < 4 && random.chance(0.6)) {
        values.push(this.value(type.ofType, { constant, depth: depth + 1, inList: true }));
      }
      return list(values);
    }
    if (isEnumType(type)) return raw(random.pick(type.getValues()).name);
    if (isInputObjectType(type)) {
      const all = Object.values(type.getFields());
      if (type.isOneOf) {
        const one = depth < 4 ? random.pick(all) : all[0];
        return object([objectField(one.name, this.value(new GraphQLNonNull(one.type), { constant, depth: depth + 1 }))]);
      }
      const given = all.filter((it) => isRequiredInputField(it) || (depth < 3 && random.chance(0.35)));
      const value = (it) => this.value(it.type, { constant, hasDefault: has(it), depth: depth + 1 });
      return object(random.shuffle(given).map((it) => objectField(it.name, value(it))));
    }
    const texts = literals[type.name] ?? customScalars[type.name].good;
    return raw(random.pick(texts));
  }

  /** A variable that may stand where a `type` is asked for. */
  usable(type, hasDefault) {
    const { random } = this;
    const own = this.stricter(type);
    const choices = [own];
    if (isNonNullType(type)) choices.push(own.ofType, own.ofType);
    else choices.push(new GraphQLNonNull(own));
    const wanted = random.pick(choices);
    for (const [key, known] of this.variables) {
      const fits = String(known.type) === String(wanted) || String(known.type) === String(type);
      const safe = !isNonNullType(type) || isNonNullType(known.type) || hasDefault || known.defaultValue;
      if (fits && safe && random.chance(0.6)) return key;
    }
    const key = this.fresh('v');
    const mayBeNull = isNonNullType(type) && !isNonNullType(wanted);
    const needsDefault = mayBeNull && !(hasDefault && random.chance(0.5));
    let defaultValue;
    if (needsDefault) defaultValue = this.value(type, { constant: 1, depth: 2 });
    else if (random.chance(0.25)) defaultValue = this.value(wanted, { constant: 1, depth: 2 });
    this.variables.set(key, { type: wanted, defaultValue });
    return key;
  }

  /** The type itself, or one of lists without nulls inside. */
  stricter(type) {
    if (isNonNullType(type)) return new GraphQLNonNull(this.stricter(type.ofType));
    if (isListType(type) && this.random.chance(0.3)) {
      const item = isNonNullType(type.ofType) ? type.ofType : new GraphQLNonNull(type.ofType);
      return new GraphQLList(item);
    }
    return type;
  }

  /** Variables for the document as pairs of a name and JSON text. */
  given() {
    const given = [];
    for (const [key, { type, defaultValue }] of this.variables) {
      const optional = defaultValue || !isNonNullType(type);
      if (!(optional && this.random.chance(0.3))) given.push([key, this.json(type)]);
    }
    if (this.random.chance(0.1)) given.push(['undeclared', '{"a":[null,1]}']);
    return given;
  }

  /** A value of a type as JSON text. */
  json(type, depth = 0) {
    const { random } = this;
    if (isNonNullType(type)) return this.someJson(type.ofType, depth);
    return random.chance(0.12) ? 'null' : this.someJson(type, depth);
  }

  someJson(type, depth) {
    const { random } = this;
    if (isListType(type)) {
      if (random.chance(0.2)) return this.someJson(nullable(type.ofType), depth);
      const items = [];
      while (items.length < 4 && random.chance(0.6)) items.push(this.json(type.ofType, depth + 1));
      return `[${items.join(',')}]`;
    }
    if (isEnumType(type)) return JSON.stringify(random.pick(type.getValues()).name);
    if (isInputObjectType(type)) {
      const all = Object.values(type.getFields());
      const given = type.isOneOf
        ? [depth < 4 ? random.pick(all) : all[0]]
        : all.filter((it) => isRequiredInputField(it) || (depth < 3 && random.chance(0.35)));
      const value = (it) => (type.isOneOf ? this.someJson(nullable(it.type), depth + 1) : this.json(it.type, depth + 1));
      return `{${given.map((it) => `${JSON.stringify(it.name)}:${value(it)}`).join(',')}}`;
    }
    return random.pick(json[type.name] ?? customScalars[type.name].good);
  }
}

const has = (definition) => definition.defaultValue !== undefined;
const nullable = (type) => (isNonNullType(type) ? type.ofType : type);
