//! What may happen without asking.
