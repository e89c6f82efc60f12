//! What the screen is given: the clock, how many colours there are, keys, theme and editor.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use super::colour::Depth;
use super::keymap::Keymap;
use super::theme::Theme;
use crate::base::{Clock, Finding};

pub struct Setup {
    pub clock: Arc<dyn Clock>,
    pub theme: Theme,
    pub keymap: Keymap,
    /// The words of the person's editor; the file comes last.
    pub editor: Vec<String>,
    /// What is wrong with the person's own keys or theme: shown, never a refusal to start.
    pub findings: Vec<Finding>,
}

/// Below the folder of settings.
const KEYS: &str = "pilotfish/keys.toml";
const THEMES: &str = "pilotfish/themes";

impl Setup {
    /// Reads the environment through `var`: `PILOTFISH_THEME`, `NO_COLOR`, `COLORTERM`, `TERM`,
    /// `COLORFGBG`, `VISUAL`, `EDITOR`, and keys and themes below `XDG_CONFIG_HOME`.
    pub fn of(clock: Arc<dyn Clock>, var: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name: &str| var(name).filter(|value| !value.is_empty());
        let config = set("XDG_CONFIG_HOME")
            .map(PathBuf::from)
            .or_else(|| set("HOME").map(|home| PathBuf::from(home).join(".config")));
        let mut findings = Vec::new();
        let mut keymap = Keymap::default();
        if let Some(file) = config.as_ref().map(|folder| folder.join(KEYS))
            && let Ok(text) = fs::read_to_string(&file)
        {
            findings.extend(keymap.overlay(&file.display().to_string(), &text));
        }
        let depth = Depth::detect(&var);
        let name = set("PILOTFISH_THEME");
        let fallback = if set("COLORFGBG").is_some_and(|colours| is_light(&colours)) {
            "light"
        } else {
            "dark"
        };
        let name = name.as_deref().unwrap_or(fallback);
        let own = config.map(|folder| folder.join(THEMES).join(format!("{name}.toml")));
        let theme = if let Some(text) = own.and_then(|file| fs::read_to_string(file).ok()) {
            let (theme, told) = Theme::parse(name, &text, depth);
            findings.extend(told);
            theme
        } else {
            if !Theme::names().any(|known| known == name) {
                let words = format!("no theme is called `{name}`; `dark` is used");
                findings.push(Finding::warning("PILOTFISH_THEME", words));
            }
            Theme::built_in(name, depth)
        };
        let editor = set("VISUAL").or_else(|| set("EDITOR")).unwrap_or_else(|| "vi".to_owned());
        let editor = shell_words::split(&editor).unwrap_or_else(|_| vec![editor]);
        Self { clock, theme, keymap, editor, findings }
    }
}

/// `COLORFGBG` is `foreground;background` in the sixteen colours; 7 and 15 are the light ones.
fn is_light(colours: &str) -> bool {
    matches!(colours.rsplit(';').next(), Some("7" | "15"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::SystemClock;

    #[test]
    fn the_environment_chooses_theme_and_editor() {
        let check = |vars: &[(&str, &str)], theme: &str, editor: &[&str], findings: usize| {
            let var = |name: &str| {
                vars.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
            };
            let setup = Setup::of(Arc::new(SystemClock), var);
            assert_eq!(setup.theme.name, theme, "{vars:?}");
            assert_eq!(setup.editor, editor, "{vars:?}");
            assert_eq!(setup.findings.len(), findings, "{vars:?}");
        };
        check(&[], "dark", &["vi"], 0);
        check(&[("COLORFGBG", "0;15"), ("EDITOR", "nano")], "light", &["nano"], 0);
        check(
            &[("PILOTFISH_THEME", "light"), ("VISUAL", "code -w"), ("EDITOR", "vi")],
            "light",
            &["code", "-w"],
            0,
        );
        check(&[("PILOTFISH_THEME", "pink")], "dark", &["vi"], 1);
    }
}
