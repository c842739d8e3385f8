//! Draws a folded graph as SVG, and writes it as a list of links.

use maud::{Markup, html};

use super::layout::{Content, Folded};
use catalogue::entity::pages::path;
use catalogue::entity::service::Label;

/// The width and height of a box, and the space to the next one, in pixels.
const WIDTH: usize = 170;
const HEIGHT: usize = 30;
const GAP: usize = 40;
const SPACE: usize = 12;
/// The space around the picture, in which edges between neighbours of one layer bulge.
const MARGIN: usize = 8;
const BULGE: usize = 24;
/// The width of the mark at the start of a box.
const MARK: usize = 26;
/// The width of a box's text and of an ellipsis, in tenths of a pixel.
const TEXT: usize = (WIDTH - 8 - MARK) * 10;
const ELLIPSIS: usize = 130;
/// The maximum number of drawn edges. With more, nobody can follow them.
pub const EDGES: usize = 300;
/// The maximum number of services that are compared for who gets a box.
pub const RANKED: usize = 1_000;
/// The maximum number of names in an entry of the list.
const NAMES: usize = 8;

/// What a box is coloured by. Nothing is said by colour alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// The class of its colours.
    pub class: &'static str,
    /// What stands in it.
    pub letters: String,
    /// The same in words, for the legend, the tooltip and screen readers.
    pub words: String,
}

impl Mark {
    /// The mark of a tier, by its index: calm, as the tiers of lists are.
    pub fn of_tier(tier: Option<i32>) -> Self {
        let class = "none";
        let Some(index) = tier else {
            return Self { class, letters: "–".to_owned(), words: "no tier".to_owned() };
        };
        // A mark has room for two digits.
        let letters = if index > 99 { "T+".to_owned() } else { format!("T{index}") };
        Self { class, letters, words: format!("tier {index}") }
    }
}

/// A service as its box shows it.
pub struct Node {
    /// The service.
    pub id: i64,
    /// The service's name.
    pub name: String,
    /// The path that its box leads to.
    pub href: String,
    /// The path of its page.
    pub page: String,
    /// What its box is coloured by.
    pub mark: Mark,
    /// The index of its tier. Smaller is more critical.
    pub tier: Option<i32>,
    /// Whether the picture is about it.
    pub is_focus: bool,
}

/// The services of a box that stands for several.
pub struct Rest {
    /// The layer of the box.
    pub layer: usize,
    /// How many there are.
    pub all: usize,
    /// The first of them, which are named.
    pub named: Vec<Label>,
}

/// A graph that is ready to be drawn.
pub struct Picture {
    /// The boxes.
    pub folded: Folded,
    /// The edges between the boxes.
    pub edges: Vec<(usize, usize)>,
    /// The service of each box. `None` for a box that stands for several.
    pub nodes: Vec<Option<Node>>,
    /// What the boxes that stand for several stand for.
    pub rest: Vec<Rest>,
    /// Whether all services were found. If not, the counts of the boxes that stand for several are too small.
    pub is_complete: bool,
}

