//! Texts of recipes with numbers in them.

use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior, Value as Context};
use serde_json::{Map, Value};

/// Fills in a text. What is undefined shows as nothing, so that a step can do without.
pub(super) fn render(text: &str, names: &Map<String, Value>) -> Result<String, String> {
    if !text.contains('{') {
        return Ok(text.to_owned());
    }
    let filled = environment().render_str(text, Context::from(Serde(names)));
    filled.map_err(|error| format!("a template of a recipe: {error}"))
}

/// The value of an expression.
pub(super) fn evaluate(expression: &str, names: &Map<String, Value>) -> Result<Value, String> {
    let environment = environment();
    let compiled = environment.compile_expression(expression);
    let value = compiled.and_then(|compiled| compiled.eval(Context::from(Serde(names))));
    let value = value.map_err(|error| format!("`{expression}` of a recipe: {error}"))?;
    Ok(serde_json::to_value(value).unwrap_or_default())
}

/// Fills in every text of a value; one that is a single `{{ expression }}` keeps its type.
pub(super) fn fill(value: &Value, names: &Map<String, Value>) -> Result<Value, String> {
    Ok(match value {
        Value::String(text) => match single(text) {
            Some(expression) => evaluate(expression, names)?,
            None => Value::String(render(text, names)?),
        },
        Value::Array(items) => {
            Value::Array(items.iter().map(|item| fill(item, names)).collect::<Result<_, _>>()?)
        }
        Value::Object(map) => Value::Object(
            map.iter()
                .map(|(key, value)| Ok((key.clone(), fill(value, names)?)))
                .collect::<Result<_, String>>()?,
        ),
        other => other.clone(),
    })
}

fn single(text: &str) -> Option<&str> {
    let inner = text.trim().strip_prefix("{{")?.strip_suffix("}}")?;
    (!inner.contains("{{") && !inner.contains("}}")).then_some(inner.trim())
}

fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Chainable);
    environment.add_filter("ms", |us: f64| milliseconds(us));
    environment.add_filter("percent", |part: f64| format!("{:.0} %", part * 100.0));
    environment.add_filter("fixed", |number: f64, digits: usize| format!("{number:.digits$}"));
    environment.add_filter("times", |ratio: f64| format!("{ratio:.2}×"));
    environment.add_filter("receipt", |hash: &str| {
        if hash.is_empty() {
            "*unmeasured*".to_owned()
        } else {
            format!("`{}`", hash.get(..12).unwrap_or(hash))
        }
    });
    environment.add_filter("cell", |text: &str| text.replace('|', "\\|").replace('\n', " "));
    environment
}

/// Microseconds as milliseconds, with three figures that mean something.
pub(super) fn milliseconds(us: f64) -> String {
    let ms = us / 1000.0;
    let digits = match ms.abs() {
        ms if ms >= 100.0 => 0,
        ms if ms >= 10.0 => 1,
        ms if ms >= 1.0 => 2,
        _ => 3,
    };
    format!("{ms:.digits$} ms")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_find_their_place() {
        let names = json!({"p": {"total_us": 41234.0, "upload_us": 25565.0}, "n": 4,
                           "r": "0123456789abcdef"});
        let names = names.as_object().unwrap();
        let check = |text: &str, expected: &str| {
            assert_eq!(render(text, names).unwrap(), expected);
        };
        check("{{ p.total_us | ms }}", "41.2 ms");
        check("{{ (p.upload_us / p.total_us) | percent }}", "62 %");
        check("{{ gone.deep }}!", "!");
        check("{{ r | receipt }}", "`0123456789ab`");
        check("{{ 'a|b' | cell }}", "a\\|b");
        assert_eq!(
            fill(&json!({"k": "{{ n }}", "t": "n={{ n }}"}), names).unwrap(),
            json!({"k": 4, "t": "n=4"})
        );
        assert_eq!(evaluate("n > 3 and p.total_us < 1", names).unwrap(), json!(false));
        assert!(render("{{ p | nofilter }}", names).is_err());
    }
}
