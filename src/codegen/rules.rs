//! Finds valid SDL that cannot become Rust: names that clash after conversion or with the generated code, and features
//! that the executor does not support. A clash is reported at the second place.

use std::collections::HashMap;

use apollo_compiler::{
    Name, Schema as Checked,
    schema::{ComponentName, ExtendedType},
};

use super::{
    diagnostics::Problem,
    names::{args, mutation, query, resolver, snake, type_name, upper_camel_case, variant},
    source::Source,
};

/// Names that generated code uses without a path. No SDL type may have one.
const WITHOUT_PATH: &[&str] = &[
    "Box", "Ctx", "Default", "Err", "From", "None", "Ok", "Option", "Result", "Send", "Sized", "Some", "String",
    "Sync", "Vec", "info",
];

/// Returns all violations of the rules on names and roots.
pub(super) fn check(schema: &Checked, source: &Source<'_>) -> Vec<Problem> {
    let mut rules = Rules { schema, source, problems: Vec::new() };
    rules.subscription();
    rules.types();
    rules.generated_names();
    for ty in own_types(schema) {
        rules.members(ty);
    }
    rules.problems
}

/// The types of the file, without the built-in and introspection types.
fn own_types(schema: &Checked) -> impl Iterator<Item = &ExtendedType> {
    schema.types.values().filter(|ty| !ty.is_built_in())
}

struct Rules<'a> {
    schema: &'a Checked,
    source: &'a Source<'a>,
    problems: Vec<Problem>,
}

impl<'a> Rules<'a> {
    fn report(&mut self, at: &Name, message: String, help: String) {
        self.problems.push(Problem::new(self.source.range(at.location()), message, Some(help)));
    }

    fn subscription(&mut self) {
        if let Some(root) = &self.schema.schema_definition.subscription {
            // Without a `schema` definition the root is the type itself.
            let definition = self.schema.types.get(&root.name).map_or(&root.name, ExtendedType::name);
            let at = if root.name.location().is_some() { &root.name } else { definition };
            self.report(
                at,
                format!("`{}` is a subscription root, and subscriptions are not supported", root.name),
                "remove it from the schema; clients can poll a query instead".to_owned(),
            );
        }
    }

    /// Type names are unchanged, but the names derived from them (modules, argument types) could clash.
    fn types(&mut self) {
        let names = own_types(self.schema).map(ExtendedType::name);
        self.report_clashes("types", "", names, |name| upper_camel_case(&type_name(name).to_string()));
        for name in own_types(self.schema).map(ExtendedType::name) {
            if WITHOUT_PATH.contains(&name.as_str()) {
                self.report(
                    name,
                    format!("the type name `{name}` has another meaning in the generated code"),
                    format!("choose a more specific name than `{name}`"),
                );
            }
        }
    }

    fn members(&mut self, ty: &'a ExtendedType) {
        let of = format!(" of `{}`", ty.name());
        let snake_case = |name: &str| snake(name).to_string();
        let fields = match ty {
            ExtendedType::Object(object) => &object.fields,
            ExtendedType::Interface(interface) => &interface.fields,
            ExtendedType::InputObject(input) => {
                return self.report_clashes("fields", &of, input.fields.values().map(|field| &field.name), snake_case);
            }
            ExtendedType::Enum(values) => {
                let names = values.values.values().map(|value| &value.value);
                return self.report_clashes("values", &of, names, |name| variant(name).to_string());
            }
            ExtendedType::Scalar(_) | ExtendedType::Union(_) => return,
        };
        self.report_clashes("fields", &of, fields.values().map(|field| &field.name), snake_case);
        for field in fields.values() {
            let of = format!(" of `{}.{}`", ty.name(), field.name);
            self.report_clashes("arguments", &of, field.arguments.iter().map(|argument| &argument.name), snake_case);
        }
    }

    /// Reports every name whose Rust form is already taken by an earlier one.
    fn report_clashes(
        &mut self,
        what: &str,
        of: &str,
        names: impl Iterator<Item = &'a Name>,
        rust: impl Fn(&str) -> String,
    ) {
        let mut taken: HashMap<String, &Name> = HashMap::new();
        for name in names {
            let form = rust(name);
            let Some(first) = taken.get(&form) else {
                taken.insert(form, name);
                continue;
            };
            // apollo-compiler reports repeated names.
            if *first != name {
                let line = self.source.line_of(first.location());
                self.report(
                    name,
                    format!("the {what} `{first}` and `{name}`{of} are both `{form}` in Rust"),
                    format!("rename one of them; `{first}` is defined on line {line}"),
                );
            }
        }
    }

    /// Reports types with the name of a generated trait or struct, and generated names that clash.
    fn generated_names(&mut self) {
        let mut generated: HashMap<String, (&Name, String)> = HashMap::new();
        let definition = &self.schema.schema_definition;
        for ty in own_types(self.schema) {
            let ExtendedType::Object(object) = ty else { continue };
            let is = |root: &Option<ComponentName>| root.as_ref().is_some_and(|root| root.name == object.name);
            let (is_query, is_mutation) = (is(&definition.query), is(&definition.mutation));
            let mut made = Vec::new();
            if !is_query && !is_mutation {
                made.push((&object.name, resolver(&object.name), format!("the trait of `{}`", object.name)));
            }
            for field in object.fields.values() {
                let coordinate = format!("`{}.{}`", object.name, field.name);
                if is_query {
                    made.push((&field.name, query(&field.name), format!("the trait of {coordinate}")));
                }
                if is_mutation {
                    made.push((&field.name, mutation(&field.name), format!("the trait of {coordinate}")));
                }
                if !field.arguments.is_empty() {
                    made.push((&field.name, args(&object.name, &field.name), format!("the arguments of {coordinate}")));
                }
            }
            for (at, name, role) in made {
                match generated.get(&name) {
                    Some((first, other)) if upper_camel_case(first) != upper_camel_case(at) => self.report(
                        at,
                        format!("{role} and {other} would both be called `{name}`"),
                        format!("rename `{at}` or `{first}`"),
                    ),
                    // If the SDL names clash already, that is reported elsewhere.
                    Some(_) => {}
                    None => drop(generated.insert(name, (at, role))),
                }
            }
        }
        for name in own_types(self.schema).map(ExtendedType::name) {
            if let Some((_, role)) = generated.get(name.as_str()) {
                self.report(
                    name,
                    format!("`{name}` is the name that the generated code gives to {role}"),
                    format!("rename the type `{name}`"),
                );
            }
        }
    }
}
