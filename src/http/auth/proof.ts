/**
 * The header with a page's own proof. A browser sends a cookie to every port of a host, so a program on another port
 * can read it. The proof is stored where only pages of one origin (including the port) can read it, and the cookie is
 * valid only with it.
 */
export const PROOF_HEADER = "countersign-proof";

/** Where a page keeps it. */
export const PROOF_PLACE = "countersign.proof";

/** The proof that came with a request; nothing where there is none. */
export function proofOf(request: Request): string {
  return request.headers.get(PROOF_HEADER) ?? "";
}
