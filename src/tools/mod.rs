//! Hands that carry out a call.
