//! The skills inside the binary, so that an installed one works anywhere.

macro_rules! skills {
    ($($name:literal)+) => {
        /// Name, `SKILL.md`, `recipe.toml`.
        pub(super) const EMBEDDED: &[(&str, &str, &str)] = &[$((
            $name,
            include_str!(concat!("../../skills/", $name, "/SKILL.md")),
            include_str!(concat!("../../skills/", $name, "/recipe.toml")),
        )),+];
    };
}

skills! {
    "deploy-model"
    "phase-0-reference"
    "phase-1-kernels"
    "phase-2-block"
    "phase-3-model"
    "phase-4-prefill"
    "phase-5-decode"
    "phase-6-integration"
    "phase-7-evaluation"
    "opt-merge-dispatches"
    "opt-buffer-residency"
    "opt-layout-and-tiles"
    "debug-bo-corruption"
    "debug-fa-runtime-failure"
    "debug-multi-launch-merge"
    "debug-residual-rounding"
}
