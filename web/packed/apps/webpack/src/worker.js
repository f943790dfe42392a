import { connect, transaction } from "groupwire";
import { join } from "packed-join";

onmessage = ({ data }) => join({ connect, transaction }, new URLSearchParams(data), (seen) => postMessage(seen));
