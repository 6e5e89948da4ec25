import type { Statistics } from "countersign/client";
import { useEffect, useState } from "react";
import { ask, client, type Problem } from "../../api/client.ts";
import { outdated } from "../../ui/clock.ts";

const AGAIN_MS = 2_000;
/** In seconds. */
const MAX_AGE = 30;

export interface Numbers {
  readonly found?: Statistics;
  /** What waits may lack what was stored since; only where that is some time ago. */
  readonly asOf?: string | undefined;
  readonly problem?: Problem;
}

/** The numbers of the last days; asked for again while the server has not counted everything. */
export function useNumbers(days: number): Numbers {
  const [numbers, setNumbers] = useState<Numbers & { readonly days: number }>({ days });
  useEffect(() => {
    const gone = new AbortController();
    let timer: number | undefined;
    const load = async (): Promise<void> => {
      const asked = await ask(client.stats({ days, maxAge: MAX_AGE, signal: gone.signal }));
      if (gone.signal.aborted) return;
      setNumbers(
        asked.ok
          ? { days, found: asked.value, asOf: outdated(asked.value.asOf) }
          : { days, problem: asked.problem },
      );
      if (asked.ok && asked.value.behind)
        timer = window.setTimeout(() => {
          load().catch(() => undefined);
        }, AGAIN_MS);
    };
    load().catch(() => undefined);
    return () => {
      gone.abort();
      window.clearTimeout(timer);
    };
  }, [days]);
  return numbers.days === days ? numbers : {};
}
