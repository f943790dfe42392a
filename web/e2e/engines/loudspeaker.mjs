// A loudspeaker for browsers that play nothing, and run no audio, on a machine without one.

import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Program } from "./program.mjs";

/** PulseAudio with a sink that drops what is played, at a socket of its own. */
export class Loudspeaker {
  static needs = "pulseaudio";
  #folder = mkdtempSync(join(tmpdir(), "groupwire-sound-"));
  #program;

  static async start() {
    const loudspeaker = new Loudspeaker();
    const folder = loudspeaker.#folder;
    const socket = join(folder, "socket");
    const modules = ["module-null-sink", `module-native-protocol-unix socket=${socket} auth-anonymous=1`];
    const options = ["-n", "--daemonize=no", "--use-pid-file=no", "--exit-idle-time=-1", "--disable-shm"];
    loudspeaker.#program = new Program(
      Loudspeaker.needs,
      [...options, ...modules.flatMap((module) => ["-L", module])],
      // What PulseAudio and its clients write of their own goes into the folder, too.
      { HOME: folder, XDG_RUNTIME_DIR: folder },
    );
    await loudspeaker.#program.started(() => existsSync(socket));
    return loudspeaker;
  }

  /** What a program needs in its environment to play here. */
  get environment() {
    return { PULSE_SERVER: `unix:${join(this.#folder, "socket")}` };
  }

  async close() {
    await this.#program.end();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
