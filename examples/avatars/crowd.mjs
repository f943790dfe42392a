// Fills a room with people who walk about: npm run crowd -- [COUNT] [SERVER] [ROOM]

import { connect } from "groupwire";
import { fileURLToPath } from "node:url";
import { runnerImport } from "vite";

const [count = "18", server = "http://127.0.0.1:8080", room = "meadow"] = process.argv.slice(2);
const { module } = await runnerImport(fileURLToPath(new URL("src/crowd.ts", import.meta.url)));
module.startCrowd(connect, server, room, Number(count));
console.log(`${count} people walk in the room "${room}" of ${server}, until Ctrl-C.`);
