//! Starts the program: chooses a face and exits with its code.

fn main() -> std::process::ExitCode {
    pilotfish::cli::main()
}
