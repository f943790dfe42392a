import { connect, transaction } from "groupwire";
import { join } from "./join/index.js";

join({ connect, transaction }, new URLSearchParams(process.argv[2]), (seen) => console.log(JSON.stringify(seen)));
