//! A tool whose work is a plain function on the blocking pool: most of them.

use std::marker::PhantomData;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::kit::Kit;
use super::tool::{BadCall, Ran, Tool};
use crate::base::{Finding, Stop};
use crate::policy::Footprint;
use crate::session::{Answer, ToolCall, ToolOutcome, ToolSpec};
use crate::workspace::Patch;

pub(super) trait Hand: Send + Sync + 'static {
    /// What the call says, read from its arguments; unknown ones are refused.
    type Args: DeserializeOwned + Send;

    const NAME: &'static str;
    const DOC: &'static str;

    /// The properties of the arguments, as JSON Schema.
    fn properties() -> Value;

    /// Arguments that may not be left out.
    const REQUIRED: &'static [&'static str] = &[];

    fn footprint(args: &Self::Args) -> Result<Footprint, BadCall>;

    fn work(args: Self::Args, at: &At<'_>) -> Result<Ran, Failure>;

    /// The change that the call would make, for a person to see before it is made.
    fn preview(_: &Self::Args, _: &Kit) -> Option<Patch> {
        None
    }
}

/// Where and how the work is done.
pub(super) struct At<'a> {
    /// The form in which a person allowed it.
    pub answer: &'a Answer,
    pub kit: &'a Kit,
    pub stop: &'a Stop,
}

/// Why it came to nothing: told to the mind, which goes on.
#[derive(Debug)]
pub(super) struct Failure {
    pub text: String,
    pub value: Value,
}

impl<E: ToString> From<E> for Failure {
    fn from(error: E) -> Self {
        Self { text: error.to_string(), value: Value::Null }
    }
}

impl Failure {
    /// Refused by checks: the findings go along, for triggers and for people.
    pub(super) fn of_findings(what: &str, findings: &[Finding]) -> Self {
        let errors = findings.iter().filter(|finding| finding.is_error());
        let told: Vec<String> = errors.map(ToString::to_string).collect();
        let text = format!("{what}\n{}", told.join("\n"));
        Self { text, value: json!({ "findings": findings }) }
    }
}

/// Makes a tool of a hand.
pub(super) fn by<H: Hand>() -> Arc<dyn Tool> {
    Arc::new(By::<H>(PhantomData))
}

struct By<H>(PhantomData<H>);

impl<H: Hand> By<H> {
    fn read(call: &ToolCall) -> Result<H::Args, BadCall> {
        let args = match &call.args {
            Value::Null => json!({}),
            args => args.clone(),
        };
        serde_json::from_value(args).map_err(|error| BadCall(format!("`{}`: {error}", H::NAME)))
    }
}

impl<H: Hand> Tool for By<H> {
    fn spec(&self) -> ToolSpec {
        let schema = json!({
            "type": "object",
            "properties": H::properties(),
            "required": H::REQUIRED,
            "additionalProperties": false,
        });
        ToolSpec { name: H::NAME, doc: H::DOC, schema }
    }

    fn footprint(&self, call: &ToolCall) -> Result<Footprint, BadCall> {
        H::footprint(&Self::read(call)?)
    }

    fn preview(&self, call: &ToolCall, kit: &Kit) -> Option<Patch> {
        H::preview(&Self::read(call).ok()?, kit)
    }

    fn run(
        self: Arc<Self>,
        call: ToolCall,
        answer: Answer,
        kit: Kit,
        stop: Stop,
    ) -> BoxFuture<'static, Ran> {
        let work = move || {
            let args = match Self::read(&call) {
                Ok(args) => args,
                Err(BadCall(why)) => return ToolOutcome::failed(why).into(),
            };
            if stop.is_wanted() {
                return ToolOutcome::Stopped.into();
            }
            let at = At { answer: &answer, kit: &kit, stop: &stop };
            H::work(args, &at).unwrap_or_else(|Failure { text, value }| {
                if stop.is_wanted() {
                    return ToolOutcome::Stopped.into();
                }
                ToolOutcome::Failed { text, value }.into()
            })
        };
        async move {
            match tokio::task::spawn_blocking(work).await {
                Ok(ran) => ran,
                Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
                Err(_) => ToolOutcome::Stopped.into(),
            }
        }
        .boxed()
    }
}
