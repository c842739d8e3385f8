//! Generates and mutates requests.

use super::document::{Condition, Document, FLAGS, Field, Fragment, Place, Selection, Value};
use super::schema::{Schema, Selectable};
use super::values::Values;

/// The maximum number of selections of a request. The server accepts 15,000 tokens.
const MOST: usize = 3_000;

/// Generates requests.
pub struct Maker<'m, 's> {
    pub values: &'m Values<'s>,
    pub random: &'m mut fastrand::Rng,
}

impl<'s> Maker<'_, 's> {
    /// A field with arguments and selections.
    fn field(&mut self, known: &Selectable, depth: u32) -> Field {
        let mut arguments = Vec::new();
        let given = self.random.u8(..3);
        let noun =
            if known.arguments.iter().any(|argument| argument.name == "input") { &known.name } else { &known.of };
        let noun = noun[..1].to_uppercase() + &noun[1..];
        for argument in &known.arguments {
            if argument.required || given == 0 && self.random.u8(..3) == 0 {
                arguments.push((argument.name.clone(), self.values.argument(argument, &noun, self.random)));
            }
        }
        Field {
            alias: None,
            name: known.name.clone(),
            arguments,
            conditions: Vec::new(),
            selections: self.selections(&known.of, depth),
        }
    }

    /// Selections on a type. Empty for a scalar.
    fn selections(&mut self, of: &str, depth: u32) -> Vec<Selection> {
        let schema = self.values.schema;
        if !schema.is_composite(of) {
            return Vec::new();
        }
        let count = self.random.usize(1..5);
        let mut set: Vec<Selection> = Vec::new();
        for _ in 0..count {
            let Some(known) = self.any(of, depth) else { break };
            // Fields with the same response key must have the same arguments.
            if !set.iter().any(|other| matches!(other, Selection::Field(other) if other.name == known.name)) {
                set.push(Selection::Field(self.field(known, depth.saturating_sub(1))));
            }
        }
        if set.is_empty() {
            set.push(Selection::Field(leaf("__typename")));
        }
        set
    }

    /// A random field of a type, preferably one with selections.
    fn any(&mut self, of: &str, depth: u32) -> Option<&'s Selectable> {
        let schema: &'s Schema = self.values.schema;
        let fields = schema.fields(of);
        let fitting: Vec<&Selectable> =
            fields.iter().filter(|field| depth > 0 || !schema.is_composite(&field.of)).collect();
        let leading: Vec<&Selectable> =
            fitting.iter().copied().filter(|field| schema.is_composite(&field.of)).collect();
        let chosen = if !leading.is_empty() && self.random.bool() { leading } else { fitting };
        (!chosen.is_empty()).then(|| chosen[self.random.usize(..chosen.len())])
    }

    /// Every field of a type without required arguments, to this depth.
    fn everything(&mut self, of: &str, depth: u32) -> Vec<Selection> {
        let schema = self.values.schema;
        let mut set = vec![Selection::Field(leaf("__typename"))];
        for known in schema.fields(of) {
            let is_composite = schema.is_composite(&known.of);
            if known.arguments.iter().any(|argument| argument.required) || is_composite && depth == 0 {
                continue;
            }
            let selections = if is_composite { self.everything(&known.of, depth - 1) } else { Vec::new() };
            set.push(Selection::Field(Field { selections, ..leaf(&known.name) }));
        }
        set
    }

    /// A new random request.
    pub fn make(&mut self, is_mutation: bool) -> Document {
        let schema = self.values.schema;
        if is_mutation {
            let fields = schema.fields("Mutation");
            let known = &fields[self.random.usize(..fields.len())];
            let depth = self.random.u32(1..5);
            return Document::new(true, vec![Selection::Field(self.field(known, depth))]);
        }
        let selections = match self.random.u8(..4) {
            0 => {
                let fields = schema.fields("Account");
                let known = &fields[self.random.usize(..fields.len())];
                let below = self.random.u32(1..4);
                let selections = self.everything(&known.of, below);
                vec![Selection::Field(Field { selections, ..self.field(known, 0) })]
            }
            _ => {
                let depth = self.random.u32(1..8);
                self.selections("Account", depth)
            }
        };
        Document::new(false, vec![Selection::Field(Field { selections, ..leaf("account") })])
    }

    /// The request with a few changes that keep it mostly valid. Parts may come from `other`.
    pub fn change(&mut self, document: &Document, other: &Document) -> Document {
        let mut changed = document.clone();
        for _ in 0..[1, 1, 2, 4][self.random.usize(..4)] {
            self.change_once(&mut changed, other);
        }
        if changed.size(self.values.schema) > MOST { document.clone() } else { changed }
    }

    fn change_once(&mut self, document: &mut Document, other: &Document) {
        let schema = self.values.schema;
        match self.random.u8(..100) {
            0..15 => {
                let depth = self.random.u32(..4);
                self.within(document, |maker, place, set| {
                    if let Some(known) = maker.any(&place.of, depth + 1) {
                        let field = maker.field(known, depth);
                        set.push(Selection::Field(maker.distinct(field, set)));
                    }
                });
            }
            15..30 => self.within(document, |maker, _, set| {
                let count = if maker.random.bool() { 1 } else { set.len() / 2 };
                for _ in 0..count {
                    if set.len() > 1 {
                        set.swap_remove(maker.random.usize(..set.len()));
                    }
                }
            }),
            30..45 => self.repeat(document),
            // A duplicate, to be merged.
            45..50 => self.within(document, |maker, _, set| {
                let copy = set[maker.random.usize(..set.len())].clone();
                let count = maker.random.usize(1..20);
                set.extend(std::iter::repeat_n(copy, count));
            }),
            50..57 => self.within(document, |maker, place, set| {
                let depth = maker.random.u32(..3);
                let all = maker.everything(&place.of, depth);
                for selection in all {
                    if let Selection::Field(field) = selection {
                        let field = maker.distinct(field, set);
                        set.push(Selection::Field(field));
                    }
                }
            }),
            57..70 => self.within(document, |maker, place, set| maker.arguments(place, set)),
            70..80 => self.graft(document, other),
            80..85 => self.extract(document),
            85..90 => {
                let fragments: Vec<String> = document.fragments.iter().map(|fragment| fragment.on.clone()).collect();
                self.within(document, |maker, place, set| {
                    let first = place.fragment.map_or(0, |number| number + 1);
                    let fitting: Vec<usize> = (first..fragments.len()).filter(|n| fragments[*n] == place.of).collect();
                    if !fitting.is_empty() {
                        let count = maker.random.usize(1..30);
                        let number = fitting[maker.random.usize(..fitting.len())];
                        set.extend((0..count).map(|_| Selection::Spread(number, maker.conditions())));
                    }
                });
            }
            90..94 => {
                self.within(document, |maker, _, set| {
                    let at = maker.random.usize(..set.len());
                    let conditions = maker.conditions();
                    match &mut set[at] {
                        Selection::Field(field) => field.conditions = conditions,
                        Selection::Spread(_, own) | Selection::Inline(_, own, _) => *own = conditions,
                    }
                });
                let flag = self.random.usize(..FLAGS);
                document.flags[flag] ^= true;
            }
            94..96 => self.within(document, |maker, place, set| {
                let narrower = schema.narrower(&place.of);
                let on = if narrower.is_empty() { &place.of } else { &narrower[maker.random.usize(..narrower.len())] };
                let inner = if narrower.is_empty() { set.clone() } else { maker.selections(on, 2) };
                let conditions = maker.conditions();
                set.push(Selection::Inline(on.clone(), conditions, inner));
            }),
            96 => {
                let copy = document.operations[0].clone();
                let count = self.random.usize(1..10);
                document.operations.extend(std::iter::repeat_n(copy, count));
            }
            97 => document.operations.truncate(1),
            98 => document.padding = [0, 1_000, 400_000][self.random.usize(..3)],
            // Something unknown: a refusal has a cost too.
            _ => self.within(document, |maker, _, set| {
                let count = maker.random.usize(1..100);
                set.extend((0..count).map(|n| Selection::Field(leaf(&format!("nothing{n}")))));
            }),
        }
        let root = document.root();
        if root == "Query" && self.random.u8(..100) == 0 {
            let field = ["__schema", "__type"][self.random.usize(..2)];
            if let Some(known) = schema.field(root, field) {
                let selections = self.everything(&known.of, 3);
                let arguments = known.arguments.iter().map(|_| ("name".to_owned(), Value::Text("Service".to_owned())));
                document.operations[0].push(Selection::Field(Field {
                    arguments: arguments.collect(),
                    selections,
                    ..leaf(field)
                }));
            }
        }
    }

    fn within(
        &mut self,
        document: &mut Document,
        change: impl FnOnce(&mut Maker<'_, '_>, &Place, &mut Vec<Selection>),
    ) {
        let (values, mut random) = (self.values, self.random.fork());
        document.change(values.schema, self.random, |place, set, _| {
            change(&mut Maker { values, random: &mut random }, place, set);
        });
    }

    /// The field, with an alias if the set has another field of its name.
    fn distinct(&mut self, field: Field, set: &[Selection]) -> Field {
        let taken = |name: &str| {
            set.iter().any(|other| matches!(other, Selection::Field(other) if other.alias.as_deref().unwrap_or(&other.name) == name))
        };
        if taken(field.alias.as_deref().unwrap_or(&field.name)) {
            Field { alias: Some(self.alias()), ..field }
        } else {
            field
        }
    }

    fn alias(&mut self) -> String {
        format!("a{}", self.random.u32(..1_000_000_000))
    }

    fn conditions(&mut self) -> Vec<Condition> {
        let count = [0, 0, 1, 1, 2][self.random.usize(..5)];
        let mut conditions = Vec::new();
        for includes in [true, false].into_iter().take(count) {
            let flag = self.random.bool().then(|| self.random.usize(..FLAGS));
            conditions.push(Condition { includes, flag });
        }
        conditions
    }

    /// Repeats the field under other names.
    fn repeat(&mut self, document: &mut Document) {
        let count = [1, 3, 10, 50, 450][self.random.usize(..5)];
        self.within(document, |maker, _, set| {
            let Selection::Field(field) = set[maker.random.usize(..set.len())].clone() else { return };
            for _ in 0..count {
                set.push(Selection::Field(Field { alias: Some(maker.alias()), ..field.clone() }));
            }
        });
    }

    /// Changes the arguments.
    fn arguments(&mut self, place: &Place, set: &mut [Selection]) {
        let mut fields: Vec<&mut Field> = set
            .iter_mut()
            .filter_map(|selection| match selection {
                Selection::Field(field) => Some(field),
                _ => None,
            })
            .collect();
        if fields.is_empty() {
            return;
        }
        let at = self.random.usize(..fields.len());
        let field = &mut fields[at];
        let Some(known) = self.values.schema.field(&place.of, &field.name) else { return };
        if known.arguments.is_empty() {
            return;
        }
        let argument = &known.arguments[self.random.usize(..known.arguments.len())];
        let had = field.arguments.len();
        field.arguments.retain(|(name, _)| *name != argument.name);
        if field.arguments.len() == had || argument.required || self.random.bool() {
            let noun = known.name[..1].to_uppercase() + &known.name[1..];
            let noun = if argument.name == "input" { &noun } else { &known.of };
            field.arguments.push((argument.name.clone(), self.values.argument(argument, noun, self.random)));
        }
    }

    /// Replaces a part by one of the same type from another request, or from this one.
    fn graft(&mut self, document: &mut Document, other: &Document) {
        let mut giver = if self.random.bool() { other.clone() } else { document.clone() };
        let mut parts: Vec<(String, Vec<Selection>)> = Vec::new();
        giver.visit(self.values.schema, &mut |place, set| {
            // The fragments come from the same request as the part.
            if !has_spread(set) {
                parts.push((place.of.clone(), set.clone()));
            }
        });
        self.within(document, |maker, place, set| {
            let fitting: Vec<&Vec<Selection>> =
                parts.iter().filter(|(of, _)| *of == place.of).map(|(_, set)| set).collect();
            if fitting.is_empty() {
                return;
            }
            let part = fitting[maker.random.usize(..fitting.len())].clone();
            if maker.random.bool() {
                *set = part;
                return;
            }
            for selection in part {
                match selection {
                    Selection::Field(field) => {
                        let field = maker.distinct(field, set);
                        set.push(Selection::Field(field));
                    }
                    selection => set.push(selection),
                }
            }
        });
    }

    /// Turns a selection set into a fragment and spreads it there.
    fn extract(&mut self, document: &mut Document) {
        let number = document.fragments.len();
        let mut made = None;
        self.within(document, |_, place, set| {
            if !has_spread(set) {
                let selections = std::mem::replace(set, vec![Selection::Spread(number, Vec::new())]);
                made = Some(Fragment { on: place.of.clone(), selections });
            }
        });
        document.fragments.extend(made);
    }

    /// The request without a part. `None` if there is nothing to leave out.
    pub fn without_a_part(&mut self, document: &Document) -> Document {
        let mut smaller = document.clone();
        match self.random.u8(..10) {
            0 => smaller.operations.truncate(1),
            1 => smaller.padding = 0,
            2 | 3 => self.within(&mut smaller, |maker, _, set| {
                let at = maker.random.usize(..set.len());
                if let Selection::Field(field) = &mut set[at] {
                    field.conditions.clear();
                    if !field.arguments.is_empty() {
                        field.arguments.swap_remove(maker.random.usize(..field.arguments.len()));
                    }
                }
            }),
            4..7 => self.within(&mut smaller, |maker, _, set| {
                if set.len() > 1 {
                    set.swap_remove(maker.random.usize(..set.len()));
                }
            }),
            _ => self.within(&mut smaller, |maker, _, set| {
                let half = set.len().div_ceil(2);
                if maker.random.bool() {
                    set.drain(..set.len() - half);
                } else {
                    set.truncate(half);
                }
            }),
        }
        smaller
    }
}

fn leaf(name: &str) -> Field {
    Field { alias: None, name: name.to_owned(), arguments: Vec::new(), conditions: Vec::new(), selections: Vec::new() }
}

fn has_spread(set: &[Selection]) -> bool {
    set.iter().any(|selection| match selection {
        Selection::Field(field) => has_spread(&field.selections),
        Selection::Spread(..) => true,
        Selection::Inline(_, _, inner) => has_spread(inner),
    })
}
