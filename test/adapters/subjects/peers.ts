import type { AdapterSubject } from "../contract/subject.ts";

/** An adapter of a framework with a heavy tree, which is installed in a folder of `test/peers` by the tests that need it. */
export interface PeerAdapter {
  readonly name: string;
  readonly folder: string;
}

/** Every adapter whose framework is not among this package's own. */
export const PEERS: readonly PeerAdapter[] = [
  { name: "google-adk", folder: "adk" },
  { name: "mastra", folder: "mastra" },
  { name: "claude-agent-sdk", folder: "claude-agent" },
];

/** Its subject: `subject.ts` in its folder, beside the packages that it imports. */
export async function peerSubject(name: string): Promise<AdapterSubject> {
  const { folder } = PEERS.find((each) => each.name === name) ?? {};
  if (folder === undefined) throw new Error(`There is no subject ${name}.`);
  const file = new URL(`../../peers/${folder}/subject.ts`, import.meta.url).href;
  const { subject } = (await import(file)) as { readonly subject: AdapterSubject };
  return subject;
}