impl Picture {
    /// Draws the graph, with dependencies to the right of the services that need them. `label` describes it to screen
    /// readers. A box that stands for several services leads to their names below the picture, or to `elsewhere` if none of
    /// them is named there.
    pub fn draw(&self, label: &str, elsewhere: &str) -> Markup {
        let rows = self.folded.rows(&self.edges);
        let layers = self.folded.boxes.iter().map(|one| one.layer + 1).max().unwrap_or(0);
        let mut heights = vec![0; layers];
        self.folded.boxes.iter().for_each(|one| heights[one.layer] += 1);
        let most = heights.iter().copied().max().unwrap_or(0);
        let places = self.folded.boxes.iter().zip(rows).map(|(one, row)| {
            let above = (most - heights[one.layer]) * (HEIGHT + SPACE) / 2;
            (MARGIN + one.layer * (WIDTH + GAP), MARGIN + above + row * (HEIGHT + SPACE))
        });
        let places: Vec<(usize, usize)> = places.collect();
        let width = layers * (WIDTH + GAP) + 2 * MARGIN - GAP.min(layers * GAP) + BULGE;
        let height = most * (HEIGHT + SPACE) + 2 * MARGIN - SPACE.min(most * SPACE);
        html! {
            div.scroll.graph tabindex="0" role="region" aria-label=(label) {
                svg class={ "layers-" (layers) } width=(width) height=(height) viewBox={ "0 0 " (width) " " (height) } role="group" aria-label=(label) {
                    (arrow("arrow"))
                    (arrow("warn"))
                    @for (from, to) in self.edges.iter().take(EDGES) {
                        @let class = if self.is_warned(*from, *to) { "warn" } else { "arrow" };
                        path class={ "edge " (class) } d=(curve(places[*from], places[*to])) marker-end={ "url(#graph-" (class) ")" } {}
                    }
                    @for (index, (one, (x, y))) in self.folded.boxes.iter().zip(&places).enumerate() {
                        (self.node(index, one.content, (*x, *y), elsewhere))
                    }
                }
            }
            // Fewer layers fit a phone.
            @if layers > 2 { p.hint.on-phones { "The picture scrolls sideways." } }
            @if self.edges.len() > EDGES {
                p.soft { "The picture shows " (EDGES) " of " (self.edges.len()) " dependencies." }
            }
        }
    }

    fn node(&self, index: usize, content: Content, (x, y): (usize, usize), elsewhere: &str) -> Markup {
        let rest = self.rest_of(self.folded.boxes[index].layer);
        let (name, href, class, mark) = match (&self.nodes[index], content) {
            (Some(node), _) => {
                let class = if node.is_focus { "node focus" } else { "node" };
                (node.name.clone(), node.href.clone(), class, Some(&node.mark))
            }
            (None, Content::More(several)) => {
                let href = rest.map_or_else(|| elsewhere.to_owned(), |rest| format!("#rest-{}", rest.layer));
                (self.more(several), href, "node more", None)
            }
            (None, Content::Node(_)) => return html! {},
        };
        let (text, is_cut) = shortened(&name);
        let start = if mark.is_some() { MARK } else { 0 };
        let room = WIDTH - 8 - start;
        // Where a font is still wider, a shortened name loses its end, not its start.
        let (x_of_text, anchor) = if is_cut { (0, "start") } else { (room / 2, "middle") };
        html! {
            a href=(href) {
                title { (name) @if let Some(mark) = mark { ", " (mark.words) } }
                rect class=(class) x=(x) y=(y) width=(WIDTH) height=(HEIGHT) rx="6" {}
                @if let Some(mark) = mark {
                    rect class={ "colour " (mark.class) } x=(x + 3) y=(y + 3) width=(MARK - 2) height=(HEIGHT - 6) rx="4" {}
                    text class={ "colour " (mark.class) } x=(x + 2 + MARK / 2) y=(y + 20) text-anchor="middle" { (mark.letters) }
                }
                // A nested SVG clips text that is wider than the box.
                svg x=(x + 4 + start) y=(y) width=(room) height=(HEIGHT) {
                    text x=(x_of_text) y="20" text-anchor=(anchor) { (text) }
                }
            }
        }
    }

    fn more(&self, several: usize) -> String {
        format!("{}{several} more", if self.is_complete { "" } else { "over " })
    }

    /// What the last box of a layer stands for, if the page names some of it.
    fn rest_of(&self, layer: usize) -> Option<&Rest> {
        self.rest.iter().find(|rest| rest.layer == layer && !rest.named.is_empty())
    }

