import { ANYBODY } from "../../engine/index.ts";

const LONGEST = 256;
/** Ids that say how somebody came to be known; nobody who logs in may bear one. */
const RESERVED = /^(?:local|provider|author|agent|channel):/;

/**
 * Why nobody can be known under this id; undefined if they can. An id that another kind of principal bears would let
 * its owner pass for whoever asked.
 */
export function flawOfUserId(id: string): string | undefined {
  if (id.trim() === "" || id.length > LONGEST) return `must have 1 to ${LONGEST} characters`;
  if (/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(id) || !id.isWellFormed()) return "contains invisible characters";
  if (id === ANYBODY.id || RESERVED.test(id)) return "is reserved for unauthenticated users";
  return undefined;
}
