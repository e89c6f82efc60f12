//! Named intermediates, on request only: what a computation shows while it runs.

use std::collections::BTreeMap;

use crate::tensor::Tensor;

/// Where a computation offers its intermediates. What is not wanted is not copied.
pub trait Tap {
    fn wants(&self, name: &str) -> bool;
    fn take(&mut self, name: &str, shape: &[usize], data: &[f32]);

    /// Whether it wants nothing at all: then names need not even be put together.
    fn idle(&self) -> bool {
        false
    }
}

/// Wants nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoTap;

impl Tap for NoTap {
    fn wants(&self, _name: &str) -> bool {
        false
    }

    fn take(&mut self, _name: &str, _shape: &[usize], _data: &[f32]) {}

    fn idle(&self) -> bool {
        true
    }
}

/// Keeps what it wants. A name that comes again (decode goes token by token) is appended as rows.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    wanted: Vec<String>,
    tensors: BTreeMap<String, Tensor>,
}

impl Trace {
    /// Wants everything.
    pub fn all() -> Self {
        Self::of(["*"])
    }

    /// Wants the names that match one of the patterns; `*` stands for any run of characters.
    pub fn of<P: Into<String>>(patterns: impl IntoIterator<Item = P>) -> Self {
        let wanted = patterns.into_iter().map(Into::into).collect();
        Self { wanted, tensors: BTreeMap::new() }
    }

    pub fn get(&self, name: &str) -> Option<&Tensor> {
        self.tensors.get(name)
    }

    pub fn insert(&mut self, name: impl Into<String>, tensor: Tensor) {
        self.tensors.insert(name.into(), tensor);
    }

    pub fn remove(&mut self, name: &str) -> Option<Tensor> {
        self.tensors.remove(name)
    }

    /// In order of name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Tensor)> {
        self.tensors.iter().map(|(name, tensor)| (name.as_str(), tensor))
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&str, &mut Tensor)> {
        self.tensors.iter_mut().map(|(name, tensor)| (name.as_str(), tensor))
    }

    pub fn len(&self) -> usize {
        self.tensors.len()
    }

    pub fn is_empty(&self) -> bool {
        self.tensors.is_empty()
    }
}

impl Tap for Trace {
    fn wants(&self, name: &str) -> bool {
        self.wanted.iter().any(|pattern| matches(pattern, name))
    }

    fn take(&mut self, name: &str, shape: &[usize], data: &[f32]) {
        match self.tensors.get_mut(name) {
            Some(kept) if kept.shape.len() == shape.len() && kept.shape[1..] == shape[1..] => {
                kept.shape[0] += shape[0];
                kept.data.extend_from_slice(data);
            }
            _ => self.insert(name, Tensor::new(shape, data.to_vec())),
        }
    }

    fn idle(&self) -> bool {
        self.wanted.is_empty()
    }
}

fn matches(pattern: &str, name: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else {
        return pattern == name;
    };
    let Some(tail) = name.strip_prefix(head) else {
        return false;
    };
    if rest.is_empty() {
        return true;
    }
    tail.char_indices().any(|(at, _)| matches(rest, &tail[at..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_run() {
        let check = |pattern: &str, name: &str, expected: bool| {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        };
        check("*", "logits", true);
        check("layers.*.hidden", "layers.12.hidden", true);
        check("layers.*.hidden", "layers.12.q", false);
        check("layers.1.*", "layers.12.q", false);
        check("logits", "logits", true);
        check("logits", "logits2", false);
        check("*.q", "layers.0.q", true);
    }

    #[test]
    fn a_name_that_comes_again_grows_by_rows() {
        let mut trace = Trace::all();
        trace.take("q", &[2, 2], &[1.0, 2.0, 3.0, 4.0]);
        trace.take("q", &[1, 2], &[5.0, 6.0]);
        assert_eq!(trace.get("q").unwrap().shape, [3, 2]);
        assert_eq!(trace.get("q").unwrap().last(), [5.0, 6.0]);
    }
}
