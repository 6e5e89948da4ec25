import { CountersignError } from "../../protocol/index.ts";
import { eachOf, type Ledger } from "../ledger/index.ts";
import type { Counting, Principal } from "../people/index.ts";
import { type Confirmation, toConfirmation } from "./confirmation.ts";

const PAGE = 100;

/** Which open confirmations, and who reads them: without a viewer, every member of `can` is false. */
export interface PendingQuery {
  readonly app?: string | undefined;
  readonly user?: string | undefined;
  readonly viewer?: Principal | undefined;
  readonly counting?: Partial<Counting>;
}

/** The open confirmations, nearest deadline first. */
export async function readPending(
  ledger: Pick<Ledger, "confirmations">,
  { app, user, viewer, counting }: PendingQuery,
): Promise<readonly Confirmation[]> {
  const filter = {
    state: "open",
    ...(app === undefined ? {} : { app }),
    ...(user === undefined ? {} : { user }),
  } as const;
  const found: Confirmation[] = [];
  for await (const item of eachOf((page) => ledger.confirmations(filter, page), PAGE))
    found.push(toConfirmation(item, viewer, counting));
  return found;
}

/** One confirmation as it is now; throws `unknown-confirmation`. */
export async function readConfirmation(
  ledger: Pick<Ledger, "load">,
  id: string,
  { viewer, counting }: Pick<PendingQuery, "viewer" | "counting">,
): Promise<Confirmation> {
  const { confirmation, call, session } = (await ledger.load({ confirmation: id })) ?? {};
  if (confirmation === undefined || call === undefined || session === undefined) {
    throw new CountersignError("unknown-confirmation", `There is no confirmation ${id}.`);
  }
  return toConfirmation({ confirmation, call, session }, viewer, counting);
}
