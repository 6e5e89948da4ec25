import { ANY_LIMITS } from "../../../engine/index.ts";
import type { TenantLimits, TenantRecord } from "../../../http/index.ts";
import { CountersignError } from "../../../protocol/index.ts";
import type { Command, Flags, GivenFlags, Invocation } from "../../command.ts";
import { EXIT } from "../../exit-codes.ts";
import {
  createTenant,
  eraseTenant,
  exportTenant,
  limitTenant,
  resumeTenant,
  type Subject,
  suspendTenant,
} from "../../tenants/change-tenant.ts";
import { REGISTRY_FLAG, withRegistry } from "../../tenants/registry.ts";
import { describeTenant, tenantJson } from "../../tenants/show-tenant.ts";

const NAME = { names: ["<name>"] } as const;

const LIMIT_FLAGS: Flags = {
  pending: { type: "string", value: "N", help: "at most this many open questions" },
  sessions: { type: "string", value: "N", help: "at most this many sessions" },
  "requests-per-minute": { type: "string", value: "N", help: "in one process; a new tenant has 3000" },
  bytes: { type: "string", value: "N", help: "at most this much stored data, about" },
};

/** Per minute and process, unless told: a tenant that sends as fast as it can must not slow the others down. */
const USUAL_REQUESTS = 3_000;

const REASON_FLAG: Flags = { reason: { type: "string", value: "TEXT", help: "recorded in the registry" } };

export const tenantsCreate: Command = {
  usage: "<name> --ledger URL [--pending N] [--sessions N] [--requests-per-minute N] [--bytes N]",
  about:
    "Creates the ledger and registers it. If it was interrupted, run it again. On PostgreSQL the database must exist; the " +
    "schema is created in it. With ?schema=countersign_NAME many tenants share one database, each with a schema of its own. 0 means no limit. The registry stores the URL, so it must not contain a password.",
  words: NAME,
  flags: {
    ledger: { type: "string", value: "URL", help: "the URL of its ledger (required)" },
    ...LIMIT_FLAGS,
    ...REGISTRY_FLAG,
  },
  examples: [
    { line: "tenants create acme --ledger sqlite:/data/acme.db", says: "in a file of its own" },
    { line: "tenants create globex --ledger postgres://app@db/globex", says: "in a database of its own" },
  ],
  run(invocation) {
    const ledger = invocation.flags.text("ledger");
    if (ledger === undefined) throw missing("tenants create", "ledger", "URL");
    const limits = { requestsPerMinute: USUAL_REQUESTS, ...limitsIn(invocation.flags) };
    return changing(invocation, (subject) => createTenant(subject, { ledger, limits }), { make: true });
  },
};

export const tenantsList: Command = {
  usage: "",
  flags: REGISTRY_FLAG,
  examples: [{ line: "tenants list", says: "also shows erased tenants" }],
  run(invocation) {
    const { output, flags } = invocation;
    return withRegistry(invocation, async (registry) => {
      const all = await registry.all();
      if (flags.has("json")) output.json(all.map(tenantJson));
      else if (all.length === 0) output.prose("There are no tenants.");
      else for (const tenant of all) output.line(describeTenant(output, tenant));
      return EXIT.ok;
    });
  },
};

export const tenantsLimit: Command = {
  usage: "<name> [--pending N] [--sessions N] [--requests-per-minute N] [--bytes N]",
  about: "Servers apply the new limits at once. 0 removes a limit.",
  words: NAME,
  flags: { ...LIMIT_FLAGS, ...REGISTRY_FLAG },
  examples: [{ line: "tenants limit acme --pending 500", says: "at most 500 open questions" }],
  run: (invocation) => changing(invocation, (subject) => limitTenant(subject, limitsIn(invocation.flags))),
};

export const tenantsSuspend: Command = {
  usage: "<name> [--reason TEXT]",
  about:
    "Every server refuses the tenant's requests and ends its streams. When the command returns, no call of the tenant can " +
    "start in any process; calls that run may end. Nothing is lost. If it was interrupted, run it again.",
  words: NAME,
  flags: { ...REASON_FLAG, ...REGISTRY_FLAG },
  examples: [{ line: "tenants suspend acme --reason unpaid", says: "until `tenants resume acme`" }],
  run: (invocation) => changing(invocation, suspendTenant),
};

