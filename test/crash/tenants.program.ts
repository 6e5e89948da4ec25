import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { createTenant, eraseTenant } from "../../src/cli/tenants/change-tenant.ts";
import { type Commit, Engine } from "../../src/engine/index.ts";
import { StoredItems } from "../../src/engine/store/items.ts";
import { TenantRegistry } from "../../src/http/index.ts";
import { createLedger } from "../../src/index.ts";
import { watchCommits } from "../support/ledger/ledger-proxy.ts";
import { programOptions, say } from "../support/processes/program.ts";
import { describeError } from "./life.ts";

/**
 * Where the process is to be killed: around the registry's record of a state; around the note in the ledger whose it is, or
 * that no hold is placed any more; or after so many of the ledger's files were removed.
 */
export type TenantPoint =
  | `${"creating" | "active" | "erasing" | "erased" | "owner" | "no holds"}:${"before" | "after"}`
  | `removed:${number}`;

export interface TenantOptions {
  readonly registry: string;
  readonly ledger: string;
  readonly command: "create" | "erase";
  readonly point: TenantPoint;
}

export interface TenantLine {
  readonly type: "error";
  readonly message: string;
}

function stateIn({ writes }: Commit): string {
  const [value] = writes.flatMap((write) => (write.kind === "item" ? [write.item.value] : []));
  return (value as { readonly state?: string } | undefined)?.state ?? "";
}

async function run({ registry: url, ledger, command, point }: TenantOptions): Promise<void> {
  const reach = (reached: string): void => {
    if (reached === point) process.kill(process.pid, "SIGKILL");
  };
  killAroundItems(reach);
  killAmongFiles(reach);
  const watched = watchCommits(await createLedger(url), {
    before: (commit) => reach(`${stateIn(commit)}:before`),
    after: (commit) => reach(`${stateIn(commit)}:after`),
  });
  const registry = new TenantRegistry(new Engine({ ledger: watched }));
  const subject = { registry, name: "acme" };
  if (command === "create") await createTenant(subject, { ledger, limits: {} });
  else await eraseTenant(subject);
}

// The command opens the tenant's ledger itself, so every ledger of this process is watched.
function killAroundItems(reach: (point: string) => void): void {
  const { prototype } = StoredItems;
  const pin = Reflect.get(prototype, "pin");
  const put = Reflect.get(prototype, "put");
  prototype.pin = async function (name, value) {
    const isOwner = name === "tenant";
    if (isOwner) reach("owner:before");
    const pinned = await Reflect.apply(pin, this, [name, value]);
    if (isOwner) reach("owner:after");
    return pinned;
  };
  prototype.put = async function (item, read) {
    const endsHolds = item.kind === "hold guard" && JSON.stringify(item.value) !== "{}";
    if (endsHolds) reach("no holds:before");
    const isPut = await Reflect.apply(put, this, [item, read]);
    if (endsHolds) reach("no holds:after");
    return isPut;
  };
}

function killAmongFiles(reach: (point: string) => void): void {
  const { rmSync } = fs;
  let removed = 0;
  fs.rmSync = (...given) => {
    rmSync(...given);
    removed += 1;
    reach(`removed:${removed}`);
  };
  syncBuiltinESMExports();
}

// The test imports what it shares with the program; only the program has options.
if (process.argv[2]?.startsWith("{") === true) {
  try {
    await run(programOptions() as TenantOptions);
  } catch (error) {
    say({ type: "error", message: describeError(error) } as TenantLine);
  }
}
