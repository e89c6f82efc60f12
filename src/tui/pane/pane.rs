//! The one interface of every pane.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::tui::action::Action;
use crate::tui::effect::Effect;
use crate::tui::load::Wanted;
use crate::tui::view::View;

pub(crate) trait Pane {
    fn title(&self) -> &'static str;

    /// A word beside the title: how many, how fast.
    fn badge(&self, _view: &View<'_>) -> Option<String> {
        None
    }

    /// What must be loaded before all of it can be drawn.
    fn wants(&self, _view: &View<'_>) -> Vec<Wanted> {
        Vec::new()
    }

    fn act(&mut self, action: Action, view: &View<'_>) -> Option<Effect>;

    /// Lays out for this place and clamps what is scrolled: comes before every draw.
    fn fit(&mut self, area: Rect, view: &View<'_>);

    fn draw(&self, view: &View<'_>, area: Rect, buffer: &mut Buffer);
}
