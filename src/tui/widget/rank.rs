//! Which of many texts a few typed letters mean.

use std::cmp::Reverse;

use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

/// The places of the texts that match, the best first; all in their own order while nothing is
/// written.
pub(crate) fn rank<'a>(words: &str, texts: impl Iterator<Item = &'a str>) -> Vec<usize> {
    let words = words.trim();
    if words.is_empty() {
        return texts.enumerate().map(|(at, _)| at).collect();
    }
    let mut matcher = Matcher::new(Config::DEFAULT);
    let pattern = Pattern::parse(words, CaseMatching::Smart, Normalization::Smart);
    let mut letters = Vec::new();
    let mut found: Vec<(bool, Reverse<u32>, usize)> = texts
        .enumerate()
        .filter_map(|(at, text)| {
            let score = pattern.score(Utf32Str::new(text, &mut letters), &mut matcher)?;
            // Words that stand at the very beginning are what was meant, however well others match.
            Some((!text.starts_with(words), Reverse(score), at))
        })
        .collect();
    found.sort_unstable();
    found.into_iter().map(|(.., at)| at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beginning_wins_and_equal_ones_keep_their_order() {
        let texts = ["later plan", "plan", "issues", "planned"];
        assert_eq!(rank("plan", texts.into_iter()), [1, 3, 0]);
        assert_eq!(rank(" ", texts.into_iter()), [0, 1, 2, 3]);
        assert_eq!(rank("qq", texts.into_iter()), [0_usize; 0]);
    }
}
