//! Calibration: the coefficients of the cost model, fitted anew to measured rows.

mod calibrate;
mod file;
mod fit;
mod folds;
mod parameters;
mod score;

pub use calibrate::{Calibration, Refused, Summary, calibrate};
pub use file::{read, write, write_classes};
pub use score::Score;
