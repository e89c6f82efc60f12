//! The one integration-test binary: linked once, so that two cores are enough.

mod architecture;
mod gates;
mod mind;
mod need;
mod oracle;
mod program;
mod simulate;
