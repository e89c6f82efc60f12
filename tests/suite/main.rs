//! The one integration-test binary: linked once, so that two cores are enough.

mod architecture;
#[expect(dead_code, reason = "used by the suites that follow")]
mod need;
