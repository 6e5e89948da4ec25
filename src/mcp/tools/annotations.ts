import type { ToolAnnotations } from "@modelcontextprotocol/client";

/**
 * Could the tool do harm, by what its server says of it? Silence means yes: the protocol's own default is that a
 * tool is not read-only and destructive. A server's word, so only for servers that are trusted.
 */
export function isDestructive({ readOnlyHint, destructiveHint }: ToolAnnotations = {}): boolean {
  if (readOnlyHint === true) return false;
  return destructiveHint !== false;
}

/** May the tool be started again after a crash, by what its server says of it? */
export function isRepeatable({ readOnlyHint, idempotentHint }: ToolAnnotations = {}): boolean {
  return readOnlyHint === true || idempotentHint === true;
}
