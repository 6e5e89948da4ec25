import type { Ledger } from "../../engine/index.ts";
import type { TenantRegistry } from "../../http/index.ts";
import { CountersignError } from "../../protocol/index.ts";
import { inspectLedger } from "../../stores/index.ts";

/** A tenant of a registry. */
export interface RegisteredName {
  readonly registry: TenantRegistry;
  readonly name: string;
}

/** Under this name a ledger stores whose tenant it is. */
const OWNER = "tenant";

/** Marks a ledger as the tenant's, unless it is another's. */
export async function pinOwner({ items }: Ledger, tenant: RegisteredName): Promise<boolean> {
  return (await items.pin(OWNER, ownerOf(tenant))) === ownerOf(tenant);
}

/** Throws where the ledger at the tenant's place is not the one that was created for it. */
export async function assertOwned({ items }: Ledger, tenant: RegisteredName, url: string): Promise<void> {
  const pinned = await items.get("pin", OWNER);
  if (pinned?.value === ownerOf(tenant)) return;
  throw new CountersignError(
    "ledger-mismatch",
    `The ledger at ${url} was not created for the tenant "${tenant.name}" of this registry. Nothing was changed in it.`,
  );
}

/** Throws where there is none: a file that is gone must not be made anew by looking at it. */
export async function assertExists(url: string): Promise<void> {
  if (!(await inspectLedger(url)).exists)
    throw new CountersignError("ledger-unreachable", `There is no ledger at ${url}.`);
}

function ownerOf({ registry, name }: RegisteredName): string {
  return `${registry.id}/${name}`;
}
