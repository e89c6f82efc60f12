//! What a test needs and a machine may lack: absent, it is skipped aloud or fails on demand.

use std::env;
use std::path::PathBuf;

/// A path below the folder of design samples, if it is there.
pub fn shared(path: &str) -> Option<PathBuf> {
    let root = env::var_os("PILOTFISH_SHARED").map_or_else(|| "../shared".into(), PathBuf::from);
    found("shared", root.join(path))
}

/// The real checkpoint that `scripts/fetch-smollm2.sh` leaves in the cache, if it is there.
pub fn weights() -> Option<PathBuf> {
    let home = env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let cache = env::var_os("XDG_CACHE_HOME").map_or_else(|| home.join(".cache"), PathBuf::from);
    found("weights", cache.join("pilotfish/SmolLM2-135M-Instruct.Q4_1.gguf"))
}

fn found(kind: &str, path: PathBuf) -> Option<PathBuf> {
    if path.exists() {
        return Some(path);
    }
    let required = env::var("PILOTFISH_REQUIRE").unwrap_or_default();
    assert!(
        !required.split(',').any(|word| word.trim() == kind),
        "`{kind}` is required and absent: {}",
        path.display()
    );
    eprintln!("skipped: `{kind}` is absent: {}", path.display());
    None
}
