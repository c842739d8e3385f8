// The kinds of broken requests. Each breaks a valid request in one way, or reports that it cannot.
//
// A break gets {document, variables, operationName, operation, sites, author, random, schema}, changes the first
// three in place, and returns false if there is nothing to break. One of `text` changes the printed text.

import {
  getNamedType,
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
  parse,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import {
  argument,
  customScalars,
  directive,
  field,
  fragment,
  inline,
  name,
  objectField,
  raw,
  selectionSet,
  spread,
  variable,
  variableDefinition,
} from './document.mjs';

/** All places of a document where something may be broken, with what the schema says of them. */
export function survey(document, schema) {
  const types = new TypeInfo(schema);
  const sites = { fields: [], sets: [], values: [], objects: [] };
  const note = (node, holder, key) => {
    const type = types.getInputType();
    if (type) sites.values.push({ node, type, put: (value) => (holder[key] = value), constant: constant > 0 });
  };
  let constant = 0;
  visit(
    document,
    visitWithTypeInfo(types, {
      Field: (node) => void sites.fields.push({ node, parent: types.getParentType(), definition: types.getFieldDef() }),
      SelectionSet: (node) => void sites.sets.push({ node, parent: types.getParentType() }),
      VariableDefinition: { enter: () => void (constant += 1), leave: () => void (constant -= 1) },
      Argument: (node) => note(node.value, node, 'value'),
      ObjectField: (node) => note(node.value, node, 'value'),
      ObjectValue: (node) => {
        const type = getNamedType(types.getInputType());
        if (isInputObjectType(type)) sites.objects.push({ node, type });
      },
      ListValue: (node) => {
        // For the value of a list, the type of its items.
        const type = types.getInputType();
        if (type) node.values.forEach((value, i) => {
          sites.values.push({ node: value, type, put: (it) => (node.values[i] = it), constant: constant > 0 });
        });
      },
    }),
  );
  sites.fragments = document.definitions.filter((node) => node.kind === Kind.FRAGMENT_DEFINITION);
  return sites;
}

const inner = (type) => (isNonNullType(type) ? type.ofType : type);
const find = (it, list, test) => {
  const fitting = list.filter(test);
  return fitting.length > 0 ? it.random.pick(fitting) : undefined;
};
/** Does it to one fitting site, if there is one. */
const at = (where, test, act) => (it) => {
  const site = find(it, it.sites[where], (candidate) => test(candidate, it));
  return site !== undefined && act(site, it) !== false;
};
const anything = () => true;
const addDefinition = (text) => (it) => void it.document.definitions.push(...parse(text).definitions);
const composite = ({ definition }) => definition && isCompositeType(getNamedType(definition.type));
const leaf = ({ definition }) => definition && isLeafType(getNamedType(definition.type));

export const breaks = {};

// ---- unknown names ----

breaks['unknown field'] = at('sets', anything, ({ node }) => void node.selections.push(field('nothing')));
breaks['unknown field with a selection'] = at('sets', anything, ({ node }) => {
  node.selections.push(field('nothing', [], [field('id')]));
});
breaks['field in another case'] = at('fields', ({ node }) => !node.name.value.startsWith('__'), ({ node }) => {
  const [first, ...rest] = node.name.value;
  node.name = name(first === first.toUpperCase() ? `x${first}` : first.toUpperCase() + rest.join(''));
});
breaks['field of an object on its interface'] = at(
  'sets',
  ({ parent }, { schema }) => parent && 'getInterfaces' in parent && parent.getInterfaces().length > 0,
  ({ node, parent }, { random }) => {
    const shared = random.pick(parent.getInterfaces());
    const own = Object.values(parent.getFields()).filter((it) => !shared.getFields()[it.name] && isLeafType(getNamedType(it.type)));
    if (own.length === 0) return false;
    node.selections.push(inline(shared.name, [field(random.pick(own).name)]));
  },
);
breaks['unknown argument'] = at('fields', anything, ({ node }) => {
  node.arguments = [...node.arguments, argument('nothing', raw('1'))];
});
breaks['unknown argument of a directive'] = at('fields', anything, ({ node }) => {
  node.directives = [directive('skip', [argument('if', raw('true')), argument('unless', raw('true'))])];
});
breaks['unknown directive'] = at('fields', anything, ({ node }) => {
  node.directives = [...node.directives, directive('nothing')];
});
breaks['unknown type of a fragment'] = at('sets', anything, ({ node }) => {
  node.selections.push(inline('Nothing', [field('__typename')]));
});
breaks['unknown type of a variable'] = ({ operation }) => {
  operation.variableDefinitions.push(variableDefinition('broken', 'Nothing'));
};
breaks['unknown fragment'] = at('sets', anything, ({ node }) => void node.selections.push(spread('Nothing')));
breaks['unknown variable'] = at('values', ({ constant }) => !constant, ({ put }) => void put(variable('nothing')));
breaks['unknown variable in a directive'] = at('fields', anything, ({ node }) => {
  node.directives = [directive('include', [argument('if', variable('nothing'))])];
});
breaks['variable of another operation'] = ({ document, operation, operationName }) => {
  operation.name ??= name('Operation');
  const [other] = parse('query Broken($b: Boolean!) { __typename @skip(if: $b) }').definitions;
  const [user] = parse('query User { __typename @skip(if: $b) }').definitions;
  document.definitions.push(other, user);
};
breaks['unknown operation name'] = (it) => void (it.operationName = 'Nothing');
breaks['empty operation name'] = (it) => void (it.operationName = '');
breaks['no operation name for several'] = (it) => {
  it.operation.name ??= name('Operation');
  it.document.definitions.push(...parse('query Broken { __typename }').definitions);
  it.operationName = undefined;
};
breaks['null field'] = at('sets', anything, ({ node }) => void node.selections.push(field('null')));

// ---- selections ----

breaks['selection of a leaf'] = at('fields', leaf, ({ node }) => void (node.selectionSet = selectionSet([field('id')])));
breaks['no selection of an object'] = at('fields', composite, ({ node }) => void (node.selectionSet = undefined));
breaks['empty selection'] = at('fields', composite, ({ node }) => {
  node.selectionSet = selectionSet([field('{ }')]);
});
breaks['selection of __typename'] = at('sets', anything, ({ node }) => {
  node.selections.push(field('__typename', [], [field('id')]));
});
breaks['introspection below the root'] = at('fields', composite, ({ node }) => {
  node.selectionSet.selections.push(field('__schema', [], [field('__typename')]));
});
breaks['same name, other fields'] = at('sets', ({ parent }) => parent && isObjectType(parent), ({ node, parent }, { random }) => {
  const leaves = Object.values(parent.getFields()).filter(
    (it) => isLeafType(getNamedType(it.type)) && !it.args.some(isRequiredArgument),
  );
  if (leaves.length < 2) return false;
  const [a, b] = random.shuffle(leaves);
  node.selections.push({ ...field(a.name), alias: name('same') }, { ...field(b.name), alias: name('same') });
});
breaks['same name, other arguments'] = at('fields', ({ node }) => node.arguments.length > 0, ({ node }, { sites }) => {
  const set = sites.sets.find((site) => site.node.selections.includes(node)).node;
  const others = node.arguments.slice(1);
  if (others.length === 0 && node.arguments.length === 1) {
    set.selections.push({ ...node, arguments: [argument(node.arguments[0].name.value, variable('other'))] });
  } else set.selections.push({ ...node, arguments: others });
});
breaks['same name in a fragment'] = at('sets', ({ parent }) => parent && isObjectType(parent), ({ node, parent }, it) => {
  const leaves = Object.values(parent.getFields()).filter((one) => isLeafType(one.type.ofType ?? one.type));
  if (leaves.length < 2) return false;
  const [a, b] = it.random.shuffle(leaves);
  node.selections.push({ ...field(a.name), alias: name('same') }, spread('Same'));
  it.document.definitions.push(fragment('Same', parent.name, [inline(undefined, [{ ...field(b.name), alias: name('same') }])]));
});
breaks['same name below the same field'] = at(
  'fields',
  (site) => composite(site) && isObjectType(getNamedType(site.definition.type)),
  ({ node, definition }, { sites, random }) => {
    const leaves = Object.values(getNamedType(definition.type).getFields()).filter(
      (one) => isLeafType(getNamedType(one.type)) && !one.args.some(isRequiredArgument),
    );
    if (leaves.length < 2) return false;
    const set = sites.sets.find((site) => site.node.selections.includes(node)).node;
    const [a, b] = random.shuffle(leaves);
    const twin = (one) => ({ ...node, selectionSet: selectionSet([{ ...field(one.name), alias: name('same') }]) });
    set.selections.push(twin(a), twin(b));
  },
);
breaks['same name, other shapes in two objects'] = at(
  'sets',
  ({ parent }, { author }) => parent && author.possible(parent).length > 1,
  ({ node, parent }, { author, random }) => {
    const [one, two] = random.shuffle([...author.possible(parent)]);
    const pairs = [];
    for (const a of Object.values(one.getFields())) {
      for (const b of Object.values(two.getFields())) {
        const plain = (it) => isLeafType(getNamedType(it.type)) && !it.args.some(isRequiredArgument);
        if (plain(a) && plain(b) && String(a.type) !== String(b.type)) pairs.push([a, b]);
      }
    }
    if (pairs.length === 0) return false;
    const [a, b] = random.pick(pairs);
    node.selections.push(inline(one.name, [{ ...field(a.name), alias: name('same') }]));
    node.selections.push(inline(two.name, [{ ...field(b.name), alias: name('same') }]));
  },
);
breaks['same name, leaf and object'] = at(
  'sets',
  ({ parent }, { author }) => parent && author.possible(parent).length > 1,
  ({ node, parent }, { author, random }) => {
    const [one, two] = random.shuffle([...author.possible(parent)]);
    const objects = Object.values(two.getFields()).filter(
      (it) => isCompositeType(getNamedType(it.type)) && !it.args.some(isRequiredArgument),
    );
    if (objects.length === 0) return false;
    const other = { ...field(random.pick(objects).name, [], [field('__typename')]), alias: name('same') };
    node.selections.push(inline(one.name, [{ ...field('__typename'), alias: name('same') }]), inline(two.name, [other]));
  },
);

// ---- fragments ----

breaks['unused fragment'] = ({ document, schema }) => {
  document.definitions.push(fragment('Unused', schema.getQueryType().name, [field('__typename')]));
};
breaks['fragments that use each other alone'] = ({ document, schema }) => {
  const root = schema.getQueryType().name;
  document.definitions.push(fragment('UnusedA', root, [spread('UnusedB')]), fragment('UnusedB', root, [field('__typename')]));
};
breaks['two fragments of one name'] = at('fragments', anything, (node, { document }) => {
  document.definitions.push({ ...node });
});
breaks['fragment that spreads itself'] = at('fragments', anything, (node) => {
  node.selectionSet.selections.push(spread(node.name.value));
});
breaks['fragments that spread each other'] = at('sets', ({ parent }) => parent, ({ node, parent }, { document }) => {
  node.selections.push(spread('CycleA'));
  document.definitions.push(
    fragment('CycleA', parent.name, [field('__typename'), spread('CycleB')]),
    fragment('CycleB', parent.name, [inline(undefined, [spread('CycleC')])]),
    fragment('CycleC', parent.name, [spread('CycleA')]),
  );
});
breaks['fragment on a leaf'] = at('sets', anything, ({ node }, { random }) => {
  node.selections.push(inline(random.pick(['String', 'Int', 'ID', 'Boolean']), [field('__typename')]));
});
breaks['fragment on an input object'] = at('sets', anything, ({ node }, { random, schema }) => {
  const inputs = Object.values(schema.getTypeMap()).filter((type) => isInputObjectType(type) || isEnumType(type));
  node.selections.push(inline(random.pick(inputs).name, [field('__typename')]));
});
breaks['named fragment on a leaf'] = at('sets', anything, ({ node }, { document }) => {
  node.selections.push(spread('OnLeaf'));
  document.definitions.push(fragment('OnLeaf', 'String', [field('length')]));
});
const never = ({ parent }, { author, schema, random }) => {
  const types = Object.values(schema.getTypeMap()).filter((type) => isCompositeType(type) && !author.overlap(type, parent));
  return random.pick(types);
};
breaks['fragment that never applies'] = at('sets', ({ parent }) => parent, (site, it) => {
  site.node.selections.push(inline(never(site, it).name, [field('__typename')]));
});
breaks['named fragment that never applies'] = at('sets', ({ parent }) => parent, (site, it) => {
  site.node.selections.push(spread('Never'));
  it.document.definitions.push(fragment('Never', never(site, it).name, [field('__typename')]));
});

// ---- arguments and input objects ----

breaks['required argument missing'] = at(
  'fields',
  ({ node, definition }) => definition && definition.args.some(isRequiredArgument),
  ({ node, definition }) => {
    const required = definition.args.filter(isRequiredArgument).map((it) => it.name);
    node.arguments = node.arguments.filter((it) => !required.includes(it.name.value));
  },
);
breaks['required argument of a directive missing'] = at('fields', anything, ({ node }, { random }) => {
  node.directives = [directive(random.pick(['skip', 'include']))];
});
breaks['argument given twice'] = at('fields', ({ node }) => node.arguments.length > 0, ({ node }, { random }) => {
  node.arguments = [...node.arguments, random.pick(node.arguments)];
});
breaks['argument of a directive given twice'] = at('fields', anything, ({ node }) => {
  node.directives = [directive('skip', [argument('if', raw('true')), argument('if', raw('false'))])];
});
breaks['input field given twice'] = at('objects', ({ node }) => node.fields.length > 0, ({ node }, { random }) => {
  node.fields = [...node.fields, random.pick(node.fields)];
});
breaks['unknown input field'] = at('objects', anything, ({ node }) => {
  node.fields = [...node.fields, objectField('nothing', raw('null'))];
});
breaks['required input field missing'] = at(
  'objects',
  ({ type }) => Object.values(type.getFields()).some(isRequiredInputField),
  ({ node, type }) => {
    const isRequired = (it) => type.getFields()[it.name.value] && isRequiredInputField(type.getFields()[it.name.value]);
    node.fields = node.fields.filter((it) => !isRequired(it));
  },
);
breaks['required input field null'] = at(
  'objects',
  ({ type }) => Object.values(type.getFields()).some((it) => isNonNullType(it.type)),
  ({ node, type }) => {
    const required = Object.values(type.getFields()).find((it) => isNonNullType(it.type));
    node.fields = [...node.fields.filter((it) => it.name.value !== required.name), objectField(required.name, raw('null'))];
  },
);
breaks['null where there must be a value'] = at('values', ({ type }) => isNonNullType(type), ({ put }) => void put(raw('null')));
breaks['one field of @oneOf: none'] = at('objects', ({ type }) => type.isOneOf, ({ node }) => void (node.fields = []));
breaks['one field of @oneOf: two'] = at('objects', ({ type }) => type.isOneOf, ({ node, type }, { author }) => {
  const [a, b] = author.random.shuffle(Object.values(type.getFields()));
  const value = (it) => author.value(it.type, { constant: 1, depth: 3 });
  node.fields = [objectField(a.name, value(a)), objectField(b.name, value(b))];
});
breaks['one field of @oneOf: null'] = at('objects', ({ type }) => type.isOneOf, ({ node, type }, { random }) => {
  node.fields = [objectField(random.pick(Object.keys(type.getFields())), raw('null'))];
});

/** Literals and JSON that are none of the type's. */
const wrong = {
  Int: ['"1"', '1.5', '2147483648', '-2147483649', '99999999999999999999', 'true', '{}', '[[1], "x"]', '1e99'],
  Float: ['"1"', 'true', '{}', '["x"]'],
  Boolean: ['"true"', '1', '0', '{}', '[1]'],
  ID: ['1.5', 'true', '{}', '[true]', '-0.5'],
  String: ['1', '1.5', 'true', '{}', '[1]', '0'],
};
const wrongLiterals = { Int: ['1.0', '1e2', 'ONE', '-0.0'], Boolean: ['TRUE'], ID: ['1.0', 'WORD', '1e3'], String: ['WORD'] };
const wrongOf = (type, literal) => {
  if (isEnumType(type)) {
    return literal ? [`"${type.getValues()[0].name}"`, 'NOTHING', '1', 'true', '{}', '"NOTHING"'] : ['"NOTHING"', '1', 'true', '{}', '""'];
  }
  if (isInputObjectType(type)) return ['"text"', '1', 'true', '[7]', ...(literal ? ['WORD', '{nothing: 1}'] : ['{"nothing":1}'])];
  const custom = customScalars[type.name];
  if (custom) return [...custom.bad, ...(literal ? custom.badLiterals : [])];
  return [...wrong[type.name], ...(literal ? (wrongLiterals[type.name] ?? []) : [])];
};
const kinds = ['Int', 'Float', 'Boolean', 'ID', 'String', 'an enum', 'an input object', 'a custom scalar'];
const kindOf = (type) => {
  const named = getNamedType(type);
  if (isEnumType(named)) return 'an enum';
  if (isInputObjectType(named)) return 'an input object';
  return named.name in customScalars ? 'a custom scalar' : named.name;
};
for (const kind of kinds) {
  breaks[`literal that is not ${kind}`] = at('values', ({ type }) => kindOf(type) === kind, ({ type, put }, { random }) => {
    put(raw(random.pick(wrongOf(getNamedType(type), true))));
  });
}
breaks['list where there is none'] = at('values', ({ type }) => !isListType(inner(type)), ({ node, put }) => {
  put({ kind: Kind.LIST, values: node.kind === Kind.VARIABLE ? [raw('null')] : [node] });
});
breaks['lists inside lists where there are none'] = at('values', ({ type }) => isListType(inner(type)), ({ put }) => {
  put(raw('[[[null]]]'));
});

// ---- variables in the document ----

breaks['unused variable'] = ({ operation }) => void operation.variableDefinitions.push(variableDefinition('unused', 'Int'));
breaks['two variables of one name'] = ({ operation }) => {
  const [first] = operation.variableDefinitions;
  if (!first) return false;
  operation.variableDefinitions.push(first);
};
breaks['variable of an object type'] = ({ operation, schema }) => {
  operation.variableDefinitions.push(variableDefinition('broken', schema.getQueryType().name));
};
breaks['default of the wrong type'] = ({ operation, schema, random }) => {
  const definition = operation.variableDefinitions[0];
  if (!definition) return false;
  let type = definition.type;
  while (type.type) type = type.type;
  definition.defaultValue = raw(random.pick(wrongOf(schema.getType(type.name.value), true)));
};
breaks['default null of a type without null'] = ({ operation }) => {
  const definition = operation.variableDefinitions.find((it) => it.type.kind === Kind.NON_NULL_TYPE);
  if (!definition) return false;
  definition.defaultValue = raw('null');
};
breaks['variable in a default'] = ({ operation }) => {
  operation.variableDefinitions.push(variableDefinition('broken', 'Int', variable('broken')));
};
const misplace = (retype) => ({ operation, random }) => {
  if (operation.variableDefinitions.length === 0) return false;
  const definition = random.pick(operation.variableDefinitions);
  const type = retype(definition.type, definition);
  if (!type) return false;
  definition.type = type;
  definition.defaultValue = undefined;
};
breaks['variable that may be null where nothing may'] = misplace((type) => (type.kind === Kind.NON_NULL_TYPE ? type.type : undefined));
breaks['variable of another scalar'] = misplace((type) => {
  let inside = type;
  while (inside.type) inside = inside.type;
  const other = { Int: 'Float', Float: 'Int', String: 'ID', ID: 'String', Boolean: 'Int' }[inside.name.value] ?? 'String';
  const rename = (it) => (it.type ? { ...it, type: rename(it.type) } : { ...it, name: name(other) });
  return rename(type);
});
breaks['variable that is a list'] = misplace((type) => ({ kind: Kind.LIST_TYPE, type }));
breaks['variable that is no list'] = misplace((type) => {
  const list = type.kind === Kind.NON_NULL_TYPE ? type.type : type;
  return list.kind === Kind.LIST_TYPE ? list.type : undefined;
});
breaks['variable inside a list'] = at(
  'values',
  ({ type, constant }) => !constant && isListType(inner(type)) && isNonNullType(inner(type).ofType),
  ({ type, put }, { operation }) => {
    operation.variableDefinitions.push(variableDefinition('broken', inner(inner(type).ofType)));
    put({ kind: Kind.LIST, values: [variable('broken')] });
  },
);
breaks['variable inside an input object'] = at(
  'objects',
  ({ type }) => Object.values(type.getFields()).some((it) => isNonNullType(it.type) && it.defaultValue === undefined),
  ({ node, type }, { operation }) => {
    const required = Object.values(type.getFields()).find((it) => isNonNullType(it.type) && it.defaultValue === undefined);
    operation.variableDefinitions.push(variableDefinition('broken', inner(required.type)));
    node.fields = [...node.fields.filter((it) => it.name.value !== required.name), objectField(required.name, variable('broken'))];
  },
);
breaks['variable of a directive that may be null'] = at('fields', anything, ({ node }, { operation }) => {
  operation.variableDefinitions.push(variableDefinition('broken', 'Boolean'));
  node.directives = [directive('skip', [argument('if', variable('broken'))])];
});

// ---- directives ----

breaks['directive twice'] = at('fields', anything, ({ node }) => {
  const skip = directive('skip', [argument('if', raw('false'))]);
  node.directives = [skip, skip];
});
breaks['directive on an operation'] = ({ operation }) => {
  operation.directives = [...operation.directives, directive('skip', [argument('if', raw('true'))])];
};
breaks['directive on a fragment'] = at('fragments', anything, (node) => {
  node.directives = [directive('include', [argument('if', raw('true'))])];
});
breaks['directive on a variable'] = ({ operation }) => {
  const definition = operation.variableDefinitions[0];
  if (!definition) return false;
  definition.directives = [directive('skip', [argument('if', raw('true'))])];
};
breaks['directive of schemas'] = at('fields', anything, ({ node }, { random }) => {
  node.directives = [random.pick([directive('deprecated'), directive('oneOf'), directive('specifiedBy', [argument('url', raw('"x"'))])])];
});
breaks['literal that is not the argument of a directive'] = at('fields', anything, ({ node }, { random }) => {
  node.directives = [directive(random.pick(['skip', 'include']), [argument('if', raw(random.pick(['"true"', '1', 'null', '[true]', '{}'])))])];
});

// ---- definitions ----

breaks['subscription'] = (it) => {
  const definition = parse('subscription Broken { __typename }').definitions[0];
  it.document.definitions = [definition];
  it.operationName = undefined;
};
breaks['subscription beside it'] = (it) => {
  if (!it.operation.name) return false;
  addDefinition('subscription Broken { account { id } }')(it);
  it.operationName ??= it.operation.name.value;
};
breaks['two operations of one name'] = ({ document, operation }) => {
  operation.name ??= name('Operation');
  document.definitions.push({ ...operation });
};
breaks['two operations without a name'] = (it) => {
  it.operation.name = undefined;
  it.operationName = undefined;
  addDefinition('{ __typename }')(it);
};
breaks['one operation with a name and one without'] = (it) => {
  it.operation.name ??= name('Operation');
  it.operationName = it.operation.name.value;
  addDefinition('{ __typename }')(it);
};
breaks['fragments alone'] = ({ document, sites }) => {
  if (sites.fragments.length === 0) return false;
  document.definitions = sites.fragments;
};
breaks['definition of a type'] = (it) => {
  addDefinition(it.random.pick([
    'type Broken { a: Int }',
    'extend type Query { a: Int }',
    'scalar Broken',
    'schema { query: Query }',
    'directive @broken on FIELD',
    '"described" enum Broken { A }',
    'input Broken { a: Int }',
    'union Broken = Query',
    'interface Broken { a: Int }',
    'extend schema @x',
  ]))(it);
};

// ---- variables as JSON ----

const given = (act) => (it) => {
  const definitions = it.operation.variableDefinitions;
  const fitting = definitions.map((node) => ({ node, ...it.author.variables.get(node.variable.name.value) })).filter(({ type }) => type);
  return fitting.length > 0 && act(it.random.pick(fitting), it);
};
const give = (it, node, text) => {
  const key = node.variable.name.value;
  it.variables = [...it.variables.filter(([known]) => known !== key), [key, text]];
};
breaks['variable: absent'] = given(({ node, type, defaultValue }, it) => {
  if (!isNonNullType(type) || defaultValue) return false;
  it.variables = it.variables.filter(([key]) => key !== node.variable.name.value);
});
breaks['variable: null'] = given(({ node, type }, it) => {
  if (!isNonNullType(type)) return false;
  give(it, node, 'null');
});
for (const kind of kinds) {
  breaks[`variable: not ${kind}`] = (it) => {
    const definitions = it.operation.variableDefinitions.map((node) => ({ node, ...it.author.variables.get(node.variable.name.value) }));
    const found = find(it, definitions, ({ type }) => type && kindOf(type) === kind);
    if (!found) return false;
    give(it, found.node, it.random.pick(wrongOf(getNamedType(found.type), false)));
  };
}
breaks['variable: wrong in a list'] = given(({ node, type }, it) => {
  if (!isListType(inner(type))) return false;
  const bad = it.random.pick(wrongOf(getNamedType(type), false));
  give(it, node, it.random.pick([`[${it.author.json(inner(inner(type).ofType))},${bad}]`, `[[[${bad}]]]`, `{"0":${bad}}`]));
});
breaks['variable: null in a list'] = given(({ node, type }, it) => {
  if (!isListType(inner(type)) || !isNonNullType(inner(type).ofType)) return false;
  give(it, node, '[null]');
});
breaks['variable: wrong in an input object'] = given(({ node, type }, it) => {
  const named = getNamedType(type);
  if (!isInputObjectType(named)) return false;
  const all = Object.values(named.getFields());
  const broken = it.random.pick(all);
  const parts = all.filter((one) => isRequiredInputField(one) && one !== broken).map((one) => [one.name, it.author.json(one.type)]);
  parts.push([broken.name, it.random.pick(wrongOf(getNamedType(broken.type), false))]);
  give(it, node, `{${parts.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(',')}}`);
});
breaks['variable: missing in an input object'] = given(({ node, type }, it) => {
  const named = getNamedType(type);
  if (!isInputObjectType(named) || !Object.values(named.getFields()).some(isRequiredInputField)) return false;
  give(it, node, '{}');
});
breaks['variable: unknown in an input object'] = given(({ node, type }, it) => {
  const named = getNamedType(type);
  if (!isInputObjectType(named)) return false;
  const text = it.author.someJson(named, 2);
  give(it, node, text === '{}' ? '{"nothing":null}' : text.replace(/}$/, ',"nothing":null}'));
});

