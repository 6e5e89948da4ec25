import { migratePostgres } from "../../src/stores/postgres/index.ts";
import { createEmptyDatabase } from "../support/postgres/database.ts";
import { execute } from "../support/postgres/server.ts";
import type { Resources } from "../support/resources.ts";

/** One text of a function of the schema, and what a broken build would have in its place. */
interface Flaw {
  readonly function: string;
  readonly text: string;
  readonly instead: string;
}

/** Guards of the store that can be taken out. */
const FLAWS = {
  /** A commit does not ask whether the session has moved since it was read. */
  "version-ignored": {
    function: "commit",
    text: "where key = p_key and version = p_version and chain_hash = coalesce(p_head, chain_hash)",
    instead: "where key = p_key",
  },
  /** A call is moved whatever its status and whoever's attempt it is. */
  "call-unguarded": {
    function: "move_call",
    text: "if v.status is distinct from w ->> 'from' or v.attempt <> (w ->> 'attempt')::integer then return false; end if;",
    instead: "",
  },
  /** A confirmation is moved whatever its status. */
  "confirmation-unguarded": {
    function: "move_confirmation",
    text: "if v.status is distinct from w ->> 'from' then return 'row'; end if;",
    instead: "",
  },
} as const satisfies Readonly<Record<string, Flaw>>;

/** One kind of record never reaches the journal. */
const RECORD_LEFT_OUT = `
  create function countersign.leave_out() returns trigger language plpgsql as 'begin return null; end';
  create trigger leave_out before insert on countersign.journal for each row
    when (new.kind = 'call-succeeded') execute function countersign.leave_out()`;

export type FlawName = keyof typeof FLAWS | "record-left-out";

/** A ledger of its own, removed after the test, whose schema has these flaws. */
export async function createBrokenLedger(
  resources: Resources,
  flaws: readonly FlawName[] = [],
): Promise<string> {
  const url = await createEmptyDatabase(resources);
  await migratePostgres(url);
  for (const flaw of flaws)
    await (flaw === "record-left-out" ? execute(url, RECORD_LEFT_OUT) : introduce(url, FLAWS[flaw]));
  // The last line of defence, which keeps two records from having the same place in a chain.
  if (flaws.includes("version-ignored")) await execute(url, "drop index countersign.journal_stream");
  // So that every commit goes through the function; the quick way around it has guards of its own.
  return `${url}?prepare=false`;
}

async function introduce(url: string, { function: name, text, instead }: Flaw): Promise<void> {
  const [found] = await execute(
    url,
    `select pg_get_functiondef(p.oid) as text from pg_proc p where proname = '${name}' and pronamespace = 'countersign'::regnamespace`,
  );
  const whole = (found?.rows[0] as { readonly text: string } | undefined)?.text ?? "";
  if (!whole.includes(text)) throw new Error(`countersign.${name} does not say: ${text}`);
  await execute(
    url,
    whole.replace(text, () => instead),
  );
}
