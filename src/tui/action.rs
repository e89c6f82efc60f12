//! Everything a person can ask for: one table gives type, name, help and palette row.

macro_rules! actions {
    ($($variant:ident = $name:literal, $doc:literal;)+) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Action { $(#[doc = $doc] $variant,)+ }

        impl Action {
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// The word used in key tables and in the palette.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            pub fn doc(self) -> &'static str {
                match self { $(Self::$variant => $doc,)+ }
            }
        }
    };
}

actions! {
    // The wheel.
    AutonomyMore = "autonomy-more", "slide autonomy one stop up: the agent asks less";
    AutonomyLess = "autonomy-less", "slide autonomy one stop down: the agent asks more";
    Interrupt = "interrupt", "stop the turn";
    Review = "review", "come back to the call that waits for an answer";
    // A call that waits for an answer.
    Approve = "approve", "yes, this once";
    ApproveAlways = "approve-always", "yes, and always for exactly the grant that is shown";
    EditProposal = "edit-proposal", "rewrite it in your editor, then apply your text";
    ChooseHunks = "choose-hunks", "choose the hunks to apply";
    Reject = "reject", "no, and say why";
    FullDiff = "full-diff", "show the whole change on the whole screen";
    StopTurn = "stop-turn", "no, and stop the turn";
    SetAside = "set-aside", "leave it waiting and look around";
    ToggleHunk = "toggle-hunk", "take or leave this hunk";
    NextHunk = "next-hunk", "go to the next hunk";
    PreviousHunk = "previous-hunk", "go to the previous hunk";
    ApplyHunks = "apply-hunks", "apply the chosen hunks, tell the agent about the others";
    // The composer.
    Send = "send", "send what was written";
    NewLine = "new-line", "begin a new line";
    EditDraft = "edit-draft", "write the message in your editor";
    OlderDraft = "older-draft", "bring back an earlier message";
    NewerDraft = "newer-draft", "go to a later message";
    ClearDraft = "clear-draft", "clear what was written";
    // Places.
    FocusNext = "focus-next", "move between writing, transcript and pane";
    FocusPrevious = "focus-previous", "move back between writing, transcript and pane";
    FocusComposer = "focus-composer", "write a message";
    NextPane = "next-pane", "show the next pane";
    PreviousPane = "previous-pane", "show the previous pane";
    ShowTranscript = "show-transcript", "show the transcript";
    ShowPlan = "show-plan", "show the plan";
    ShowIssues = "show-issues", "show the issues";
    ShowTrajectory = "show-trajectory", "show the optimisation trajectory";
    ShowProfile = "show-profile", "show where the time goes";
    ShowGates = "show-gates", "show the gates and their verdicts";
    // Within a pane.
    Down = "down", "move down";
    Up = "up", "move up";
    Left = "left", "move left";
    Right = "right", "move right";
    PageDown = "page-down", "move down a page";
    PageUp = "page-up", "move up a page";
    Top = "top", "go to the beginning";
    Bottom = "bottom", "go to the end, and follow it";
    NextSection = "next-section", "go to the next heading, item or stage";
    PreviousSection = "previous-section", "go to the previous heading, item or stage";
    Open = "open", "open or close what is selected";
    EditDocument = "edit-document", "open this document in your editor";
    JudgeGate = "judge-gate", "ask the evaluator to judge this gate now";
    // A recording.
    NextEvent = "next-event", "go one event forward";
    PreviousEvent = "previous-event", "go one event back";
    NextPhase = "next-phase", "go to the next phase";
    PreviousPhase = "previous-phase", "go to the phase before";
    FirstEvent = "first-event", "go to the first event";
    LastEvent = "last-event", "go to the last event";
    Fork = "fork", "go on from here, in a session of its own";
    // What there is to choose from.
    LookThrough = "look-through", "look through it, event by event";
    // The program.
    Palette = "palette", "search everything that can be done";
    Help = "help", "show the keys";
    OtherTheme = "other-theme", "switch to the next theme";
    Redraw = "redraw", "draw the screen afresh";
    Close = "close", "close this";
    Suspend = "suspend", "go back to the shell for a while (`fg` returns)";
    Quit = "quit", "leave; the session can be resumed";
}

impl Action {
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|action| action.name() == name)
    }
}
