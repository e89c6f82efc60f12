//! The tools that need no device: files, documents, notes, skills, questions and commands.

use std::sync::Arc;

use super::ask::Ask;
use super::edit::Edit;
use super::list::List;
use super::note::Note;
use super::read::Read;
use super::remember::Remember;
use super::run::Run;
use super::search::Search;
use super::skill::Skill;
use super::tool::Tool;
use super::write::Write;
use super::write_document::WriteDocument;

/// In the order in which a mind is told of them.
pub fn files() -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(Read),
        Arc::new(List),
        Arc::new(Search),
        Arc::new(Edit),
        Arc::new(Write),
        Arc::new(WriteDocument),
        Arc::new(Note),
        Arc::new(Remember::default()),
        Arc::new(Skill),
        Arc::new(Ask),
        Arc::new(Run),
    ]
}