    /// Names the services that have no box of their own, and says which have one. `further` says where those are that are
    /// not named either. Nothing if all have a box.
    pub fn rest(&self, further: &Markup) -> Markup {
        // The picture of a group is about all of its services.
        let is_of_group = self.nodes.iter().flatten().filter(|node| node.is_focus).count() > 1;
        html! {
            @if !self.rest.is_empty() {
                p.soft {
                    "A column that has no room for all services shows "
                    @if is_of_group { "those of this page first, then " }
                    "those of the most critical tiers, and of one tier those that most others depend on."
                    @if self.folded.box_of.len() > RANKED { " Of all found, " (RANKED) " are compared." }
                }
            }
            @for rest in &self.rest {
                details {
                    summary { "Column " (rest.layer + 1) ": " (self.more(rest.all)) }
                    // Inside: whoever follows a link to what is closed sees it open.
                    ul.near id={ "rest-" (rest.layer) } { @for label in &rest.named {
                        li {
                            a href=(path(["services", &label.slug])) { (shortened_to(&label.name, 60)) }
                            @if let Some(tier) = label.tier { " " span.soft { "tier " (tier) } }
                        }
                    } }
                    @if rest.all > rest.named.len() {
                        p.soft { "These are the first " (rest.named.len()) " of " (rest.all) ". " (further) }
                    }
                }
            }
        }
    }

    /// The services that have a box of their own.
    pub fn ids(&self) -> Vec<i64> {
        self.nodes.iter().flatten().map(|node| node.id).collect()
    }

    /// The marks of the boxes, each once.
    pub fn marks(&self) -> Vec<&Mark> {
        let mut marks: Vec<&Mark> = self.nodes.iter().flatten().map(|node| &node.mark).collect();
        marks.sort_by(|one, other| one.words.cmp(&other.words));
        marks.dedup();
        marks
    }

    /// Whether a service depends on a less critical one.
    fn is_warned(&self, from: usize, to: usize) -> bool {
        let tier = |index: usize| self.nodes[index].as_ref().and_then(|node| node.tier);
        matches!((tier(from), tier(to)), (Some(from), Some(to)) if to > from)
    }

    /// Whether the picture shows a dependency on a less critical service.
    pub fn warns(&self) -> bool {
        self.edges.iter().take(EDGES).any(|(from, to)| self.is_warned(*from, *to))
    }

    /// The boxes that this box depends on.
    fn needs(&self, index: usize) -> Vec<usize> {
        self.edges.iter().filter(|(from, _)| *from == index).map(|(_, to)| *to).collect()
    }

    /// Writes the same graph as a list: each service with its dependencies.
    pub fn list(&self) -> Markup {
        let name = |index: usize| match (&self.nodes[index], self.folded.boxes[index].content) {
            (Some(node), _) => shortened_to(&node.name, 60),
            (None, Content::More(several)) => self.more(several),
            (None, Content::Node(_)) => String::new(),
        };
        html! {
            ul {
                @for index in 0..self.nodes.len() {
                    @let needs = self.needs(index);
                    @if !needs.is_empty() { li {
                        @match &self.nodes[index] { Some(node) => a href=(node.page) { (name(index)) }, None => (name(index)) }
                        " depends on "
                        @for (place, to) in needs.iter().take(NAMES).enumerate() {
                            @if place > 0 { ", " }
                            bdi { (name(*to)) }
                            @if self.is_warned(index, *to) { " (less critical)" }
                        }
                        @if needs.len() > NAMES { " and " (needs.len() - NAMES) " more" }
                    } }
                }
            }
        }
    }
}

fn arrow(name: &str) -> Markup {
    html! {
        marker id={ "graph-" (name) } class=(name) viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto" {
            path d="M0 0 8 4 0 8z" {}
        }
    }
}

/// The SVG path of an edge. An edge to a later layer runs from side to side; any other runs around its boxes.
fn curve((from_x, from_y): (usize, usize), (to_x, to_y): (usize, usize)) -> String {
    let (start, end) = (from_y + HEIGHT / 2, to_y + HEIGHT / 2);
    if from_x < to_x {
        let (x, middle) = (from_x + WIDTH, GAP / 2);
        return format!("M{x} {start}C{} {start} {} {end} {to_x} {end}", x + middle, to_x - middle);
    }
    // Shifted, so that it does not cover an edge in the opposite direction.
    let (start, end) = (start + 7, end + 7);
    if from_x == to_x {
        let x = from_x + WIDTH;
        return format!("M{x} {start}C{0} {start} {0} {end} {x} {end}", x + BULGE);
    }
    let x = to_x + WIDTH;
    format!("M{from_x} {start}C{} {start} {} {end} {x} {end}", from_x - GAP / 2, x + GAP / 2)
}

