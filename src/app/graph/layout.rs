//! Places the nodes of a directed graph in layers, from left to right.
//!
//! Pure functions of numbers: nodes and layers are indices. [`layers`] and [`fold`] take time and memory linear in the
//! nodes and edges. [`Folded::rows`] is slower, and works on a folded graph, whose size is bounded. The graph may have
//! cycles.

/// The maximum size of a picture.
#[derive(Debug, Clone, Copy)]
pub struct PictureLimits {
    /// The maximum number of boxes.
    pub nodes: usize,
    /// The maximum number of boxes in one layer.
    pub in_layer: usize,
    /// The maximum number of nodes without a box of their own that are named below the picture.
    pub named: usize,
}

/// A box: a node of a folded graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shown {
    /// Its layer.
    pub layer: usize,
    /// The node or nodes that it stands for.
    pub content: Content,
}

/// What a node of a folded graph stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// A node of the graph.
    Node(usize),
    /// Several nodes of the same layer: how many.
    More(usize),
}

/// A folded graph: the boxes that are shown, and the box of each node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folded {
    /// The boxes, by layer.
    pub boxes: Vec<Shown>,
    /// For each node of the graph, the index of its box.
    pub box_of: Vec<usize>,
    /// The boxes that stand for several nodes, each with these nodes in their order.
    pub rest: Vec<(usize, Vec<usize>)>,
}

/// Returns the layer of each of `count` nodes, less than `most`. Edges lead to later layers, with two exceptions: an edge
/// that closes a cycle leads back, and the last nodes of a path with more than `most` nodes share the last layer.
pub fn layers(count: usize, edges: &[(usize, usize)], most: usize) -> Vec<usize> {
    let mut targets = vec![Vec::new(); count];
    for (from, to) in edges {
        targets[*from].push(*to);
    }
    // Depth first, without recursion. A node is finished before the nodes from which it was reached, so the reverse
    // order is topological, except for the edges that close a cycle.
    let (mut order, mut begun) = (Vec::with_capacity(count), vec![false; count]);
    for start in 0..count {
        let mut path = Vec::new();
        if !std::mem::replace(&mut begun[start], true) {
            path.push((start, 0));
        }
        while let Some((node, next)) = path.last_mut() {
            match targets[*node].get(*next) {
                None => order.extend(path.pop().map(|(node, _)| node)),
                Some(to) => {
                    *next += 1;
                    if !std::mem::replace(&mut begun[*to], true) {
                        path.push((*to, 0));
                    }
                }
            }
        }
    }
    order.reverse();
    let mut place = vec![0; count];
    for (index, node) in order.iter().enumerate() {
        place[*node] = index;
    }
    let mut layers = vec![0; count];
    for node in order {
        for to in targets[node].iter().filter(|to| place[**to] > place[node]) {
            layers[*to] = layers[*to].max(layers[node] + 1).min(most.saturating_sub(1));
        }
    }
    layers
}

/// Limits the picture to `most`: keeps the first nodes of each layer and replaces the others by one box.
pub fn fold(layer_of: &[usize], most: PictureLimits) -> Folded {
    let order: Vec<usize> = (0..layer_of.len()).collect();
    fold_by(layer_of, &order, most)
}

/// Like [`fold`], where `order` has all nodes in the order in which they are kept.
pub fn fold_by(layer_of: &[usize], order: &[usize], most: PictureLimits) -> Folded {
    let mut sizes = vec![0; layer_of.iter().max().map_or(0, |last| last + 1)];
    layer_of.iter().for_each(|layer| sizes[*layer] += 1);
    let fits = |share: &usize| sizes.iter().map(|size| size.min(share)).sum::<usize>() <= most.nodes;
    let share = (2..=most.in_layer).rev().find(fits).unwrap_or(2);
    let (mut boxes, mut box_of, mut rest) = (Vec::new(), vec![0; layer_of.len()], Vec::new());
    for (layer, size) in sizes.iter().enumerate() {
        let shown = if *size > share { share - 1 } else { *size };
        let start = boxes.len();
        let members: Vec<usize> = order.iter().copied().filter(|node| layer_of[*node] == layer).collect();
        for (at, node) in members.iter().copied().enumerate() {
            box_of[node] = start + at.min(shown);
            if at < shown {
                boxes.push(Shown { layer, content: Content::Node(node) });
            }
        }
        if *size > shown {
            boxes.push(Shown { layer, content: Content::More(size - shown) });
            rest.push((start + shown, members[shown..].to_vec()));
        }
    }
    Folded { boxes, box_of, rest }
}

