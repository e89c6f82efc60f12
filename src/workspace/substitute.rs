//! Exchanging one part of a text for another, where there is no doubt which part is meant.

/// The text with `new` in the place of `old`, or why it is not clear where that is.
///
/// Line ends follow the text: a part written with `\n` is found in a text with `\r\n`, and takes
/// on its line ends.
pub fn substitute(text: &str, old: &str, new: &str) -> Result<String, String> {
    if old.is_empty() {
        return Err("the part to exchange is empty: write a whole file with `write`".into());
    }
    if old == new {
        return Err("the new part is the old one: nothing would change".into());
    }
    match text.matches(old).count() {
        1 => Ok(text.replacen(old, new, 1)),
        0 => {
            let (crlf_old, crlf_new) = (with_crlf(old), with_crlf(new));
            if crlf_old != old && text.matches(&crlf_old).count() == 1 {
                return Ok(text.replacen(&crlf_old, &crlf_new, 1));
            }
            Err(absent(text, old))
        }
        count => Err(format!(
            "the part to exchange is there {count} times: add lines around it until it is unique"
        )),
    }
}

fn with_crlf(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\n', "\r\n")
}

/// Says where a part nearly is: what most often differs is white space.
fn absent(text: &str, old: &str) -> String {
    let first = old.lines().find(|line| !line.trim().is_empty()).unwrap_or("").trim();
    let near = text.lines().position(|line| !first.is_empty() && line.trim() == first);
    match near {
        Some(line) => format!(
            "the part to exchange is not there as it is written; its first line is much like line {}: \
             read the file again, white space counts",
            line + 1
        ),
        None => "the part to exchange is not there: read the file again".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_place_is_exchanged_and_doubt_is_told() {
        let check = |text: &str, old: &str, new: &str, expected: Result<&str, &str>| match (
            substitute(text, old, new),
            expected,
        ) {
            (Ok(text), Ok(expected)) => assert_eq!(text, expected),
            (Err(told), Err(words)) => assert!(told.contains(words), "{told}"),
            (got, expected) => panic!("{got:?}, not {expected:?}"),
        };
        check("a\nb\nc\n", "b\n", "B\n", Ok("a\nB\nc\n"));
        check("a\r\nb\r\nc\r\n", "a\nb\n", "x\ny\nz\n", Ok("x\r\ny\r\nz\r\nc\r\n"));
        check("a a", "a", "b", Err("2 times"));
        check("a\n  b\n", "b\nc", "x", Err("line 2"));
        check("a", "z", "y", Err("not there"));
        check("a", "", "y", Err("empty"));
        check("a", "a", "a", Err("nothing would change"));
    }
}
