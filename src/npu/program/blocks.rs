//! The blocks of a program file: where each begins, and the comments that a person put into it.

/// One block: the keys at the top, or a `[[header]]` with the keys below it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Block<'a> {
    /// Empty for the keys at the top; else `buffer`, `dispatch` or `dispatch.launch`.
    pub(super) header: String,
    /// Where its header stands in the text.
    pub(super) at: usize,
    /// Its text with the comments before it, blank lines around it apart.
    pub(super) raw: &'a str,
    /// Comments before the header.
    pub(super) leading: Vec<String>,
    pub(super) keys: Vec<Key>,
    /// Comments after the last key.
    pub(super) tail: Vec<String>,
}

/// The comments of one key: on the lines before it (or within its value), and on its own line.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Key {
    pub(super) name: String,
    pub(super) before: Vec<String>,
    pub(super) after: Option<String>,
}

impl Block<'_> {
    /// All its comments in order.
    pub(super) fn comments(&self) -> impl Iterator<Item = &String> {
        let keys = self.keys.iter().flat_map(|key| key.before.iter().chain(&key.after));
        let all = self.leading.iter().chain(keys).chain(&self.tail);
        all.filter(|line| !line.is_empty())
    }
}

/// The headers that begin a block; any other continues the block that it stands in.
const HEADERS: [&str; 3] = ["buffer", "dispatch", "dispatch.launch"];

/// Cuts a text, which must be valid TOML, into its blocks.
pub(super) fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut cut = Cut { text, at: 0, blocks: Vec::new(), starts: vec![0], waiting: Vec::new() };
    cut.blocks.push(Block {
        header: String::new(),
        at: 0,
        raw: "",
        leading: Vec::new(),
        keys: Vec::new(),
        tail: Vec::new(),
    });
    cut.run();
    let Cut { mut blocks, starts, .. } = cut;
    for (index, block) in blocks.iter_mut().enumerate() {
        let end = starts.get(index + 1).copied().unwrap_or(text.len());
        block.raw = text[starts[index]..end].trim_matches(['\n', '\r']).trim_end();
    }
    blocks
}

struct Cut<'a> {
    text: &'a str,
    at: usize,
    blocks: Vec<Block<'a>>,
    /// Where the text of each block starts, comments before it included.
    starts: Vec<usize>,
    /// Comment lines, and blank ones as empty text, that belong to nothing yet.
    waiting: Vec<(usize, String)>,
}

impl<'a> Cut<'a> {
    fn run(&mut self) {
        while self.at < self.text.len() {
            let rest = &self.text[self.at..];
            let line = rest.trim_start_matches([' ', '\t', '\r', '\u{feff}']);
            let start = self.at;
            self.at += rest.len() - line.len();
            match line.chars().next() {
                Some('\n') => {
                    self.waiting.push((start, String::new()));
                    self.at += 1;
                }
                Some('#') => {
                    let comment = self.comment();
                    self.waiting.push((start, comment));
                    self.at += 1;
                }
                Some('[') => self.header(start),
                Some(_) => self.key(),
                None => break,
            }
        }
        let tail = std::mem::take(&mut self.waiting);
        self.last().tail = trimmed(tail.into_iter().map(|(_, line)| line));
    }

