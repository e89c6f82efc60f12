//! A conversation as the checkpoint's own template writes it.

use std::fs;
use std::path::Path;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, Error, ErrorKind, context};
use minijinja_contrib::pycompat::unknown_method_callback;
use serde_json::Value;

use crate::model::ModelError;

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Message {
    pub role: String,
    pub content: String,
}

#[derive(Clone, Debug)]
pub(in crate::model) struct Chat {
    pub template: String,
    pub bos: String,
    pub eos: String,
}

impl Chat {
    /// From `chat_template.jinja` or `tokenizer_config.json`, where a folder has one.
    pub(in crate::model) fn open_folder(folder: &Path) -> Result<Option<Self>, ModelError> {
        let settings = settings(&folder.join("tokenizer_config.json"))?;
        let special = |name: &str| match settings.get(name) {
            Some(Value::String(text)) => text.clone(),
            Some(token) => token["content"].as_str().unwrap_or_default().to_owned(),
            None => String::new(),
        };
        let file = folder.join("chat_template.jinja");
        let template = if file.exists() {
            Some(fs::read_to_string(&file).map_err(|error| ModelError::io(&file, error))?)
        } else {
            named_default(&settings["chat_template"])
        };
        let (bos, eos) = (special("bos_token"), special("eos_token"));
        Ok(template.map(|template| Self { template, bos, eos }))
    }

    /// The text up to where the model's turn begins.
    pub(in crate::model) fn write(&self, messages: &[Message]) -> Result<String, ModelError> {
        let mut environment = Environment::new();
        let mut syntax = SyntaxConfig::builder();
        environment
            .set_syntax(syntax.trim_blocks(true).lstrip_blocks(true).build().map_err(refused)?);
        environment.set_unknown_method_callback(unknown_method_callback);
        let refuse = |why: String| Err::<String, _>(Error::new(ErrorKind::InvalidOperation, why));
        environment.add_function("raise_exception", refuse);
        let names = context! {
            messages => Serde(messages),
            bos_token => &self.bos,
            eos_token => &self.eos,
            add_generation_prompt => true,
        };
        environment.render_str(&self.template, names).map_err(refused)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "`map_err` hands it over")]
fn refused(error: Error) -> ModelError {
    let hint = "the template may want other roles, or want them to alternate";
    ModelError::input(format!("the chat template refuses the conversation: {error}"), hint)
}

fn settings(path: &Path) -> Result<Value, ModelError> {
    if !path.exists() {
        return Ok(Value::Null);
    }
    let text = fs::read_to_string(path).map_err(|error| ModelError::io(path, error))?;
    serde_json::from_str(&text).map_err(|error| {
        ModelError::broken(path.display().to_string(), format!("not JSON: {error}"))
    })
}

/// A template, or the one called `default` out of several.
fn named_default(value: &Value) -> Option<String> {
    match value {
        Value::String(template) => Some(template.clone()),
        Value::Array(templates) => {
            let default = templates.iter().find(|one| one["name"] == "default");
            default.and_then(|one| one["template"].as_str()).map(str::to_owned)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chat(template: &str) -> Chat {
        Chat { template: template.into(), bos: "<s>".into(), eos: "</s>".into() }
    }

    fn said(role: &str, content: &str) -> Message {
        Message { role: role.into(), content: content.into() }
    }

    #[test]
    fn a_template_sees_messages_and_methods_of_python() {
        let template = "{{ bos_token }}{% for m in messages %}\n{% if m['role'].startswith('u') %}\n\
                        [{{ m.content.strip() }}]\n{% endif %}\n{% endfor %}\n\
                        {% if add_generation_prompt %}>{% endif %}";
        let text = chat(template).write(&[said("user", " hi "), said("tool", "x")]).unwrap();
        assert_eq!(text, "<s>[hi]\n>");
    }

    #[test]
    fn a_template_may_refuse() {
        let error = chat("{{ raise_exception('only users') }}").write(&[said("tool", "x")]);
        assert!(error.unwrap_err().to_string().contains("only users"));
    }
}
