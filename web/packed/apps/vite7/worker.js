// In one file, because Vite 7 cannot split the code of a worker.
import { connect, transaction } from "groupwire/modules/worker";
import { join } from "packed-join";

onmessage = ({ data }) => join({ connect, transaction }, new URLSearchParams(data), (seen) => postMessage(seen));
