//! A coefficients file: what `npu calibrate` writes and other commands take.

use std::fmt::Write as _;

use toml_edit::{Document, Item, TableLike};

use super::parameters::PARAMETERS;
use crate::base::{Finding, nearest};
use crate::npu::array::Array;
use crate::npu::class::Classes;

const COEFFICIENTS: &str = "coefficients";
const CLASS: &str = "class";

/// The text of a coefficients file, with these comments at its head.
pub fn write(array: &Array, comments: &[String]) -> String {
    let mut text = String::new();
    for comment in comments {
        let _ = writeln!(text, "# {comment}");
    }
    let _ = writeln!(text, "\n[{COEFFICIENTS}]");
    for parameter in PARAMETERS {
        let _ = writeln!(text, "{} = {:?}", parameter.name, parameter.of(array));
    }
    text + &write_classes(&array.classes)
}

/// The part that says how sure each class is.
pub fn write_classes(classes: &Classes) -> String {
    let mut text = String::new();
    for (name, class) in classes {
        let _ = writeln!(text, "\n[{CLASS}.\"{name}\"]");
        let _ = writeln!(text, "rows = {}", class.rows);
        let _ = writeln!(text, "low = {:?}\nhigh = {:?}", class.low, class.high);
        let _ = writeln!(text, "[{CLASS}.\"{name}\".hull]");
        for (size, [least, most]) in &class.hull {
            let _ = writeln!(text, "{size} = [{least:?}, {most:?}]");
        }
    }
    text
}

/// `array` with the coefficients of a file. Keys that it lacks stay as they were.
pub fn read(place: &str, text: &str, array: &Array) -> Result<Array, Vec<Finding>> {
    let at = |span: Option<std::ops::Range<usize>>| {
        let before = &text[..span.map_or(0, |span| span.start).min(text.len())];
        let line = before.matches('\n').count() + 1;
        let column = before.len() - before.rfind('\n').map_or(0, |at| at + 1) + 1;
        format!("{place}:{line}:{column}")
    };
    let wrong = |span, text: String, hint: String| {
        vec![Finding::error(at(span), text).rule("coefficients").hint(hint)]
    };
    let document = Document::parse(text)
        .map_err(|error| wrong(error.span(), error.message().trim().to_owned(), String::new()))?;
    for (key, item) in document.as_table() {
        if key != COEFFICIENTS && key != CLASS {
            let hint = format!("there are `[{COEFFICIENTS}]` and `[{CLASS}]`");
            return Err(wrong(item.span(), format!("unknown table `{key}`"), hint));
        }
    }
    let mut array = array.clone();
    let table = document.get(COEFFICIENTS).and_then(Item::as_table_like);
    for (key, item) in table.into_iter().flat_map(TableLike::iter) {
        let Some(parameter) = PARAMETERS.iter().find(|parameter| parameter.name == key) else {
            let near = nearest(key, PARAMETERS.iter().map(|parameter| parameter.name));
            let hint = near.map_or_else(String::new, |near| format!("did you mean `{near}`?"));
            return Err(wrong(item.span(), format!("unknown coefficient `{key}`"), hint));
        };
        let number = item.as_float().or_else(|| item.as_integer().map(|whole| whole as f64));
        let Some(number) = number.filter(|number| number.is_finite() && *number > 0.0) else {
            let what = format!("`{key}` is no positive number");
            return Err(wrong(item.span(), what, "write it as `77.5`".to_owned()));
        };
        parameter.set(&mut array, number);
    }
    if let Some(item) = document.get(CLASS) {
        let read: Result<Parts, _> = toml::from_str(text);
        match read {
            Ok(parts) => array.classes = parts.class,
            Err(error) => {
                let hint = "run `pilotfish npu calibrate` again".to_owned();
                return Err(wrong(error.span().or(item.span()), error.message().to_owned(), hint));
            }
        }
    }
    Ok(array)
}

#[derive(serde::Deserialize)]
struct Parts {
    class: Classes,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_the_same() {
        let mut array = Array::xdna2();
        array.coefficients.gemm_call *= 1.1;
        array.bandwidth.gemm_write = 0.1 + 0.2;
        let text = write(&array, &["one".into(), "two".into()]);
        assert_eq!(read("x", &text, &Array::xdna2()), Ok(array));
    }

    #[test]
    fn slips_are_told_with_their_place() {
        let check = |text: &str, expected: &str| {
            let findings = read("c.toml", text, &Array::xdna2()).unwrap_err();
            let told = findings[0].to_string();
            assert!(told.contains(expected), "{text}: {told}");
        };
        check("[coefficients]\ngemm_cal = 1.0\n", "did you mean `gemm_call`?");
        check("[coefficients]\ngemm_cal = 1.0\n", "c.toml:2:");
        check("[coefficients]\ngemm_call = -1.0\n", "no positive number");
        check("[coefficients]\ngemm_call = nan\n", "no positive number");
        check("[coefficients\n", "c.toml:1:");
        check("[coefficient]\n", "unknown table");
        check("[class.gemv]\nrows = 'x'\n", "c.toml:2:");
    }
}
