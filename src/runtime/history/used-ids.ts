/** No call that runs has a longer id. */
export const LONGEST_CALL_ID = 128;

/** The ids that the calls and answers of a session have used. */
export class UsedIds {
  readonly #ids = new Set<string>();
  /** The part before a colon in one of them. */
  readonly #beginnings = new Set<string>();

  add(id: string): void {
    this.#ids.add(id);
    for (const beginning of beginningsOf(id)) this.#beginnings.add(beginning);
  }

  /**
   * Would a call with this id share an idempotency key with another, or with a step of one? A step's key is its call's id
   * with a colon and more behind it.
   */
  has(id: string): boolean {
    if (this.#ids.has(id) || this.#beginnings.has(id)) return true;
    return beginningsOf(id).some((beginning) => this.#ids.has(beginning));
  }
}

function beginningsOf(id: string): readonly string[] {
  const found: string[] = [];
  for (let at = id.indexOf(":"); at >= 0 && at <= LONGEST_CALL_ID; at = id.indexOf(":", at + 1))
    found.push(id.slice(0, at));
  return found;
}
