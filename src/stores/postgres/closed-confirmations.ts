import type {
  ConfirmationFilter,
  ConfirmationWithCall,
  ListRequest,
  Page,
  ShownStatus,
} from "../../engine/index.ts";
import { bothOf, NEWEST_FIRST } from "../sql/confirmation-rows.ts";
import type { Position } from "../sql/pages.ts";
import type { Row } from "../sql/row.ts";
import {
  conditionsOn,
  isOfOneSession,
  type Narrowing,
  narrow,
  ofStatus,
  Values,
} from "./confirmation-filter.ts";
import type { Database } from "./database.ts";
import { readPage } from "./read-page.ts";
import { readShown } from "./shown-confirmations.ts";

const TABLES =
  "countersign.confirmations c join countersign.calls k on k.id = c.call " +
  "join countersign.sessions s on s.key = c.session";
const CLOSED = `from ${TABLES} where c.status <> 'requested'`;
// An index holds the calls that are in such a status; the questions about one are among its session's.
const UNDER_WAY =
  "from countersign.calls k join countersign.confirmations c on c.session = k.session and c.call = k.id " +
  "join countersign.sessions s on s.key = c.session where c.status = 'approved'";
const UNDER_WAY_STATUSES: ReadonlySet<ShownStatus> = new Set(["executing", "unknown"]);
const WINDOW_END =
  "select id from countersign.confirmations where id < $1 order by id desc offset $2 limit 1";

// How many confirmations one statement looks through: some tens of milliseconds.
const WINDOW = 10_000;

interface Range {
  readonly before: string;
  readonly limit: number;
}

/** What was answered or withdrawn, newest first. */
export async function listClosed(
  database: Database,
  filter: ConfirmationFilter,
  request: ListRequest | undefined,
): Promise<Page<ConfirmationWithCall>> {
  const narrowing = await narrow(database, filter);
  const wanted = filter.status?.filter((status) => status !== "requested");
  return readPage({ ...NEWEST_FIRST, request }, async (after, limit) => {
    if (narrowing === undefined || wanted?.length === 0) return [];
    return new ClosedLook(database, narrowing, { statuses: wanted, request }).read(after, limit);
  });
}

class ClosedLook {
  readonly #database: Database;
  readonly #narrowing: Narrowing;
  readonly #wanted: readonly ShownStatus[] | undefined;
  readonly #request: ListRequest | undefined;
  readonly #select: string;

  constructor(
    database: Database,
    narrowing: Narrowing,
    {
      statuses,
      request,
    }: { readonly statuses: readonly ShownStatus[] | undefined; readonly request: ListRequest | undefined },
  ) {
    this.#database = database;
    this.#narrowing = narrowing;
    this.#wanted = statuses;
    this.#request = request;
    this.#select = `select ${bothOf(request)} `;
  }

  read(after: Position, limit: number): Promise<readonly Row[]> {
    const range = { before: String(after[0] ?? ""), limit };
    if (this.#wanted?.every((status) => UNDER_WAY_STATUSES.has(status))) return this.#underWay(range);
    if (isOfOneSession(this.#narrowing)) return this.#closed(range);
    const { viewers } = this.#narrowing;
    if (viewers === undefined) return this.#walk(range);
    return readShown(this.#database, {
      state: "closed",
      viewers,
      narrowing: this.#narrowing,
      and: (values) => ofStatus(this.#wanted, values),
      request: this.#request,
      after,
      wanted: limit,
    });
  }

  /** As many as run at this moment, or wait to be settled. */
  #underWay({ before, limit }: Range): Promise<readonly Row[]> {
    const values = new Values();
    const status = this.#wanted?.map((word) => `'${word}'`).join();
    const rest = this.#rest({ before, limit }, values);
    return this.#database.all(`${this.#select}${UNDER_WAY} and k.status in (${status})${rest}`, values.all, {
      named: false,
    });
  }

  #closed({ before, limit }: Range, from = ""): Promise<readonly Row[]> {
    const values = new Values();
    const window = ` and c.id >= ${values.add(from)}::text`;
    const rest = ofStatus(this.#wanted, values) + this.#rest({ before, limit }, values);
    return this.#database.all(this.#select + CLOSED + window + rest, values.all, { named: false });
  }

  /**
   * History has no index of its own, which every decision would have to write; it is looked through in windows, so
   * that no statement takes long.
   */
  async #walk(range: Range): Promise<readonly Row[]> {
    const found: Row[] = [];
    for (let { before } = range; ; ) {
      const end = (await this.#database.get(WINDOW_END, [before, WINDOW - 1]))?.[0] as string | undefined;
      found.push(...(await this.#closed({ before, limit: range.limit - found.length }, end)));
      if (end === undefined || found.length === range.limit) return found;
      before = end;
    }
  }

  #rest({ before, limit }: Range, values: Values): string {
    const conditions = conditionsOn("c", this.#narrowing, values);
    const place = ` and c.id < ${values.add(before)}::text`;
    return `${conditions}${place} order by c.id desc limit ${limit}`;
  }
}
