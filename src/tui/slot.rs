//! The names of all styles: what a theme may set, and what panes ask for.

macro_rules! slots {
    ($($variant:ident = $name:literal, $doc:literal;)+) => {
        /// One style of a theme.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Slot { $(#[doc = $doc] $variant,)+ }

        impl Slot {
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }
        }
    };
}

slots! {
    Text = "text", "plain text; its background is that of the screen";
    Strong = "strong", "text that matters";
    Dim = "dim", "text that explains";
    Faint = "faint", "rules, gutters, empty bars";
    Accent = "accent", "what has the keys, what is selected, what is now";
    Title = "title", "names of panes and headings of the screen";
    Key = "key", "a key that can be pressed";
    Good = "good", "passed, kept, done";
    Bad = "bad", "failed, reverted";
    Warn = "warn", "blocked, asking, noticed";
    Busy = "busy", "at work";
    Selected = "selected", "the selected row";
    Rule = "rule", "lines between parts of the screen";
    RuleFocused = "rule-focused", "the frame of what has the keys";
    User = "user", "what a person said";
    Agent = "agent", "what the agent said";
    SliderOn = "slider-on", "the stop of autonomy that holds";
    Heading = "heading", "a heading of a document";
    Code = "code", "code within a line";
    CodeBlock = "code-block", "a block of code";
    Quote = "quote", "a quoted block";
    Link = "link", "a link";
    Added = "added", "a line that comes";
    Removed = "removed", "a line that goes";
    AddedWord = "added-word", "the part of the line that comes";
    RemovedWord = "removed-word", "the part of the line that goes";
    Hunk = "hunk", "the heading of a hunk";
    Dispatch = "dispatch", "time paid per dispatch";
    Upload = "upload", "time for writing buffers";
    Tile = "tile", "time of kernels on the array";
    Host = "host", "time on the host";
    Floor = "floor", "the least time that is possible";
}
