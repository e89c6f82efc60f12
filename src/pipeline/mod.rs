//! The eight phases, their gates, the evaluator.
