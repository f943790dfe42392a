//! A file system on a loop device, which can be cut off from its disk as by a power cut.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::skip::skip;

/// Succeeds if a file system can be made and mounted on a loop device here. `scripts/skipped.mjs`
/// asks the same.
const HAS_LOOP_DEVICES: &str = "test \"$(id -u)\" = 0 && losetup --find";

/// Calls ioctl 0x8004587d, FS_IOC_SHUTDOWN, with flag 2, FS_SHUTDOWN_FLAGS_NOLOGFLUSH: from now on
/// unsynced data does not reach the disk. The call is made in Perl, because `ioctl` is unsafe in
/// Rust.
const CUT: &str = r#"my $flag = pack("L", 2); open(F, "<", $ARGV[0]) or die $!; ioctl(F, 0x8004587d, $flag) or die $!"#;

/// See the [module](self). The file system is ext4.
pub(crate) struct LoopDisk {
    image: PathBuf,
    /// The directory where the disk is mounted.
    pub(crate) path: PathBuf,
}

impl LoopDisk {
    /// Makes and mounts an empty file system. If this machine cannot, reports that for
    /// `scripts/skipped.mjs`, and returns `None`.
    pub(crate) fn new(name: &str, mib: u64) -> Option<Self> {
        for (need, command) in [
            ("loop devices", HAS_LOOP_DEVICES),
            ("mkfs.ext4", "command -v mkfs.ext4"),
            ("perl", "command -v perl"),
        ] {
            if !run("sh", &["-c", command]) {
                skip(need);
                return None;
            }
        }
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let disk = LoopDisk { image: path.with_extension("image"), path };
        disk.remove();
        fs::create_dir_all(&disk.path).unwrap();
        File::create(&disk.image).unwrap().set_len(mib << 20).unwrap();
        assert!(run("mkfs.ext4", &["-q", text(&disk.image)]));
        disk.mount("loop");
        Some(disk)
    }

    /// Mounts it with these options.
    pub(crate) fn mount(&self, options: &str) {
        let mut arguments = vec!["-o", options];
        if !options.starts_with("remount") {
            arguments.push(text(&self.image));
        }
        arguments.push(text(&self.path));
        assert!(run("mount", &arguments), "mount {options}");
    }

    /// Unmounts the file system, which nobody may use any more.
    pub(crate) fn unmount(&self) {
        assert!(run("umount", &[text(&self.path)]));
    }

    /// Cuts the file system off: unsynced data is lost, and every access fails until it is mounted
    /// again.
    pub(crate) fn cut(&self) {
        assert!(run("perl", &["-e", CUT, text(&self.path)]));
    }

    /// Puts on the disk what is written so far.
    pub(crate) fn sync(&self) {
        assert!(run("sync", &["-f", text(&self.path)]));
    }

    /// Fills it, so that no space is left.
    pub(crate) fn fill(&self) {
        let mut file = File::create(self.path.join("filling")).unwrap();
        while file.write_all(&[1; 4096]).is_ok() {}
        file.sync_all().unwrap();
    }

    /// Gives back the space that [`Self::fill`] took.
    pub(crate) fn free(&self) {
        fs::remove_file(self.path.join("filling")).unwrap();
    }

    fn remove(&self) {
        // A test that was stopped may have left it mounted, and a program that was killed may not
        // have ended: the file system goes when nobody uses it any more.
        while run("umount", &["--lazy", text(&self.path)]) {}
        let _ = fs::remove_file(&self.image);
        let _ = fs::remove_dir(&self.path);
    }
}

impl Drop for LoopDisk {
    fn drop(&mut self) {
        self.remove();
    }
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Runs a program, and returns whether it succeeded.
fn run(program: &str, arguments: &[&str]) -> bool {
    let output = Command::new(program).args(arguments).output();
    output.is_ok_and(|output| output.status.success())
}
