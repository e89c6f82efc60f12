//! Where the parts that answer the mouse were drawn.

use ratatui::layout::Rect;

use crate::session::Autonomy;

/// A part of the screen that answers the mouse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spot {
    Overlay,
    Approval,
    Transcript,
    Pane,
    Composer,
    /// The tab of a pane; none is the transcript's, where both do not fit.
    Tab(Option<usize>),
    /// A stop of the autonomy slider.
    Stop(Autonomy),
}

pub(super) type Spotted = (Rect, Spot);