    fn last(&mut self) -> &mut Block<'a> {
        self.blocks.last_mut().expect("the block at the top is always there")
    }

    /// A comment up to the end of its line.
    fn comment(&mut self) -> String {
        let rest = &self.text[self.at..];
        let len = rest.find('\n').unwrap_or(rest.len());
        self.at += len;
        rest[..len].trim_end().to_owned()
    }

    fn header(&mut self, start: usize) {
        let rest = &self.text[self.at..];
        let len = rest.find(['\n', '#']).unwrap_or(rest.len());
        let name = |c: char| !c.is_whitespace() && !"[]\"'".contains(c);
        let header: String = rest[..len].chars().filter(|c| name(*c)).collect();
        let header_at = self.at;
        self.at += len;
        let after = self.rest_of_line();
        if !HEADERS.contains(&header.as_str()) {
            let waiting = std::mem::take(&mut self.waiting);
            let before = trimmed(waiting.into_iter().map(|(_, line)| line));
            self.last().keys.push(Key { name: header, before, after });
            return;
        }
        // What stands above the last blank line is about the block before.
        let blank = self.waiting.iter().rposition(|(_, line)| line.is_empty());
        let mut waiting = std::mem::take(&mut self.waiting);
        let leading = waiting.split_off(blank.map_or(0, |blank| blank + 1));
        self.last().tail = trimmed(waiting.into_iter().map(|(_, line)| line));
        self.starts.push(leading.first().map_or(start, |(at, _)| *at));
        let mut leading = trimmed(leading.into_iter().map(|(_, line)| line));
        leading.extend(after);
        self.blocks.push(Block {
            header,
            at: header_at,
            raw: "",
            leading,
            keys: Vec::new(),
            tail: Vec::new(),
        });
    }

    /// A key and its value, over several lines where brackets or strings are open.
    fn key(&mut self) {
        let waiting = std::mem::take(&mut self.waiting);
        let mut key = Key::default();
        let mut lines: Vec<String> = waiting.into_iter().map(|(_, line)| line).collect();
        while lines.first().is_some_and(String::is_empty) {
            lines.remove(0);
        }
        key.before = lines;
        let (start, mut equals, mut depth) = (self.at, None, 0_usize);
        while let Some(c) = self.text[self.at..].chars().next() {
            match c {
                '"' | '\'' => self.skip_string(c),
                '#' => {
                    let comment = self.comment();
                    if depth == 0 {
                        key.after = Some(comment);
                    } else {
                        key.before.push(comment);
                    }
                }
                '\n' if depth == 0 => {
                    self.at += 1;
                    break;
                }
                _ => {
                    match c {
                        '[' | '{' => depth += 1,
                        ']' | '}' => depth = depth.saturating_sub(1),
                        '=' if equals.is_none() => equals = Some(self.at),
                        _ => (),
                    }
                    self.at += c.len_utf8();
                }
            }
        }
        let name = &self.text[start..equals.unwrap_or(start)];
        name.trim().trim_matches(['"', '\'']).clone_into(&mut key.name);
        self.last().keys.push(key);
    }

    /// A comment behind a header.
    fn rest_of_line(&mut self) -> Option<String> {
        let comment = self.text[self.at..].starts_with('#').then(|| self.comment());
        self.at = (self.at + 1).min(self.text.len());
        comment
    }

    fn skip_string(&mut self, quote: char) {
        let rest = &self.text[self.at..];
        let triple: String = [quote; 3].iter().collect();
        let is_long = rest.starts_with(&triple);
        let (open, close) = if is_long { (3, triple.as_str()) } else { (1, &triple[..1]) };
        let mut inside = open;
        while inside < rest.len() {
            let here = &rest[inside..];
            if here.starts_with(close) {
                inside += close.len();
                break;
            }
            let mut chars = here.chars();
            inside += chars.next().map_or(1, char::len_utf8);
            if quote == '"' && here.starts_with('\\') {
                inside += chars.next().map_or(0, char::len_utf8);
            }
        }
        // A closing `"""` may have two more quotes before it.
        while open == 3 && rest[inside.min(rest.len())..].starts_with(quote) {
            inside += 1;
        }
        self.at += inside.min(rest.len());
    }
}

/// Without blank lines at both ends.
fn trimmed(lines: impl Iterator<Item = String>) -> Vec<String> {
    let mut lines: Vec<String> = lines.skip_while(String::is_empty).collect();
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_find_their_block() {
        let text = "# file\n\n# stage\nstage = \"a # no\" # yes\n# end of top\n\n# about x\n\
                    [[buffer]] # here\nname = [ # in\n 'x' ] # out\n\n[[ dispatch ]]\n# last\n";
        let all = blocks(text);
        let headers: Vec<&str> = all.iter().map(|block| block.header.as_str()).collect();
        assert_eq!(headers, ["", "buffer", "dispatch"]);
        assert_eq!(all[0].keys[0].before, ["# file", "", "# stage"]);
        assert_eq!(all[0].keys[0].after.as_deref(), Some("# yes"));
        assert_eq!(all[0].tail, ["# end of top"]);
        assert_eq!(all[1].leading, ["# about x", "# here"]);
        assert_eq!(all[1].keys[0].before, ["# in"]);
        assert_eq!(all[1].keys[0].after.as_deref(), Some("# out"));
        assert_eq!(all[1].raw, "# about x\n[[buffer]] # here\nname = [ # in\n 'x' ] # out");
        assert_eq!(all[2].tail, ["# last"]);
    }

    #[test]
    fn strings_hide_what_looks_like_a_block() {
        let text = "a = \"\"\"\n[[buffer]]\n# no \\\"\"\"\"\nb = '''\n# no'''\nc = '\\'\n";
        let all = blocks(text);
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].keys.iter().map(|key| key.name.as_str()).collect::<String>(), "abc");
        assert_eq!(all[0].comments().count(), 0);
    }
}
