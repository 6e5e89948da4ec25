import { ensurePeer } from "../../scripts/test-tools.ts";
import { PEERS } from "./subjects/peers.ts";

/** Installs the frameworks with heavy trees, for the long proofs only. */
export function setup(): void {
  for (const { folder } of PEERS) ensurePeer(folder);
}
