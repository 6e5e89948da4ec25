import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";

/** Where a request comes from, as far as that can be known. */
export interface Origin {
  readonly remoteAddress: string | undefined;
  readonly scheme: "http" | "https";
}

/**
 * The client's address and scheme. What a forwarding header says is anybody's word, so it counts only as far as
 * there are proxies of ours in front: each adds one entry at the end, and the first of theirs saw the client.
 */
export function originOf(incoming: IncomingMessage, proxies: number): Origin {
  const { socket } = incoming;
  const forwarded = addressIn(entriesOf(incoming.headers["x-forwarded-for"], proxies).at(-proxies) ?? "");
  const schemes = entriesOf(incoming.headers["x-forwarded-proto"], proxies);
  // Many proxies write the scheme anew instead of adding theirs.
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

// Some proxies write the port, too. What is no address, such as `unknown`, says nothing.
function addressIn(entry: string): string | undefined {
  const [, bracketed] = /^\[([^\]]+)\](?::\d+)?$/.exec(entry) ?? [];
  const address = bracketed ?? (/^[\d.]+:\d+$/.test(entry) ? entry.replace(/:\d+$/, "") : entry);
  return isIP(address) === 0 ? undefined : address;
}
