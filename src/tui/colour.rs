//! How many colours a terminal has, and what a colour becomes when it has fewer.

use ratatui::style::{Color, Style};

/// What the terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// `NO_COLOR`: weight, slant and inversion only.
    Plain,
    Sixteen,
    Indexed,
    True,
}

impl Depth {
    /// Reads the environment through `var`, which gives a variable that is set.
    pub fn detect(var: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name: &str| var(name).filter(|value| !value.is_empty());
        let term = var("TERM").unwrap_or_default();
        let colours = var("COLORTERM").unwrap_or_default();
        match () {
            () if set("NO_COLOR").is_some() || term == "dumb" => Self::Plain,
            () if colours.contains("truecolor") || colours.contains("24bit") => Self::True,
            () if term.contains("direct") => Self::True,
            () if term.contains("256color") => Self::Indexed,
            () => Self::Sixteen,
        }
    }

    pub fn style(self, style: Style) -> Style {
        Style {
            fg: style.fg.and_then(|colour| self.colour(colour)),
            bg: style.bg.and_then(|colour| self.colour(colour)),
            underline_color: None,
            ..style
        }
    }

    fn colour(self, colour: Color) -> Option<Color> {
        match (self, colour) {
            (Self::Plain, _) => None,
            (Self::Indexed, Color::Rgb(r, g, b)) => Some(Color::Indexed(indexed([r, g, b]))),
            (Self::Sixteen, Color::Rgb(r, g, b)) => Some(sixteen([r, g, b])),
            _ => Some(colour),
        }
    }
}

/// The nearest of xterm's 6×6×6 cube and its 24 greys.
fn indexed(rgb: [u8; 3]) -> u8 {
    const LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];
    let level = |value: u8| {
        let nearest = LEVELS.iter().enumerate().min_by_key(|(_, level)| level.abs_diff(value));
        nearest.map_or(0, |(at, _)| at)
    };
    let cube = rgb.map(level);
    let index = 16 + 36 * cube[0] + 6 * cube[1] + cube[2];
    let grey = (rgb.iter().map(|value| usize::from(*value)).sum::<usize>() / 3).saturating_sub(8);
    let grey = (grey / 10).min(23);
    let grey_value = (8 + 10 * grey) as u8;
    let near = |other: [u8; 3]| distance(rgb, other);
    if near([grey_value; 3]) < near(cube.map(|at| LEVELS[at])) {
        (232 + grey) as u8
    } else {
        index as u8
    }
}

/// By hue, not by distance: a pale red must stay red.
fn sixteen(rgb: [u8; 3]) -> Color {
    let [r, g, b] = rgb.map(i32::from);
    let (most, least) = (r.max(g).max(b), r.min(g).min(b));
    if most - least < 40 {
        return match most {
            0..=60 => Color::Black,
            61..=150 => Color::DarkGray,
            151..=210 => Color::Gray,
            _ => Color::White,
        };
    }
    let half = i32::midpoint(most, least);
    match (r >= half, g >= half, b >= half) {
        (true, false, false) => Color::Red,
        (false, true, false) => Color::Green,
        (true, true, false) => Color::Yellow,
        (false, false, true) => Color::Blue,
        (true, false, true) => Color::Magenta,
        (false, true, true) => Color::Cyan,
        _ => Color::Gray,
    }
}

fn distance(a: [u8; 3], b: [u8; 3]) -> u32 {
    a.iter().zip(b).map(|(a, b)| u32::from(a.abs_diff(b)).pow(2)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_says_how_many_colours() {
        let check = |vars: &[(&str, &str)], expected| {
            let var = |name: &str| {
                vars.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
            };
            assert_eq!(Depth::detect(var), expected, "{vars:?}");
        };
        check(&[("TERM", "xterm-256color"), ("COLORTERM", "truecolor")], Depth::True);
        check(&[("TERM", "tmux-256color")], Depth::Indexed);
        check(&[("TERM", "linux")], Depth::Sixteen);
        check(&[("TERM", "xterm-256color"), ("NO_COLOR", "1")], Depth::Plain);
        check(&[("TERM", "xterm-256color"), ("NO_COLOR", "")], Depth::Indexed);
        check(&[], Depth::Sixteen);
    }

    #[test]
    fn fewer_colours_keep_the_hue() {
        assert_eq!(sixteen([0xe0, 0x6c, 0x75]), Color::Red);
        assert_eq!(sixteen([0x98, 0xc3, 0x79]), Color::Green);
        assert_eq!(sixteen([0x30, 0x60, 0xef]), Color::Blue);
        assert_eq!(sixteen([0x70, 0x76, 0x80]), Color::DarkGray);
        assert_eq!(indexed([255, 0, 0]), 196);
        assert_eq!(indexed([128, 128, 128]), 244);
    }
}
