import type { EngineParts } from "../parts.ts";
import { agedContent, type Planned, planned } from "./aged-content.ts";
import type { RetentionRules } from "./rules.ts";

const PAGE = 100;

/** What a run would erase now, and what a hold keeps. Changes nothing. */
export async function* planRetention(parts: EngineParts, rules: RetentionRules): AsyncGenerator<Planned> {
  const { ledger } = parts;
  if (rules.shortestContentMs === undefined) return;
  const idleSince = ledger.now - rules.shortestContentMs;
  for (let cursor: string | undefined; ; ) {
    const request = { limit: PAGE, ...(cursor === undefined ? {} : { cursor }) };
    const { items, next } = await ledger.sessions({ idleSince }, request);
    for (const { key } of items) {
      const aged = await agedContent(ledger, key, rules);
      if (aged !== undefined) yield planned(parts, aged.session);
    }
    if (next === undefined) return;
    cursor = next;
  }
}
