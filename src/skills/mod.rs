//! Written know-how, recipes, memory of results, and when each applies.
