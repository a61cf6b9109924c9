//! What makes two runs the same: the program, the data, the plan, the tier and the seed.

use super::RunOptions;
use crate::plan::Plan;
use crate::record::RunInfo;
use anyhow::Context as _;
use sha2::{Digest, Sha256};
use std::process::Command;

pub(super) fn run_info(options: &RunOptions, plan: &Plan) -> anyhow::Result<RunInfo> {
    Ok(RunInfo {
        version: env!("CARGO_PKG_VERSION").into(),
        tier: options.tier.to_string(),
        seed: options.seed,
        alpha: plan.suite.alpha,
        family: plan.suite.family,
        key: run_key(options)?,
        platform: format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS),
    })
}

/// Returns the key of a run, by which runs on several machines know that they are parts of one: the commit,
/// the lock file, the target and the profile, with plan, tier and seed. A tree that is not as committed
/// counts by the program itself.
fn run_key(options: &RunOptions) -> anyhow::Result<String> {
    let mut hash = Sha256::new();
    match committed() {
        Some(commit) => {
            let profile = if cfg!(debug_assertions) { "debug" } else { "release" };
            let (arch, system) = (std::env::consts::ARCH, std::env::consts::OS);
            hash.update(format!("{commit}\0{arch}-{system}\0{profile}\0"));
            hash.update(include_str!("../../../Cargo.lock"));
        }
        None => hash.update(program()?),
    }
    Ok(finish_key(hash, options))
}

/// Returns the key by which a run resumes an unfinished one: it must be the same program, on the same data.
pub(super) fn resume_key(options: &RunOptions) -> anyhow::Result<String> {
    let mut hash = Sha256::new();
    hash.update(program()?);
    hash.update(std::env::var_os("LAO_DATA").unwrap_or_default().to_string_lossy().as_bytes());
    Ok(finish_key(hash, options))
}

fn finish_key(mut hash: Sha256, options: &RunOptions) -> String {
    hash.update(Plan::TEXT);
    hash.update(format!("\0{}\0{}", options.tier, options.seed));
    hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

fn program() -> anyhow::Result<Vec<u8>> {
    let program = std::env::current_exe().context("cannot find the running program")?;
    std::fs::read(&program).with_context(|| format!("cannot read {}", program.display()))
}

/// Returns the commit, if the files of the repository are as committed.
fn committed() -> Option<String> {
    let git = |arguments: &[&str]| {
        let git =
            Command::new("git").current_dir(env!("CARGO_MANIFEST_DIR")).args(arguments).output().ok()?;
        String::from_utf8(git.stdout).ok().filter(|_| git.status.success())
    };
    let changed = git(&["status", "--porcelain", "--untracked-files=no"])?;
    git(&["rev-parse", "HEAD"]).filter(|_| changed.trim().is_empty())
}

/// Returns the root seed of a nightly run: a hash of the day (UTC), below 2^48 so that every JSON reader
/// reads it exactly.
pub fn seed_of_the_day() -> u64 {
    let since_epoch = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    seed_of_day(since_epoch.as_secs() / 86_400)
}

fn seed_of_day(day: u64) -> u64 {
    let hash = Sha256::digest(format!("nightly\0{day}"));
    hash.iter().take(6).fold(0, |seed, byte| seed << 8 | u64::from(*byte))
}
