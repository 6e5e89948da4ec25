import { isJsonObject, type JsonObject } from "../../protocol/index.ts";
import type { Ledger } from "../ledger/index.ts";

const PROGRESS = { kind: "retention", id: "progress" } as const;

/** Where a run is, so that the next process goes on there if this one dies; and when the last one was finished. */
export interface Progress {
  /** The page of sessions that comes next; absent between runs. */
  readonly cursor?: string;
  readonly finishedAt?: number;
}

export async function readProgress({ items }: Pick<Ledger, "items">): Promise<Progress> {
  const value = (await items.get(PROGRESS.kind, PROGRESS.id))?.value;
  if (!isJsonObject(value)) return {};
  const { cursor, finishedAt } = value;
  return {
    ...(typeof cursor === "string" ? { cursor } : {}),
    ...(typeof finishedAt === "number" ? { finishedAt } : {}),
  };
}

/** Only whoever has the lease writes it; a page that is looked at twice does no harm. */
export async function writeProgress({ items }: Pick<Ledger, "items">, progress: Progress): Promise<void> {
  const { version = 0 } = (await items.get(PROGRESS.kind, PROGRESS.id)) ?? {};
  await items.put({ ...PROGRESS, value: { ...progress } satisfies JsonObject }, version);
}
