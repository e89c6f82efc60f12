//! The one integration-test binary: linked once, so that two cores are enough.

mod architecture;
mod child;
mod gates;
mod mind;
mod need;
mod oracle;
mod program;
mod session;
mod simulate;
mod tools;
mod workspace;
