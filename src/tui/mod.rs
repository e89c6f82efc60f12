//! The face for a person.