// ---- texts ----

/** Breaks of a value's text: a string's, a number's, a name's. */
const texts = {
  'escape that there is none': ['"\\q"', '"\\x41"', '"\\\'"', '"\\ "', '"\\0"', '"\\U0041"'],
  'escape of too few digits': ['"\\u12"', '"\\u"', '"\\u00zz"', '"\\u{}"', '"\\u{12"', '"\\u{12g}"'],
  'escape of no character': ['"\\ud800"', '"\\udc00"', '"\\ud800\\u0041"', '"\\u{110000}"', '"\\u{d800}"', '"\\ud83dx"', '"\\u{1234567890}"'],
  'text with a line end': ['"a\nb"', '"a\rb"', '"\n"'],
  'text without an end': ['"a', '"a\\"', '"""a', '"""a\\"""', '"""a""'],
  'number with a letter': ['1a', '0x1', '1.5e', '1.5f', '1e5x', '12_000', '1é'],
  'number with leading zeros': ['00', '01', '-01', '-00', '01.5'],
  'number cut off': ['1.', '-', '.5', '1e', '1e+', '1.e5', '-.5', '1..2', '+1'],
  'mark that there is none': ['?', '%', '^', '`', '~', ';', '<1>', '\\', '*', '/* */ 1', '\u0007', '\u00a0'],
  'name that is not ASCII': ['é', 'nämn', 'ａ', '😀', '\u200b'],
  'braces that do not close': ['{', '[', '[1', '{a: 1', '(', '{a}', '{a:}', '{:1}', '[1}', '{"a": 1}'],
  'value that is missing': ['', ':', '$', '@x', '...', '$ a b', '&', '|'],
};
for (const [kind, list] of Object.entries(texts)) {
  breaks[`syntax: ${kind}`] = at('values', anything, ({ put }, { random }) => void put(raw(random.pick(list))));
}
const text = (edit) => ({ edit });
const once = (pattern, replacement) => text((source) => (pattern.test(source) ? source.replace(pattern, replacement) : undefined));
breaks['syntax: empty arguments'] = once(/(\w) \{/, '$1() {');
breaks['syntax: empty variables'] = once(/^(query|mutation)( \w+)?( \{|\()/m, '$1$2() {');
breaks['syntax: fragment called on'] = once(/fragment \w+ on/, 'fragment on on');
breaks['syntax: fragment with variables'] = once(/fragment (\w+) on/, 'fragment $1($a: Int) on');
breaks['syntax: fragment without a condition'] = once(/fragment (\w+) on \w+/, 'fragment $1');
breaks['syntax: enum value true'] = text((source) => `${source}\nenum E { true }`);
breaks['syntax: words after the end'] = text((source) => `${source} }`);
breaks['syntax: nothing'] = text((_, random) => random.pick(['', ' ', '# only a comment', ',,,', '\ufeff', '\n\n']));
breaks['syntax: cut off'] = text((source, random) => source.slice(0, 1 + random.int(source.length - 2)));
breaks['syntax: brackets'] = text((source, random) => {
  const places = [...source.matchAll(/[{}()[\]]/g)].map((found) => found.index);
  const place = random.pick(places);
  return source.slice(0, place) + random.pick(['', '{', '}', '(', ')', '[', ']']) + source.slice(place + 1);
});
breaks['syntax: two dots'] = once(/\.\.\./, '..');
breaks['syntax: four dots'] = once(/\.\.\./, '....');
breaks['syntax: alias without a field'] = once(/(\w+): (\w+)/, '$1: $2:');
breaks['syntax: unknown operation'] = text((source) => `${source}\nqwery Broken { __typename }`);
breaks['syntax: directive without a name'] = once(/\}\s*$/, '__typename @ }');
