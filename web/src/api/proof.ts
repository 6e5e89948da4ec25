import { PROOF_HEADER } from "countersign/client";

/** The server's own login page writes it there, too. */
const PLACE = "countersign.proof";

/**
 * The proof of the login that this page began with. A login in another tab does not replace it: a click that waits here was
 * somebody's own, and must not be sent as somebody else's.
 */
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
export function newestProof(): string | undefined {
  try {
    return window.localStorage.getItem(PLACE) ?? held;
  } catch {
    return held;
  }
}

/** Goes on with a proof of another tab, of which is known that it is the same person's. */
export function adoptProof(proof: string | undefined): void {
  held = proof;
}

/** The header with the proof of this page's login, or with another one. */
export function proofHeaders(proof: string | undefined = ownProof()): Record<string, string> {
  return proof === undefined ? {} : { [PROOF_HEADER]: proof };
}

function ownProof(): string | undefined {
  held ??= newestProof();
  return held;
}

export function forgetProof(): void {
  held = undefined;
  try {
    window.localStorage.removeItem(PLACE);
  } catch {
    // There is none.
  }
}