/// Shortens a name to the width of a box's text. The second value says whether it was shortened.
fn shortened(name: &str) -> (String, bool) {
    let name = name.trim();
    let mut width = 0;
    let mut fits = 0;
    for (at, letter) in name.char_indices() {
        // Room for the ellipsis, which stands after each letter that is not the last.
        if width + ELLIPSIS <= TEXT {
            fits = at;
        }
        width += width_of(letter);
        if width > TEXT {
            return (format!("{}…", name[..fits].trim_end()), true);
        }
    }
    (name.to_owned(), false)
}

/// The width of a letter in tenths of a pixel, at the size of a box's text, in a wide font.
fn width_of(letter: char) -> usize {
    match letter {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | ' ' => 45,
        '-' => 48,
        'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '/' => 54,
        's' | 'c' | 'k' | 'v' | 'x' | 'y' | 'z' => 75,
        'w' => 107,
        'm' => 127,
        'M' | 'W' | '@' | '%' => 130,
        'A'..='Z' | '_' | '&' => 95,
        '\u{1100}'.. => 130,
        _ => 82,
    }
}

/// Cuts a text to a number of letters. Wide letters, such as Chinese ones, count twice.
fn shortened_to(name: &str, most: usize) -> String {
    let name = name.trim();
    let mut width = 0;
    let cut = name.char_indices().find(|(_, letter)| {
        width += if *letter >= '\u{1100}' { 2 } else { 1 };
        width > most
    });
    cut.map_or_else(|| name.to_owned(), |(end, _)| format!("{}…", name[..end].trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::layout::{PictureLimits, fold};

    #[test]
    fn names_are_cut_by_their_width() {
        for (name, expected) in [
            ("shopping cart", "shopping cart"),
            ("illicit-filling-list", "illicit-filling-list"),
            ("mellow-gateway-3057", "mellow-gateway-3…"),
            ("訂單服務訂單服務訂單服務", "訂單服務訂單服務訂…"),
        ] {
            assert_eq!(shortened(name).0, expected);
        }
        assert_eq!(shortened_to("訂單服務", 4), "訂單…");
    }

    #[test]
    fn an_empty_graph_and_a_single_layer_are_drawn() {
        let draw = |layers: &[usize]| {
            let folded = fold(layers, PictureLimits { nodes: 60, in_layer: 24, named: 100 });
            let nodes = folded.boxes.iter().map(|_| None).collect();
            Picture { folded, edges: Vec::new(), nodes, rest: Vec::new(), is_complete: true }
                .draw("A", "#")
                .into_string()
        };
        assert!(draw(&[]).contains("viewBox=\"0 0 40 16\""), "{}", draw(&[]));
        assert!(draw(&[0, 0]).contains("height=\"88\""), "{}", draw(&[0, 0]));
        // The stylesheet has a least width for each number of layers.
        let style = include_str!("../style.css");
        let most = crate::graph::LAYERS.max(2 * usize::from(crate::graph::SHOWN_STEPS) + 1);
        for layers in 1..=most {
            let class = format!("layers-{layers}");
            let drawn = draw(&(0..layers).collect::<Vec<_>>());
            assert!(drawn.contains(&format!("<svg class=\"{class}\" width=")), "{drawn}");
            assert_eq!(style.contains(&format!(".graph .{class} {{ min-width")), layers > 2, "{class}");
            assert_eq!(drawn.contains("scrolls sideways"), layers > 2, "{drawn}");
        }
    }
}
