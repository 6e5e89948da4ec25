import { isIPv6 } from "node:net";

const GROUPS = 8;
const NETWORK_GROUPS = 4;
const MAPPED = /^(?:0*:)*:?ffff:(\d+\.\d+\.\d+\.\d+)$/i;

/**
 * The key for callers without a login: their address; for IPv6 the network (/64), because one client can have many
 * addresses in it.
 */
export function callerAt(address: string): string {
  const [, mapped] = MAPPED.exec(address) ?? [];
  if (mapped !== undefined) return mapped;
  return isIPv6(address) ? networkOf(address) : address.slice(0, 64);
}

function networkOf(address: string): string {
  const [plain = ""] = address.split("%");
  const [before = "", after] = plain.split("::");
  const head = before === "" ? [] : before.split(":");
  const tail = after === undefined || after === "" ? [] : after.split(":");
  // An IPv4 address at the end is two groups.
  const written = head.length + tail.length + (plain.includes(".") ? 1 : 0);
  const groups = [...head, ...Array.from({ length: GROUPS - written }, () => "0"), ...tail];
  return groups
    .slice(0, NETWORK_GROUPS)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":");
}
