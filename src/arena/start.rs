//! Starting an engine of a match from its [`EngineSpec`]: [`start`].

use super::limits::EngineLimits;
use super::spec::{EngineSpec, THREADS};
use crate::support::messages;
use crate::usi_client::{DialogueLog, EngineError, EngineProcess};

/// A running engine that has accepted all its options, and remarks for the user about them.
pub struct Started {
    /// The engine.
    pub process: EngineProcess,
    /// Sentences.
    pub remarks: Vec<String>,
}

/// Starts an engine, sets its options, and waits until it is ready.
///
/// # Errors
/// [`EngineError`] when it does not start, does not know an option, or reports that it cannot comply.
pub fn start(
    spec: &EngineSpec,
    limits: &EngineLimits,
    log: Option<&DialogueLog>,
) -> Result<Started, EngineError> {
    let log = log.map(|log| log.process(&spec.name));
    let mut process = EngineProcess::start(&spec.command, spec.dir.as_deref(), log, true)?;
    let mut options = spec.options.clone();
    let mut remarks = Vec::new();
    match spec.threads() {
        None if process.has_option(THREADS) => {
            options.insert(0, (THREADS.into(), "1".into()));
            remarks.push(messages::one_thread(&spec.name));
        }
        Some(n) if limits.nodes.is_some() && n != "1" => remarks.push(messages::shared_nodes(&spec.name, n)),
        _ => {}
    }
    process.configure(&options)?;
    Ok(Started { process, remarks })
}