export const tenantsResume: Command = {
  usage: "<name> [--reason TEXT]",
  about: "Calls that were approved but had not started start now. If it was interrupted, run it again.",
  words: NAME,
  flags: { ...REASON_FLAG, ...REGISTRY_FLAG },
  examples: [{ line: "tenants resume acme", says: "it is served again" }],
  run: (invocation) => changing(invocation, resumeTenant),
};

export const tenantsExport: Command = {
  usage: "<name> --to FOLDER",
  about:
    "Writes FOLDER/ledger.db: a SQLite ledger with the whole journal and all documents, as they are at one moment. " +
    "`audit verify`, `audit log` and `show` read it with --db. It is suspended, so nothing starts from it.",
  words: NAME,
  flags: {
    to: { type: "string", value: "FOLDER", help: "the folder for the file (required)" },
    ...REGISTRY_FLAG,
  },
  examples: [{ line: "tenants export acme --to /backup/acme", says: "writes /backup/acme/ledger.db" }],
  run(invocation) {
    const { flags, output } = invocation;
    const folder = flags.text("to");
    if (folder === undefined) throw missing("tenants export", "to", "FOLDER");
    return withRegistry(invocation, async (registry) => {
      const file = await exportTenant(subjectOf(invocation, registry), folder);
      if (flags.has("json")) output.json({ file });
      else {
        output.line(`Wrote ${file}. To check it, with the tenant's COUNTERSIGN_SECRET if it has one:`);
        output.line(`  countersign audit verify --db sqlite:${file}`);
      }
      return EXIT.ok;
    });
  },
};

export const tenantsErase: Command = {
  usage: "<name> --confirm NAME [--reason TEXT]",
  about:
    "Removes the file, or the schema of the PostgreSQL database, with everything in it. Only for a suspended tenant without legal " +
    "holds, running calls and unknown outcomes. The registry keeps a record, and the name is not used again. Backups and exports are yours to delete. If it was interrupted, run it again.",
  words: NAME,
  flags: {
    confirm: { type: "string", value: "NAME", help: "the tenant's name again (required)" },
    ...REASON_FLAG,
    ...REGISTRY_FLAG,
  },
  examples: [{ line: "tenants erase acme --confirm acme", says: "you cannot undo this" }],
  run(invocation) {
    const { flags, words } = invocation;
    if (flags.text("confirm") !== words[0]) {
      throw new CountersignError(
        "malformed-request",
        `This deletes all data of the tenant permanently. To confirm, add --confirm ${words[0]}.`,
        { details: { field: "confirm" } },
      );
    }
    return changing(invocation, eraseTenant);
  },
};

/** Runs one change, and prints what the tenant is then. */
function changing(
  invocation: Invocation,
  change: (subject: Subject) => Promise<TenantRecord>,
  options: { readonly make?: boolean } = {},
): Promise<number> {
  const { output, flags } = invocation;
  const use = async (registry: Subject["registry"]): Promise<number> => {
    const tenant = await change(subjectOf(invocation, registry));
    if (flags.has("json")) output.json(tenantJson(tenant));
    else output.line(describeTenant(output, tenant));
    return EXIT.ok;
  };
  return withRegistry(invocation, use, options);
}

function subjectOf({ words, flags }: Invocation, registry: Subject["registry"]): Subject {
  return { registry, name: words[0] ?? "", reason: flags.text("reason") };
}

function flagOf(limit: string): string {
  return limit.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function limitsIn(flags: GivenFlags): TenantLimits {
  const given = ANY_LIMITS.map((limit) => [limit, flags.number(flagOf(limit), 0)] as const);
  return Object.fromEntries(given.filter(([, value]) => value !== undefined));
}

function missing(command: string, flag: string, value: string): CountersignError {
  return new CountersignError("malformed-request", `\`${command}\` needs --${flag} ${value}.`, {
    details: { field: flag },
  });
}
