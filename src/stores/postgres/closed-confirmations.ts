import type {
  ConfirmationFilter,
  ConfirmationWithCall,
  Page,
  PageRequest,
  ShownStatus,
} from "../../engine/index.ts";
import { BOTH, NEWEST_FIRST } from "../sql/confirmation-rows.ts";
import type { Row } from "../sql/row.ts";
import { conditionsOn, type Narrowing, narrow, ofStatus, Values } from "./confirmation-filter.ts";
import type { Database } from "./database.ts";
import { readPage } from "./read-page.ts";

const TABLES =
  "countersign.confirmations c join countersign.calls k on k.id = c.call " +
  "join countersign.sessions s on s.key = c.session";
const CLOSED = `select ${BOTH} from ${TABLES} where c.status <> 'requested'`;
// An index holds the calls that are in such a status; the questions about one are among its session's.
const UNDER_WAY =
  `select ${BOTH} from countersign.calls k join countersign.confirmations c on c.session = k.session and c.call = k.id ` +
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
  request: PageRequest | undefined,
): Promise<Page<ConfirmationWithCall>> {
  const narrowing = await narrow(database, filter);
  const wanted = filter.status?.filter((status) => status !== "requested");
  return readPage({ ...NEWEST_FIRST, request }, async ([before = ""], limit) => {
    if (narrowing === undefined || wanted?.length === 0) return [];
    const look = new ClosedLook(database, narrowing, wanted);
    return look.read({ before: String(before), limit });
  });
}

class ClosedLook {
  readonly #database: Database;
  readonly #narrowing: Narrowing;
  readonly #wanted: readonly ShownStatus[] | undefined;

  constructor(database: Database, narrowing: Narrowing, wanted: readonly ShownStatus[] | undefined) {
    this.#database = database;
    this.#narrowing = narrowing;
    this.#wanted = wanted;
  }

  read(range: Range): Promise<readonly Row[]> {
    if (this.#wanted?.every((status) => UNDER_WAY_STATUSES.has(status))) return this.#underWay(range);
    const ofSession = this.#narrowing.facets.some(([column]) => column === '"session"');
    return ofSession ? this.#closed(range) : this.#walk(range);
  }

  /** As many as run at this moment, or wait to be settled. */
  #underWay({ before, limit }: Range): Promise<readonly Row[]> {
    const values = new Values();
    const status = this.#wanted?.map((word) => `'${word}'`).join();
    const rest = this.#rest({ before, limit }, values);
    return this.#database.all(`${UNDER_WAY} and k.status in (${status})${rest}`, values.all, {
      named: false,
    });
  }

  #closed({ before, limit }: Range, from = ""): Promise<readonly Row[]> {
    const values = new Values();
    const window = ` and c.id >= ${values.add(from)}::text`;
    const rest = ofStatus(this.#wanted, values) + this.#rest({ before, limit }, values);
    return this.#database.all(CLOSED + window + rest, values.all, { named: false });
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
