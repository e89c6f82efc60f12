//! Where a program runs: simulator, compiler checkout, declared commands.
