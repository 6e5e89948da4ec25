import { ANYBODY } from "../../engine/index.ts";

const LONGEST = 256;
/** Prefixes of ids that are reserved for other kinds of principals; nobody can log in with one. */
const RESERVED = /^(?:local|provider|author|agent|caller|channel):/;

/**
 * Why nobody can log in with this id; undefined if it is valid. A reserved id would let its owner pass for another
 * principal.
 */
export function flawOfUserId(id: string): string | undefined {
  if (id.trim() === "" || id.length > LONGEST) return `must have 1 to ${LONGEST} characters`;
  if (/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(id) || !id.isWellFormed()) return "contains invisible characters";
  if (id === ANYBODY.id || isReservedUserId(id)) return "is reserved for unauthenticated users";
  return undefined;
}

/** Is this the id of something other than a person: a caller's thread, a channel, the command line? */
export function isReservedUserId(id: string): boolean {
  return RESERVED.test(id);
}
