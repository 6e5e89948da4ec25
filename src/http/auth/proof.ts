/**
 * The header with a page's own proof. A browser sends a cookie to every port of a host, so whoever listens on another one
 * learns it. The proof is kept where only pages of one origin read it, port included, and the cookie counts only with it.
 */
export const PROOF_HEADER = "countersign-proof";

/** Where a page keeps it. */
export const PROOF_PLACE = "countersign.proof";

/** The proof that came with a request; nothing where there is none. */
export function proofOf(request: Request): string {
  return request.headers.get(PROOF_HEADER) ?? "";
}
