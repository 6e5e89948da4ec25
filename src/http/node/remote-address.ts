import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";

/** Where a request comes from, as far as known. */
export interface Origin {
  readonly remoteAddress: string | undefined;
  readonly scheme: "http" | "https";
}

/**
 * The client's address and scheme. Anyone can send a forwarding header, so only the entries of trusted proxies count:
 * each adds one at the end, and the outermost proxy saw the client.
 */
export function originOf(incoming: IncomingMessage, proxies: number): Origin {
  const { socket } = incoming;
  const forwarded = addressIn(entriesOf(incoming.headers["x-forwarded-for"], proxies).at(-proxies) ?? "");
  const schemes = entriesOf(incoming.headers["x-forwarded-proto"], proxies);
  // Many proxies replace the scheme instead of appending theirs.
  const scheme = schemes.at(-proxies) ?? schemes[0];
  const encrypted = "encrypted" in socket && socket.encrypted === true;
  return {
    remoteAddress: forwarded ?? socket.remoteAddress,
    scheme: scheme === "https" || (scheme === undefined && encrypted) ? "https" : "http",
  };
}

function entriesOf(header: string | readonly string[] | undefined, proxies: number): readonly string[] {
  if (proxies === 0) return [];
  const entries = [header ?? []].flat().flatMap((line) => line.split(","));
  return entries.map((entry) => entry.trim());
}

// Some proxies add the port. Values that are not addresses, such as `unknown`, are ignored.
function addressIn(entry: string): string | undefined {
  const [, bracketed] = /^\[([^\]]+)\](?::\d+)?$/.exec(entry) ?? [];
  const address = bracketed ?? (/^[\d.]+:\d+$/.test(entry) ? entry.replace(/:\d+$/, "") : entry);
  return isIP(address) === 0 ? undefined : address;
}
