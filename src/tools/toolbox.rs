//! Every tool of a session.

use super::device;
use super::files::files;
use super::tool::Toolbox;

/// In the order in which a mind is told of them: files first, then the device.
pub fn toolbox() -> Toolbox {
    Toolbox::new(files().into_iter().chain(device::tools()).collect())
}
