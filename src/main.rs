use std::process::ExitCode;

fn main() -> ExitCode {
    toratsugumi::cli::main()
}
