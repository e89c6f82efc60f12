//! How tools do their work: apart from the tasks that must stay quick.

use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::json;
use tokio::task::spawn_blocking;

use super::tool::Ran;
use crate::base::Finding;
use crate::session::ToolOutcome;

/// Does something that reads files or computes. What breaks in it is a failed call, no more.
pub(super) fn apart(work: impl FnOnce() -> Ran + Send + 'static) -> BoxFuture<'static, Ran> {
    let task = spawn_blocking(work);
    async move {
        task.await.unwrap_or_else(|error| {
            ToolOutcome::failed(format!("the tool broke: {error}; this is a fault of ours")).into()
        })
    }
    .boxed()
}

/// For `?` in work: an error becomes a failed call.
pub(super) fn ended(work: Result<Ran, ToolOutcome>) -> Ran {
    work.unwrap_or_else(Ran::from)
}

#[expect(clippy::needless_pass_by_value, reason = "it is for `map_err`")]
pub(super) fn failed(error: impl ToString) -> ToolOutcome {
    ToolOutcome::failed(error.to_string())
}

/// A call that findings refuse, with all of them for a program and the first few for a reader.
pub(super) fn refused(what: &str, findings: &[Finding]) -> ToolOutcome {
    let shown = findings.iter().take(5).map(|finding| format!("\n{finding}"));
    let more = findings.len().saturating_sub(5);
    let rest = if more > 0 { format!("\n… and {more} more") } else { String::new() };
    let text = format!("{what}{}{rest}", shown.collect::<String>());
    ToolOutcome::Failed { text, value: json!({ "findings": findings }) }
}
