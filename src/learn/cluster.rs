//! Jobs for clusters: the shards of the present generation as a Slurm job array or a Kubernetes indexed Job.

use super::directory::Directory;
use super::error::LearnError;
use super::generation::Plan;
use super::stages::{datagen_settings, openings};
use crate::nnue::Network;
use crate::resume::AtPath;
use crate::train::run::NETWORK;
use std::path::{Path, PathBuf};

/// The batch system of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum System {
    /// A job array, for sbatch
    Slurm,
    /// An indexed Job, for kubectl
    Kubernetes,
}

/// The values that a printed job needs.
struct ClusterJob<'a> {
    plan: &'a Plan,
    /// The loop's directory.
    root: &'a Path,
    /// The player's.
    fv_scale: i32,
}

/// `datagen` for the shard that `shard` names, such as `3/16`.
fn command(job: &ClusterJob, shard: &str, threads: &str) -> Result<Vec<String>, LearnError> {
    let &ClusterJob { plan, root, fv_scale } = job;
    let (c, g) = (&plan.config, &plan.config.generate);
    let directory = Directory::new(root);
    let path = |p: PathBuf| p.to_string_lossy().into_owned();
    let mut words: Vec<String> = vec![c.cluster.program.clone(), "datagen".into()];
    let mut option = |name: &str, value: String| words.extend([name.to_string(), value]);
    option("--out", path(directory.games(plan.number)));
    option("--eval-file", path(directory.network(plan.player).join(NETWORK)));
    option("--positions", g.positions.to_string());
    if let Some(openings) = &g.openings {
        option("--openings", path(std::path::absolute(openings).at(openings)?));
    }
    option("--shard", shard.into());
    option("--threads", threads.into());
    words.extend(datagen_settings(plan, &openings(plan)?, fv_scale).options());
    words.extend(["--resume".into(), "--quiet".into()]);
    Ok(words)
}

/// The job, ready for `sbatch` or `kubectl apply -f -`. `root` should be absolute and the same on all
/// machines.
pub fn print_job(system: System, plan: &Plan, root: &Path) -> Result<String, LearnError> {
    let player = Directory::new(root).network(plan.player).join(NETWORK);
    let (network, _) = Network::load(&player).map_err(LearnError::network(&player))?;
    let job = ClusterJob { plan, root, fv_scale: network.fv_scale() };
    match system {
        System::Slurm => slurm(&job),
        System::Kubernetes => kubernetes(&job),
    }
}

/// A task that receives SIGTERM (preemption, time limit) saves its games and exits with 75; queued again it
/// continues.
fn slurm(job: &ClusterJob) -> Result<String, LearnError> {
    let &ClusterJob { plan, root, .. } = job;
    let (c, g) = (&plan.config.cluster, &plan.config.generate);
    let games = Directory::new(root).games(plan.number);
    let shard = format!("@SHARD@/{}", g.shards);
    let words: Vec<String> = command(job, &shard, "@THREADS@")?.iter().map(|w| shell_word(w)).collect();
    let line = words
        .join(" ")
        .replace(&shell_word(&shard), &format!("\"$SLURM_ARRAY_TASK_ID/{}\"", g.shards))
        .replace("@THREADS@", "\"${SLURM_CPUS_PER_TASK:-1}\"");
    Ok(format!(
        "#!/bin/bash\n\
         #SBATCH --job-name=toratsugumi-gen-{:03}\n\
         #SBATCH --array=0-{}\n\
         #SBATCH --cpus-per-task={}\n\
         #SBATCH --time={}\n\
         #SBATCH --requeue\n\
         #SBATCH --signal=TERM@60\n\
         #SBATCH --open-mode=append\n\
         #SBATCH --output={}\n\
         exec {line}\n",
        plan.number,
        g.shards - 1,
        c.threads,
        c.time,
        games.join("slurm-%a.log").display(),
    ))
}

/// A word quoted for a POSIX shell.
fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.into()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

