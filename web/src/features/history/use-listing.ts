import type { ListOptions } from "countersign/client";
import { useCallback, useEffect, useRef, useState } from "react";
import { ask, client, type Problem } from "../../api/client.ts";
import type { Confirmation } from "../../api/types.ts";
import { outdated } from "../../ui/clock.ts";

export interface Listing {
  readonly items: readonly Confirmation[];
  readonly isLoading: boolean;
  readonly hasMore: boolean;
  readonly problem?: Problem;
  /** It may lack what was stored since; only where that is some time ago. */
  readonly asOf?: string;
  readonly more: () => void;
}

interface Loaded {
  readonly key: string;
  readonly items: readonly Confirmation[];
  readonly next?: string | undefined;
  readonly problem?: Problem;
  readonly asOf?: string | undefined;
}

/** Pages that may come back empty although there is more; so many are gone through for one click. */
const EMPTY_PAGES = 20;

/** A list on the server, page by page; restarted when the filters change. */
export function useListing(query: ListOptions): Listing {
  const key = JSON.stringify(query);
  const [loaded, setLoaded] = useState<Loaded>();
  const [isLoading, setLoading] = useState(false);
  const current = useRef(key);
  const load = useCallback(async (asked: string, before: Loaded | undefined): Promise<void> => {
    setLoading(true);
    const next = await nextPage(JSON.parse(asked) as ListOptions, before);
    if (current.current !== asked) return;
    setLoaded({ key: asked, ...next });
    setLoading(false);
  }, []);
  useEffect(() => {
    current.current = key;
    load(key, undefined).catch(() => undefined);
  }, [key, load]);
  const known = loaded?.key === key ? loaded : undefined;
  return {
    items: known?.items ?? [],
    isLoading: isLoading || known === undefined,
    hasMore: known?.next !== undefined,
    ...(known?.problem === undefined ? {} : { problem: known.problem }),
    ...(known?.asOf === undefined ? {} : { asOf: known.asOf }),
    more: () => {
      load(key, known).catch(() => undefined);
    },
  };
}

async function nextPage(query: ListOptions, before: Loaded | undefined): Promise<Omit<Loaded, "key">> {
  const items = [...(before?.items ?? [])];
  let cursor = before?.next;
  let asOf = before?.asOf;
  for (let turn = 0; turn < EMPTY_PAGES; turn += 1) {
    const page = await ask(client.confirmations.list(cursor === undefined ? query : { ...query, cursor }));
    if (!page.ok) return { items, next: cursor, asOf, problem: page.problem };
    asOf ??= outdated(page.value.asOf);
    items.push(...page.value.items);
    cursor = page.value.next;
    if (page.value.items.length > 0 || cursor === undefined) break;
  }
  return { items, next: cursor, asOf };
}
