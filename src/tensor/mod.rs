//! Numbers: dtypes, shapes, reference operators, comparison.
