//! Texts of recipes with numbers in them.

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior, Value as Context};
use serde_json::{Map, Value};

use crate::base::shorten;

/// What fills in the texts of one walk: the filters, and the parts that texts may take in.
#[derive(Debug)]
pub(super) struct Templates(Environment<'static>);

impl Templates {
    /// Parts that do not parse are left out: `skills::check` has said so.
    pub(super) fn new<'a>(parts: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut environment = environment();
        for (name, text) in parts {
            let _ = environment.add_template_owned(name.to_owned(), text.to_owned());
        }
        Self(environment)
    }

    /// Fills in a text. What is undefined shows as nothing, so that a step can do without.
    pub(super) fn render(&self, text: &str, names: &Map<String, Value>) -> Result<String, String> {
        if !text.contains('{') {
            return Ok(text.to_owned());
        }
        let filled = self.0.render_str(text, Context::from(Serde(names)));
        filled.map_err(|error| format!("a template of a recipe: {error:#}"))
    }

    /// The value of an expression.
    pub(super) fn evaluate(
        &self,
        expression: &str,
        names: &Map<String, Value>,
    ) -> Result<Value, String> {
        let compiled = self.0.compile_expression(expression);
        let value = compiled.and_then(|compiled| compiled.eval(Context::from(Serde(names))));
        let value = value.map_err(|error| format!("`{expression}` of a recipe: {error:#}"))?;
        Ok(serde_json::to_value(value).unwrap_or_default())
    }

    /// Fills in every text of a value; one that is a single `{{ expression }}` keeps its type.
    pub(super) fn fill(&self, value: &Value, names: &Map<String, Value>) -> Result<Value, String> {
        Ok(match value {
            Value::String(text) => match single(text) {
                Some(expression) => self.evaluate(expression, names)?,
                None => Value::String(self.render(text, names)?),
            },
            Value::Array(items) => {
                let filled = items.iter().map(|item| self.fill(item, names));
                Value::Array(filled.collect::<Result<_, _>>()?)
            }
            Value::Object(map) => Value::Object(
                map.iter()
                    .map(|(key, value)| Ok((key.clone(), self.fill(value, names)?)))
                    .collect::<Result<_, String>>()?,
            ),
            other => other.clone(),
        })
    }
}

fn single(text: &str) -> Option<&str> {
    let inner = text.trim().strip_prefix("{{")?.strip_suffix("}}")?;
    (!inner.contains("{{") && !inner.contains("}}")).then_some(inner.trim())
}

fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Chainable);
    // Blocks stand on lines of their own, so that tables in recipes look like tables.
    if let Ok(syntax) = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build() {
        environment.set_syntax(syntax);
    }
    environment.add_filter("ms", |us: f64| milliseconds(us));
    environment.add_filter("percent", |part: f64| format!("{:.0} %", part * 100.0));
    environment.add_filter("fixed", |number: f64, digits: usize| format!("{number:.digits$}"));
    environment.add_filter("figures", |number: Option<f64>| number.map_or("none".into(), figures));
    environment.add_filter("times", |ratio: f64| format!("{ratio:.2}×"));
    environment.add_filter("receipt", |hash: Option<String>| match hash.as_deref() {
        None | Some("") => "*unmeasured*".to_owned(),
        Some(hash) => format!("`{}`", hash.get(..12).unwrap_or(hash)),
    });
    environment.add_filter("short", |text: &str, most: usize| shorten(text, most));
    environment.add_filter("cell", |text: &str| text.replace('|', "\\|").replace('\n', " "));
    environment
}

/// Four figures that mean something, however large or small the number is.
fn figures(number: f64) -> String {
    let size = number.abs();
    if number == 0.0 || !number.is_finite() {
        format!("{number}")
    } else if (1e-3..1e6).contains(&size) {
        let digits = (3.0 - size.log10().floor()).max(0.0) as usize;
        let text = format!("{number:.digits$}");
        if digits == 0 {
            return text;
        }
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        format!("{number:.3e}")
    }
}

/// Microseconds as people read them, with three figures that mean something.
pub(super) fn milliseconds(us: f64) -> String {
    let (number, unit) = if us.abs() >= 1000.0 { (us / 1000.0, "ms") } else { (us, "µs") };
    let digits = match number.abs() {
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        _ => 2,
    };
    format!("{number:.digits$} {unit}")
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
        let templates = Templates::new([("part", "{{ n }} parts")]);
        let check = |text: &str, expected: &str| {
            assert_eq!(templates.render(text, names).unwrap(), expected);
        };
        check("{{ p.total_us | ms }}", "41.2 ms");
        check("{{ (p.upload_us / p.total_us) | percent }}", "62 %");
        check("{{ gone.deep }}!", "!");
        check("{{ r | receipt }}", "`0123456789ab`");
        check("{{ 'a|b' | cell }}", "a\\|b");
        check("{{ gone | receipt }}{{ none | receipt }}", "*unmeasured**unmeasured*");
        check(
            "{{ 0.99987 | figures }} {{ 512 | figures }} {{ 0.00001234 | figures }}",
            "0.9999 512 1.234e-5",
        );
        check("{% include 'part' %}!", "4 parts!");
        assert_eq!(
            templates.fill(&json!({"k": "{{ n }}", "t": "n={{ n }}"}), names).unwrap(),
            json!({"k": 4, "t": "n=4"})
        );
        assert_eq!(templates.evaluate("n > 3 and p.total_us < 1", names).unwrap(), json!(false));
        assert!(templates.render("{{ p | nofilter }}", names).is_err());
    }
}
