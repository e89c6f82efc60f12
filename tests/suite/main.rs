//! The one integration-test binary: linked once, so that two cores are enough.

mod architecture;
mod gates;
mod need;
mod oracle;
