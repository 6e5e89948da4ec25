import { PROOF_HEADER } from "countersign/client";

/** The server's own login page writes it there, too. */
const PLACE = "countersign.proof";
let held: string | undefined;

/** Stores the page's proof for every tab of this origin, but for no other port of the host. */
export function keepProof(proof: string): void {
  held = proof;
  try {
    window.localStorage.setItem(PLACE, proof);
  } catch {
    // A browser without storage has it until the page is reloaded.
  }
}

/** The proof of the login that is the newest in any tab. */
export function keptProof(): string | undefined {
  try {
    return window.localStorage.getItem(PLACE) ?? held;
  } catch {
    return held;
  }
}

export function proofHeaders(): Record<string, string> {
  const proof = keptProof();
  return proof === undefined ? {} : { [PROOF_HEADER]: proof };
}

export function forgetProof(): void {
  held = undefined;
  try {
    window.localStorage.removeItem(PLACE);
  } catch {
    // There is none.
  }
}
