// Not bundled: a subject of test/peers is loaded from its source, with the packages beside it.
import { runProgram } from "./contract/run-program.ts";
import { peerSubject } from "./subjects/peers.ts";

await runProgram(peerSubject);
