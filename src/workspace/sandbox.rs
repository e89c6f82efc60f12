//! What a child may touch: Landlock where the kernel has it, and an honest word where it has not.

use std::fmt;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, LandlockStatus, PathBeneath, PathFd,
    RestrictionStatus, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError,
    Scope,
};

/// What every program needs to start at all, read and run.
///
/// Of `/proc` only what tells of the machine: below the numbers of other processes are their
/// environments, and Landlock was seen to leave those of a parent open.
const SYSTEM: [&str; 16] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib64",
    "/etc",
    "/opt",
    "/nix",
    "/dev",
    "/sys",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/filesystems",
    "/proc/version",
    "/proc/sys",
];

/// Devices that are no place to keep anything.
const DEVICES: [&str; 4] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/tty"];

/// The rules that we write: the newest that this was tried with. Older kernels enforce fewer.
const RULES: ABI = ABI::V6;

/// The first kernel interface that knows files (5.13), TCP (6.7), and sockets and signals to
/// processes outside (6.12).
const FILES: ABI = ABI::V1;
const TCP: ABI = ABI::V4;
const SCOPES: ABI = ABI::V6;

/// What a child may touch. Nothing else of the disk, and no TCP, is open to it or its children.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sandbox {
    reads: Vec<PathBuf>,
    writes: Vec<PathBuf>,
    network: bool,
}

/// What holds a child, as the kernel says: part of a receipt and of a command's outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Confined {
    /// The rules on files hold.
    pub files: bool,
    /// TCP is closed. UDP and sockets of the file system are not: Landlock has no rule for them.
    pub tcp: bool,
    /// No signals and no abstract sockets to processes outside.
    pub scopes: bool,
    /// Why not, where something does not hold.
    pub lacks: Option<&'static str>,
}

impl Sandbox {
    /// The programs of the system, and nothing of the person's.
    pub fn new() -> Self {
        Self::default()
    }

    /// All below this may be read and run.
    pub fn read(mut self, path: impl Into<PathBuf>) -> Self {
        self.reads.push(path.into());
        self
    }

    /// All below this may be read, written, made and removed.
    pub fn write(mut self, path: impl Into<PathBuf>) -> Self {
        self.writes.push(path.into());
        self
    }

    /// Leaves the network open: for children that a person sent there.
    pub fn with_network(mut self) -> Self {
        self.network = true;
        self
    }

    /// Holds this thread, for good, and every process that it starts; other threads stay free.
    pub(super) fn enter(&self) -> Result<Confined, RulesetError> {
        let status = self.rules()?.restrict_self()?;
        Ok(self.confined(&status))
    }

    fn rules(&self) -> Result<RulesetCreated, RulesetError> {
        let all = AccessFs::from_all(RULES);
        let mut ruleset = Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(all)?
            .scope(Scope::from_all(RULES))?;
        if !self.network {
            ruleset = ruleset.handle_access(AccessNet::from_all(RULES))?;
        }
        let mut rules = ruleset.create()?;
        let read = AccessFs::from_read(RULES);
        let readable = SYSTEM.iter().map(Path::new).chain(self.reads.iter().map(PathBuf::as_path));
        let readable = readable.map(|path| (path, read));
        let device = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::IoctlDev;
        let writable = self.writes.iter().map(|path| (path.as_path(), all));
        let devices = DEVICES.iter().map(|path| (Path::new(path), device));
        for (path, access) in readable.chain(writable).chain(devices) {
            // What is not there needs no rule: it stays closed, should it come to be.
            let Ok(place) = PathFd::new(path) else { continue };
            let access = if path.is_dir() { access } else { access & AccessFs::from_file(RULES) };
            rules = rules.add_rule(PathBeneath::new(place, access))?;
        }
        Ok(rules)
    }

    fn confined(&self, status: &RestrictionStatus) -> Confined {
        let abi = match status.landlock {
            LandlockStatus::Available { effective_abi, .. } if status.no_new_privs => effective_abi,
            LandlockStatus::NotEnabled => {
                return Confined::lacking("Landlock is turned off in this kernel");
            }
            _ => return Confined::lacking("this kernel has no Landlock (Linux 5.13 or later has)"),
        };
        let tcp = abi >= TCP && !self.network;
        let lacks = match abi {
            _ if self.network => Some("the network was left open"),
            abi if abi < TCP => Some("this kernel cannot close the network (Linux 6.7 can)"),
            _ => None,
        };
        Confined { files: abi >= FILES, tcp, scopes: abi >= SCOPES, lacks }
    }
}

impl Confined {
    pub(super) fn lacking(why: &'static str) -> Self {
        Self { lacks: Some(why), ..Self::default() }
    }
}

impl fmt::Display for Confined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let holds = [
            (self.files, "files"),
            (self.tcp, "TCP"),
            (self.scopes, "signals and abstract sockets"),
        ];
        let held: Vec<&str> = holds.iter().filter(|(held, _)| *held).map(|(_, n)| *n).collect();
        match &held[..] {
            [] => f.write_str("not sandboxed")?,
            held => write!(f, "sandboxed: {}", held.join(", "))?,
        }
        self.lacks.map_or(Ok(()), |lacks| write!(f, " ({lacks})"))
    }
}
