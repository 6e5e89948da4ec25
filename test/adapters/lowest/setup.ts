import { ensurePeer } from "../../../scripts/test-tools.ts";

/** Installs the lowest versions. */
export function setup(): void {
  ensurePeer("lowest");
}
