import { eachOf } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import { agedContent, type Planned, planned } from "./aged-content.ts";
import type { RetentionRules } from "./rules.ts";

const PAGE = 100;

/** What a run would erase now, and what a hold keeps. Changes nothing. */
export async function* planRetention(parts: EngineParts, rules: RetentionRules): AsyncGenerator<Planned> {
  const { ledger } = parts;
  if (rules.shortestContentMs === undefined) return;
  const idleSince = ledger.now - rules.shortestContentMs;
  for await (const { key } of eachOf((page) => ledger.sessions({ idleSince }, page), PAGE)) {
    const aged = await agedContent(ledger, key, rules);
    if (aged !== undefined) yield planned(parts, aged.session);
  }
}
