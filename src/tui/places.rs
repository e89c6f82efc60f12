//! Where the parts of the screen are, for the size that the terminal has.

use ratatui::layout::Rect;

/// From this width on the transcript and a pane stand side by side.
const WIDE: u16 = 116;
/// A screen with fewer cells shows only that it is too small.
const LEAST: (u16, u16) = (30, 8);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Places {
    pub wide: bool,
    /// One row, or two where it is narrow.
    pub head: Rect,
    /// The names of what there is to look at, above it.
    pub titles: Rect,
    /// The column that the transcript, the waiting call and the composer share.
    pub column: Rect,
    pub transcript: Option<Rect>,
    pub pane: Option<Rect>,
    pub composer: Rect,
    pub foot: Rect,
}

impl Places {
    /// How wide the transcript and the composer are.
    pub(super) fn column(width: u16) -> u16 {
        if width >= WIDE { width * 9 / 20 } else { width }
    }

    /// `None`: there is no room for a screen at all.
    pub(super) fn of(area: Rect, composer: u16, pane_first: bool) -> Option<Self> {
        if area.width < LEAST.0 || area.height < LEAST.1 {
            return None;
        }
        let wide = area.width >= WIDE;
        let row = |y: u16, height: u16| Rect::new(area.x, area.y + y, area.width, height);
        let last = area.height - 1;
        // A long draft may take half of what is there, and no more.
        let composer = composer.min(last / 2).max(1);
        let body = row(3, last.saturating_sub(composer + 4));
        let column = Self::column(area.width);
        let narrowed = |place: Rect| Rect { width: column, ..place };
        let right = area.x + column + 1;
        let beside = Rect::new(right, body.y, area.right() - right.min(area.right()), last - 3);
        Some(Self {
            wide,
            head: row(0, if wide { 1 } else { 2 }),
            titles: row(2, 1),
            column: narrowed(row(3, last - 3)),
            transcript: (wide || !pane_first).then_some(narrowed(body)),
            pane: match (wide, pane_first) {
                (true, _) => Some(beside),
                (false, first) => first.then_some(body),
            },
            composer: narrowed(row(last - composer, composer)),
            foot: row(last, 1),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_lies_inside_and_none_on_another() {
        for width in 1..260 {
            for height in 1..80 {
                let area = Rect::new(0, 0, width, height);
                for (composer, pane_first) in [(1, false), (6, true), (40, false)] {
                    let Some(places) = Places::of(area, composer, pane_first) else {
                        assert!(width < LEAST.0 || height < LEAST.1);
                        continue;
                    };
                    let Places { head, titles, transcript, pane, composer, foot, .. } = places;
                    let body = [transcript, pane].into_iter().flatten();
                    let all: Vec<Rect> =
                        [head, titles, composer, foot].into_iter().chain(body).collect();
                    for (at, one) in all.iter().enumerate() {
                        assert_eq!(one.intersection(area), *one, "{width}×{height} {places:?}");
                        for other in &all[at + 1..] {
                            assert!(!one.intersects(*other), "{width}×{height} {places:?}");
                        }
                    }
                }
            }
        }
    }
}