fn kubernetes(job: &ClusterJob) -> Result<String, LearnError> {
    let &ClusterJob { plan, root, .. } = job;
    let (c, g) = (&plan.config.cluster, &plan.config.generate);
    let shard = format!("$(SHARD)/{}", g.shards);
    let words = command(job, &shard, &c.threads.to_string())?;
    let quoted: Vec<String> = words.iter().map(|w| format!("            - {}\n", yaml_string(w))).collect();
    let (program, arguments) =
        quoted.split_first().map_or((String::new(), String::new()), |(p, a)| (p.clone(), a.concat()));
    Ok(format!(
        "apiVersion: batch/v1\n\
         kind: Job\n\
         metadata:\n\
         \x20 name: toratsugumi-gen-{number:03}\n\
         spec:\n\
         \x20 completionMode: Indexed\n\
         \x20 completions: {shards}\n\
         \x20 parallelism: {shards}\n\
         \x20 backoffLimitPerIndex: 10\n\
         \x20 maxFailedIndexes: {failed}\n\
         \x20 podFailurePolicy:\n\
         \x20   rules:\n\
         \x20     # 75: stopped with everything saved\n\
         \x20     - action: Ignore\n\
         \x20       onExitCodes:\n\
         \x20         operator: In\n\
         \x20         values: [75]\n\
         \x20     - action: Ignore\n\
         \x20       onPodConditions:\n\
         \x20         - type: DisruptionTarget\n\
         \x20           status: \"True\"\n\
         \x20 template:\n\
         \x20   spec:\n\
         \x20     restartPolicy: Never\n\
         \x20     terminationGracePeriodSeconds: 60\n\
         \x20     containers:\n\
         \x20       - name: datagen\n\
         \x20         image: {image}\n\
         \x20         env:\n\
         \x20           - name: SHARD\n\
         \x20             valueFrom:\n\
         \x20               fieldRef:\n\
         \x20                 fieldPath: metadata.annotations['batch.kubernetes.io/job-completion-index']\n\
         \x20         command:\n{program}\
         \x20         args:\n{arguments}\
         \x20         resources:\n\
         \x20           requests:\n\
         \x20             cpu: \"{threads}\"\n\
         \x20             memory: {memory}Mi\n\
         \x20         volumeMounts:\n\
         \x20           - name: shared\n\
         \x20             mountPath: {root}\n\
         \x20     volumes:\n\
         \x20       - name: shared\n\
         \x20         persistentVolumeClaim:\n\
         \x20           claimName: {claim}\n",
        number = plan.number,
        shards = g.shards,
        failed = g.shards - g.shards_needed(),
        image = yaml_string(&c.image),
        threads = c.threads,
        memory = 256 + 256 * c.threads,
        root = yaml_string(&root.to_string_lossy()),
        claim = yaml_string(&c.claim),
    ))
}

/// A YAML string in double quotes, which are those of JSON.
fn yaml_string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::Config;

    fn plan() -> Plan {
        let mut config = Config::default();
        config.generate.shards = 4;
        config.cluster.program = "/opt/my engine".into();
        Plan { number: 3, player: 2, window: vec![2, 3], config }
    }

    #[test]
    fn a_slurm_script_runs_one_shard_per_task() {
        let job = ClusterJob { plan: &plan(), root: Path::new("/shared/learn"), fv_scale: 24 };
        let script = slurm(&job).unwrap();
        assert!(script.starts_with("#!/bin/bash\n#SBATCH"));
        assert!(script.contains("--array=0-3\n"));
        assert!(
            script.contains("exec '/opt/my engine' datagen --out /shared/learn/gen-003/games "),
            "{script}"
        );
        assert!(
            script.contains("--shard \"$SLURM_ARRAY_TASK_ID/4\" --threads \"${SLURM_CPUS_PER_TASK:-1}\""),
            "{script}"
        );
        assert!(script.contains(" --fv-scale 24 "), "{script}");
        assert!(script.contains("--eval-file /shared/learn/gen-002/network/nn.bin"));
        assert!(!script.contains('@') || script.contains("TERM@60"));
    }

    #[test]
    fn a_kubernetes_job_is_indexed() {
        let text = kubernetes(&ClusterJob { plan: &plan(), root: Path::new("/shared/learn"), fv_scale: 24 })
            .unwrap();
        for part in [
            "apiVersion: batch/v1\nkind: Job\n",
            "completions: 4\n",
            "- \"$(SHARD)/4\"\n",
            "command:\n            - \"/opt/my engine\"\n",
            "mountPath: \"/shared/learn\"",
        ] {
            assert!(text.contains(part), "{part} is not in\n{text}");
        }
    }
}
