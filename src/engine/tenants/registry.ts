import { createHash } from "node:crypto";
import { CountersignError, type JsonObject } from "../../protocol/index.ts";
import { type Acting, toDecider } from "../decisions/index.ts";
import { type Engine, partsOf } from "../engine.ts";
import { Draft, type Page, type Plan, type SessionName, type StoredItem, transact } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import {
  flawOfTenantName,
  TENANT,
  type TenantLimits,
  type TenantRecord,
  type TenantState,
  toTenant,
  toValue,
} from "./tenant.ts";

/** A wish to change a tenant, and by whom. */
export interface TenantChange extends Acting {
  readonly reason?: string;
}

/** From which states to which one. */
interface TenantMove extends TenantChange {
  readonly from: readonly TenantState[];
  readonly to: TenantState;
  /** Only if nobody has changed the tenant since this version. */
  readonly version?: number;
}

const PAGE = 1_000;
const ID_DIGITS = 16;

/**
 * All tenants of a server, in a ledger of their own. Any number of processes may read and change it; of two that change one
 * tenant at once, the second is judged by what the first left.
 */
export class TenantRegistry {
  readonly #parts: EngineParts;

  /** An engine on the registry's ledger, not on a tenant's. */
  constructor(engine: Engine) {
    this.#parts = partsOf(engine);
  }

  /** Tells this registry from others. A ledger stores whose tenant it is. */
  get id(): string {
    const { digestKey } = this.#parts.ledger;
    return createHash("sha256").update(digestKey).digest("hex").slice(0, ID_DIGITS);
  }

  async find(name: string): Promise<TenantRecord | undefined> {
    const item = await this.#parts.ledger.items.get(TENANT, name);
    return item && toTenant(item);
  }

  /** Throws `unknown-tenant`. */
  async get(name: string): Promise<TenantRecord> {
    return known(name, await this.find(name));
  }

  /** By name, those that were erased too. */
  async all(): Promise<readonly TenantRecord[]> {
    const all: TenantRecord[] = [];
    let cursor: string | undefined;
    do {
      const after = cursor === undefined ? {} : { cursor };
      const page: Page<StoredItem> = await this.#parts.ledger.items.list(TENANT, { limit: PAGE, ...after });
      all.push(...page.items.flatMap((item) => toTenant(item) ?? []));
      cursor = page.next;
    } while (cursor !== undefined);
    return all;
  }

  /** Called soon after any change, in this process or another. */
  onChange(listener: () => void): () => void {
    return this.#parts.ledger.onChange(listener);
  }

  /** Registers a tenant that is about to be created. A name is used once, also after the tenant was erased. */
  async add(
    { name, ledger, limits = {} }: { name: string; ledger: string; limits?: TenantLimits },
    change: TenantChange,
  ): Promise<TenantRecord> {
    const flaw = flawOfTenantName(name);
    if (flaw !== undefined)
      throw new CountersignError("malformed-request", `The name "${name}" ${flaw}.`, {
        details: { field: "name" },
      });
    return this.#change(name, change, (found, now) => {
      if (found === undefined) return { name, ledger, state: "creating", since: now, limits, version: 1 };
      throw new CountersignError(
        "malformed-request",
        `There is a tenant "${name}" already: it is ${found.state}.`,
      );
    });
  }

  /** Moves a tenant to a state. One that is there already stays as it is. Throws `forbidden` from any other state. */
  async move(name: string, { from, to, version, ...change }: TenantMove): Promise<TenantRecord> {
    return this.#change(name, change, (found, now) => {
      const tenant = known(name, found);
      if (tenant.state === to) return tenant;
      if (version !== undefined && tenant.version !== version) throw changedMeanwhile(tenant);
      if (from.includes(tenant.state)) return { ...tenant, state: to, since: now };
      throw new CountersignError(
        "forbidden",
        `The tenant "${name}" is ${tenant.state}. This is possible only if it is ${from.join(" or ")}.`,
        { details: { state: tenant.state } },
      );
    });
  }

  /** Sets a tenant's limits. Servers open it anew. */
  async limit(name: string, limits: TenantLimits, change: TenantChange): Promise<TenantRecord> {
    return this.#change(name, change, (found) => ({ ...known(name, found), limits }));
  }

  /** One commit: the item, if it is still as it was read, and the record that tells of it. */
  #change(
    name: string,
    { reason, ...acting }: TenantChange,
    judge: (found: TenantRecord | undefined, now: number) => TenantRecord,
  ): Promise<TenantRecord> {
    const parts = this.#parts;
    const { by, via } = toDecider(acting);
    const diary: SessionName = { app: "countersign:tenants", user: name, id: "tenant" };
    return transact<TenantRecord>(
      parts,
      { session: diary },
      async (snapshot): Promise<Plan<TenantRecord>> => {
        // Read after the snapshot: another change of this tenant, made meanwhile, has the commit refused.
        const found = await this.find(name);
        const now = snapshot?.now ?? parts.ledger.now;
        const next = judge(found, now);
        if (next === found) return { value: found };
        const read = found?.version ?? 0;
        const draft = new Draft(
          parts,
          now,
          snapshot?.session ?? { key: parts.newId(now), create: diary },
        ).sync();
        draft.write({ kind: "item", item: { kind: TENANT, id: name, value: toValue(next) }, read });
        draft.journal("tenant-changed", {
          tenant: name,
          ledger: next.ledger,
          ...(found === undefined ? {} : { from: found.state }),
          to: next.state,
          limits: next.limits as JsonObject,
          ...(reason === undefined ? {} : { reason }),
          by: { id: by.id, kind: by.kind, authenticated: by.authenticated },
          via,
        });
        return { draft, value: { ...next, version: read + 1 } };
      },
    );
  }
}

function known(name: string, found: TenantRecord | undefined): TenantRecord {
  if (found !== undefined) return found;
  throw new CountersignError("unknown-tenant", `There is no tenant "${name}".`);
}

function changedMeanwhile({ name, state }: TenantRecord): CountersignError {
  return new CountersignError(
    "forbidden",
    `Somebody else changed the tenant "${name}" meanwhile: it is ${state}. Look at it, and run the command again if it is still needed.`,
    { details: { state } },
  );
}
