//! A position in something longer than its place; clamped in `fit`, so that drawing is a reading.

use crate::tui::action::Action;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Scroll {
    /// The first row that is shown.
    pub at: usize,
    pub height: usize,
    pub total: usize,
    /// Stays at the end while the end moves.
    pub follows: bool,
}

impl Scroll {
    pub(crate) fn following() -> Self {
        Self { follows: true, ..Self::default() }
    }

    /// Whether the action was one of moving.
    pub(crate) fn act(&mut self, action: Action) -> bool {
        let page = self.height.saturating_sub(2).max(1);
        let to = match action {
            Action::Down => self.at.saturating_add(1),
            Action::Up => self.at.saturating_sub(1),
            Action::PageDown => self.at.saturating_add(page),
            Action::PageUp => self.at.saturating_sub(page),
            Action::Top => 0,
            Action::Bottom => usize::MAX,
            _ => return false,
        };
        let follows = self.follows;
        self.go(to);
        // Only going to the end, or reaching it, makes a place follow what comes.
        self.follows = action == Action::Bottom || (follows && to >= self.most());
        true
    }

    pub(crate) fn go(&mut self, to: usize) {
        self.at = to.min(self.most());
        self.follows = false;
    }

    pub(crate) fn fit(&mut self, total: usize, height: usize) {
        (self.total, self.height) = (total, height);
        self.at = if self.follows { self.most() } else { self.at.min(self.most()) };
    }

    /// Moves as little as is needed to show this row.
    pub(crate) fn show(&mut self, row: usize) {
        if row < self.at {
            self.at = row;
        } else if self.height > 0 && row >= self.at + self.height {
            self.at = row + 1 - self.height;
        }
    }

    pub(crate) fn rows(&self) -> std::ops::Range<usize> {
        self.at..(self.at + self.height).min(self.total)
    }

    pub(crate) fn bar(&self) -> (usize, usize, usize) {
        (self.at, self.height, self.total)
    }

    fn most(&self) -> usize {
        self.total.saturating_sub(self.height)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_stays_at_the_end_until_it_is_moved() {
        let mut scroll = Scroll::following();
        scroll.fit(100, 10);
        assert_eq!(scroll.at, 90);
        scroll.act(Action::Up);
        scroll.fit(120, 10);
        assert_eq!((scroll.at, scroll.follows), (89, false));
        scroll.act(Action::Bottom);
        scroll.fit(130, 10);
        assert_eq!(scroll.at, 120);
        scroll.fit(5, 10);
        assert_eq!((scroll.at, scroll.rows()), (0, 0..5));
    }
}
