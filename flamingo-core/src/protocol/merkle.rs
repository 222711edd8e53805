//! A binary hash tree over a list: one digest for all, and a path of digests that proves one.
//!
//! *Shape.* Neighbours are joined level by level; an odd one at the end goes up as it is. So the shape follows from
//! the length alone, which whoever checks a path has to know. Leaves and nodes are hashed in different domains.

use alloc::vec::Vec;

use crate::hash::{Domain, Hasher};
use crate::id::Digest;

const NODE: Domain = Domain("flamingo/node/v1");

/// All levels, the leaves first. 64 bytes per leaf.
#[derive(Clone, Debug)]
pub(super) struct MerkleTree(Vec<Vec<Digest>>);

impl MerkleTree {
    pub(super) fn new(leaves: Vec<Digest>) -> Self {
        let mut levels = alloc::vec![leaves];
        while let Some(level) = levels.last().filter(|level| level.len() > 1) {
            let join = |pair: &[Digest]| match *pair {
                [ref left, ref right] => node(left, right),
                _ => pair[0],
            };
            let next = level.chunks(2).map(join).collect();
            levels.push(next);
        }
        Self(levels)
    }

    /// The digests beside the way from a leaf to the root, from below; a level without a neighbour has none.
    pub(super) fn path(&self, index: usize) -> Vec<Digest> {
        let beside = |(height, level): (usize, &Vec<Digest>)| level.get(index >> height ^ 1).copied();
        self.0.iter().enumerate().filter_map(beside).collect()
    }

    pub(super) fn root(&self) -> Digest {
        self.0.last().and_then(|level| level.first()).copied().unwrap_or(Digest([0; 32]))
    }
}

/// The root of a list in one pass and memory for one digest per level; zeros for the empty list.
pub(super) fn root_of(leaves: impl Iterator<Item = Digest>) -> Digest {
    // Roots of full subtrees, the widest first.
    let mut roots: Vec<Digest> = Vec::new();
    for (leaf, number) in leaves.zip(1u64..) {
        roots.push(leaf);
        for _ in 0..number.trailing_zeros() {
            join_last(&mut roots);
        }
    }
    while roots.len() > 1 {
        join_last(&mut roots);
    }
    roots.pop().unwrap_or(Digest([0; 32]))
}

fn join_last(roots: &mut Vec<Digest>) {
    if let (Some(right), Some(left)) = (roots.pop(), roots.pop()) {
        roots.push(node(&left, &right));
    }
}

/// The root that `path` leads to from the leaf at `index` of `len`; `None` when it has not the length it must have.
pub(super) fn climb(leaf: Digest, index: u64, len: u64, path: &[Digest]) -> Option<Digest> {
    if index >= len {
        return None;
    }
    let (mut at, mut last, mut digest) = (index, len - 1, leaf);
    let mut path = path.iter();
    while last > 0 {
        if at & 1 == 1 {
            digest = node(path.next()?, &digest);
        } else if at < last {
            digest = node(&digest, path.next()?);
        }
        (at, last) = (at >> 1, last >> 1);
    }
    path.next().is_none().then_some(digest)
}

fn node(left: &Digest, right: &Digest) -> Digest {
    Hasher::new(NODE).digest(left).digest(right).finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaves(len: u64) -> Vec<Digest> {
        (0..len).map(|at| Hasher::new(Domain("leaf")).u64(at).finish()).collect()
    }

    /// Every leaf of every small tree has a path to the root, which both computations agree on; no other place, length,
    /// leaf or path leads there.
    #[test]
    fn paths_lead_to_the_root_and_to_nothing_else() {
        let mut roots = Vec::new();
        for len in 0..34 {
            let leaves = leaves(len);
            let tree = MerkleTree::new(leaves.clone());
            let root = tree.root();
            assert_eq!(root, root_of(leaves.iter().copied()), "{len} leaves");
            assert!(!roots.contains(&root));
            roots.push(root);
            for at in 0..len {
                let (leaf, path) = (leaves[at as usize], tree.path(at as usize));
                assert_eq!(climb(leaf, at, len, &path), Some(root), "{at} of {len}");
                assert!(
                    (0..len).filter(|&other| other != at).all(|other| climb(leaf, other, len, &path) != Some(root))
                );
                assert_ne!(
                    climb(leaves[(at as usize + 1) % len as usize], at, len, &path),
                    Some(root).filter(|_| len > 1)
                );
                for cut in 0..path.len() {
                    assert_eq!(climb(leaf, at, len, &path[..cut]), None);
                    let mut bent = path.clone();
                    bent[cut].0[0] ^= 1;
                    assert_ne!(climb(leaf, at, len, &bent), Some(root));
                }
                let longer: Vec<_> = path.iter().copied().chain([leaf]).collect();
                assert_eq!(climb(leaf, at, len, &longer), None);
            }
            assert_eq!(climb(Digest([0; 32]), len, len, &[]), None, "beyond the end");
        }
    }
}
