//! Small words about words: cleaning, shortening, and the nearest known name.

/// Text that is safe to show: what a terminal would act on becomes a visible picture.
///
/// Line feeds and tabs stay. C0 and C1 controls, `DEL`, and the marks that reorder or hide text
/// (bidirectional controls, zero-width spaces, byte-order marks) do not.
pub fn clean(text: &str) -> String {
    if !text.chars().any(is_unsafe) {
        return text.to_owned();
    }
    let picture = |c: char| match c {
        '\0'..='\x1f' => char::from_u32(0x2400 + c as u32).unwrap_or('\u{fffd}'),
        '\x7f' => '\u{2421}',
        _ => '\u{fffd}',
    };
    text.chars().map(|c| if is_unsafe(c) { picture(c) } else { c }).collect()
}

fn is_unsafe(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        '\u{200b}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{feff}'
        | '\u{061c}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}' => true,
        _ => c.is_control(),
    }
}

/// At most `most` characters, the last of which tells that there were more.
pub fn shorten(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(most.saturating_sub(1)).collect();
    short.push('…');
    short
}

/// `1 gate`, `2 gates`.
pub fn plural(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// The known name that a person most likely meant, if any is near enough to be worth saying.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let most = (word.chars().count() / 3).max(2);
    let near = known.into_iter().map(|name| (edits(word, name), name));
    near.filter(|(edits, _)| *edits <= most).min_by_key(|(edits, _)| *edits).map(|(_, name)| name)
}

/// Levenshtein's distance: how many characters to add, drop or change.
fn edits(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.chars().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, b) in to.iter().enumerate() {
            let change = corner + usize::from(a != *b);
            corner = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(corner + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_obeys_survives() {
        let check = |text: &str, expected: &str| assert_eq!(clean(text), expected);
        check("a\tb\nc é 🤖", "a\tb\nc é 🤖");
        check("\x1b[2J\x07\x08\r", "␛[2J␇␈␍");
        check("\u{9b}31m\u{202e}x\u{200b}\x7f\0", "\u{fffd}31m\u{fffd}x\u{fffd}␡␀");
    }

    #[test]
    fn a_slip_finds_its_word() {
        let known = ["residency", "layout", "shape"];
        assert_eq!(nearest("residancy", known), Some("residency"));
        assert_eq!(nearest("lay-out", known), Some("layout"));
        assert_eq!(nearest("colour", known), None);
    }
}
