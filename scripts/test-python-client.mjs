// Tests the Python package: types by mypy and pyright, then pytest against the real server. The
// first argument is the server's binary, the second one the folder of Cargo's dev profile with the
// native part; further ones go to pytest.

import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const script = (name) => fileURLToPath(new URL(name, import.meta.url));
const folder = script("../python");
const [binary, built, ...options] = process.argv.slice(2);

const found = spawnSync(script("python-tools.sh"), { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
if (found.status !== 0) {
  console.error("test-python-client: needs python3 3.10 or later with venv, and a registry of Python's packages");
  process.exit(1);
}
const python = found.stdout.trim();

// The package as an application has it installed: our modules, and the native part beside them. The
// checkout itself stays without the native part.
const installed = join(built, "python-package");
const packages = join(installed, "groupwire");
rmSync(installed, { recursive: true, force: true });
mkdirSync(installed, { recursive: true });
run("cp", ["-r", join(folder, "groupwire"), packages]);
const native = ["lib_native.so", "lib_native.dylib"].map((name) => join(built, name)).find((path) => existsSync(path));
if (!native) {
  console.error(`test-python-client: there is no native part in ${built}: cargo build --package groupwire-python`);
  process.exit(1);
}
copyFileSync(native, join(packages, "_native.abi3.so"));
symlinkSync(join(folder, "examples"), join(installed, "examples"));

const tools = dirname(python);
run(join(tools, "mypy"), []);
run(process.execPath, [join(tools, "../pyright/node_modules/pyright/index.js"), "--pythonpath", python]);
run(join(tools, "pytest"), ["-q", "-p", "no:cacheprovider", ...options]);

/** Runs a program in the package's folder; ends this process if it fails. */
function run(program, args) {
  const modes = { PYTHONDEVMODE: "1", PYTHONDONTWRITEBYTECODE: "1" };
  const env = {
    ...process.env,
    ...modes,
    GROUPWIRE_BINARY: binary,
    NODE: process.execPath,
    PYTHONPATH: installed,
  };
  const { status } = spawnSync(program, args, { cwd: folder, env, stdio: "inherit" });
  if (status !== 0) {
    console.error(`test-python-client: ${program} failed`);
    process.exit(1);
  }
}
