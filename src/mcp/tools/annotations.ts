import type { ToolAnnotations } from "@modelcontextprotocol/client";

/**
 * Is the tool destructive, according to its server's annotations? Without annotations: yes, which is the protocol's
 * default. Only for trusted servers.
 */
export function isDestructive({ readOnlyHint, destructiveHint }: ToolAnnotations = {}): boolean {
  if (readOnlyHint === true) return false;
  return destructiveHint !== false;
}

/** May the tool be repeated after a crash, according to its server's annotations? */
export function isRepeatable({ readOnlyHint, idempotentHint }: ToolAnnotations = {}): boolean {
  return readOnlyHint === true || idempotentHint === true;
}
