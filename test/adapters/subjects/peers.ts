import type { AloneSubject } from "../alone/alone.ts";
import type { AdapterSubject } from "../contract/subject.ts";

/** An adapter of a framework with a heavy tree, which is installed in a folder of `test/peers` by the tests that need it. */
export interface PeerAdapter extends Pick<AdapterSubject, "name" | "except"> {
  readonly folder: string;
}

const ONE_AT_A_TIME =
  "Claude Code can pause at one tool use. Another one of the turn is refused, and the model uses it again later.";

/** Every adapter whose framework is not among this package's own. */
export const PEERS: readonly PeerAdapter[] = [
  { name: "google-adk", folder: "adk" },
  { name: "mastra", folder: "mastra" },
  {
    name: "claude-agent-sdk",
    folder: "claude-agent",
    except: {
      "the model waits until every call of the turn has its answer": ONE_AT_A_TIME,
      "a stream pauses in its middle, and goes on as a stream in another process": ONE_AT_A_TIME,
      "an id that a later turn uses again is another call":
        "The ids are Anthropic's, which are not used again. One that is gets the stored result.",
    },
  },
];

const ALONE = " alone";

/**
 * The subject with this name, from the folder of its framework, beside the packages that it imports: `subject.ts`, or
 * `alone.ts` of the framework without our adapter.
 */
export async function peerSubject(name: string): Promise<AdapterSubject> {
  const isAlone = name.endsWith(ALONE);
  const { folder } = PEERS.find((each) => each.name === name.replace(ALONE, "")) ?? {};
  if (folder === undefined) throw new Error(`There is no subject ${name}.`);
  const file = new URL(`../../peers/${folder}/${isAlone ? "alone" : "subject"}.ts`, import.meta.url).href;
  const found = (await import(file)) as { readonly subject: AdapterSubject; readonly alone: AloneSubject };
  return isAlone ? found.alone : found.subject;
}