impl Folded {
    /// For each entry of [`Folded::rest`], its first nodes: together at most `most`, in fair shares.
    pub fn named(&self, most: usize) -> Vec<&[usize]> {
        let fits = |share: &usize| self.rest.iter().map(|(_, nodes)| nodes.len().min(*share)).sum::<usize>() <= most;
        let share = (0..=most).rev().find(fits).unwrap_or(0);
        self.rest.iter().map(|(_, nodes)| &nodes[..nodes.len().min(share)]).collect()
    }

    /// The edges between the boxes, without duplicates, in the order of the graph's edges.
    pub fn edges(&self, edges: impl IntoIterator<Item = (usize, usize)>) -> Vec<(usize, usize)> {
        let mut seen = std::collections::HashSet::new();
        let boxes = edges.into_iter().map(|(from, to)| (self.box_of[from], self.box_of[to]));
        boxes.filter(|(from, to)| from != to && seen.insert((*from, *to))).collect()
    }

    /// The row of each box in its layer. Places boxes near those that they are connected with (the barycentre
    /// heuristic), so that few edges cross. A box that stands for several nodes stays last.
    pub fn rows(&self, edges: &[(usize, usize)]) -> Vec<usize> {
        const SWEEPS: usize = 8;
        let count = self.boxes.len();
        let mut near = vec![Vec::new(); count];
        for (from, to) in edges {
            near[*from].push(*to);
            near[*to].push(*from);
        }
        let layers = self.boxes.iter().map(|one| one.layer + 1).max().unwrap_or(0);
        let mut members = vec![Vec::new(); layers];
        self.boxes.iter().enumerate().for_each(|(index, one)| members[one.layer].push(index));
        let heights: Vec<f64> = members.iter().map(|layer| layer.len() as f64).collect();
        // Distances from the middle of the layer, so that layers of different sizes compare.
        let mut offsets = vec![0.0; count];
        let settle = |layer: &[usize], offsets: &mut [f64]| {
            for (row, index) in layer.iter().enumerate() {
                offsets[*index] = row as f64 - (layer.len() as f64 - 1.0) / 2.0;
            }
        };
        members.iter().for_each(|layer| settle(layer, &mut offsets));
        for sweep in 0..SWEEPS {
            for step in 0..layers {
                let layer = if sweep % 2 == 0 { step } else { layers - 1 - step };
                let wanted = |index: &usize| {
                    let others = || near[*index].iter().filter(|other| self.boxes[**other].layer != layer);
                    let sum: f64 = others().map(|other| offsets[*other]).sum();
                    match (self.boxes[*index].content, others().count()) {
                        (Content::More(_), _) => heights[layer],
                        (_, 0) => offsets[*index],
                        (_, several) => sum / several as f64,
                    }
                };
                members[layer].sort_by(|one, other| wanted(one).total_cmp(&wanted(other)));
                settle(&members[layer], &mut offsets);
            }
        }
        let mut rows = vec![0; count];
        for layer in &members {
            layer.iter().enumerate().for_each(|(row, index)| rows[*index] = row);
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: PictureLimits = PictureLimits { nodes: 60, in_layer: 24, named: 100 };

    #[test]
    fn edges_lead_to_later_layers_and_cycles_end() {
        let edges = [(0, 1), (1, 2), (0, 2), (3, 2)];
        assert_eq!(layers(5, &edges, 6), [0, 1, 2, 0, 0]);
        assert_eq!(layers(3, &[(0, 1), (1, 2), (2, 0)], 6), [0, 1, 2], "a cycle");
        assert_eq!(layers(1, &[(0, 0)], 6), [0], "a loop");
        let path: Vec<(usize, usize)> = (0..99_999).map(|at| (at, at + 1)).collect();
        assert_eq!(layers(100_000, &path, 6)[4..7], [4, 5, 5], "a long path shares the last layer");
        let all: Vec<(usize, usize)> = (0..100).flat_map(|from| (0..100).map(move |to| (from, to))).collect();
        let layers = layers(100, &all, 6);
        assert_eq!((layers[0], layers.iter().max()), (0, Some(&5)), "all depend on each other");
    }

    #[test]
    fn a_layer_that_is_too_large_ends_in_one_box_for_the_rest() {
        // 200 in the first layer, one in the second, three in the third.
        let layer_of: Vec<usize> =
            (0..204).map(|node| if node < 200 { 0 } else { 1 + usize::from(node > 200) }).collect();
        let folded = fold(&layer_of, MOST);
        assert_eq!(folded.boxes.len(), 28);
        assert_eq!(folded.boxes[22], Shown { layer: 0, content: Content::Node(22) });
        assert_eq!(folded.boxes[23], Shown { layer: 0, content: Content::More(177) });
        assert_eq!((folded.box_of[22], folded.box_of[23], folded.box_of[199], folded.box_of[200]), (22, 23, 23, 24));
        assert_eq!(folded.edges([(0, 200), (150, 200), (199, 200), (150, 151)]), [(0, 24), (23, 24)]);
        for layers in 1..=11 {
            let layer_of: Vec<usize> = (0..layers * 500).map(|node| node % layers).collect();
            let folded = fold(&layer_of, MOST);
            assert!(folded.boxes.len() <= 60 && folded.boxes.len() > 60 - layers.max(37), "{layers}");
            let count = |one: &Shown| if let Content::More(count) = one.content { count } else { 1 };
            assert_eq!(folded.boxes.iter().map(count).sum::<usize>(), layers * 500, "nothing is lost");
        }
        assert_eq!(fold(&[], MOST), Folded { boxes: Vec::new(), box_of: Vec::new(), rest: Vec::new() });
    }

    #[test]
    fn the_first_of_an_order_are_kept_and_the_rest_stays_in_it() {
        // 30 in the first layer, 130 in the second, one in the third.
        let layer_of: Vec<usize> = (0..161).map(|node| usize::from(node >= 30) + usize::from(node == 160)).collect();
        let order: Vec<usize> = (0..161).rev().collect();
        let folded = fold_by(&layer_of, &order, MOST);
        assert_eq!(folded.boxes[0], Shown { layer: 0, content: Content::Node(29) });
        assert_eq!(folded.boxes[23], Shown { layer: 0, content: Content::More(7) });
        assert_eq!((folded.box_of[29], folded.box_of[6], folded.box_of[0]), (0, 23, 23));
        assert_eq!(folded.rest[0], (23, vec![6, 5, 4, 3, 2, 1, 0]));
        assert_eq!((folded.rest[1].0, folded.rest[1].1.len(), folded.rest[1].1[0]), (47, 107, 136));
        let named = |most| folded.named(most).iter().map(|nodes| nodes.len()).collect::<Vec<_>>();
        assert_eq!((named(100), named(8), named(1), named(0)), (vec![7, 93], vec![4, 4], vec![0, 0], vec![0, 0]));
        assert_eq!(fold(&layer_of, MOST).rest[0].1[0], 23, "by their numbers");
    }

    #[test]
    fn boxes_are_placed_near_the_boxes_that_they_are_connected_with() {
        // Crossed: 0 and 1 on the left lead to 3 and 2 on the right.
        let folded = fold(&[0, 0, 1, 1], MOST);
        let rows = folded.rows(&[(0, 3), (1, 2)]);
        assert_eq!(rows[0] < rows[1], rows[3] < rows[2], "{rows:?}");
        let folded = fold(&vec![0; 30], MOST);
        let rows = folded.rows(&[]);
        assert_eq!(rows, (0..24).collect::<Vec<_>>(), "each row is used once, and the box for several nodes is last");
    }
}
