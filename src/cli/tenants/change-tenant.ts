import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { endHolds, type Ledger, resumeLedger, SUSPENSION, suspendLedger } from "../../engine/index.ts";
import type { TenantLimits, TenantRecord, TenantState } from "../../http/index.ts";
import { CountersignError, isJsonObject, type JsonValue, member } from "../../protocol/index.ts";
import { createLedger, eraseLedger, exportLedger, inspectLedger, migrateLedger } from "../../stores/index.ts";
import { fileOf, isPersistent, localPrincipal, VIA } from "../wiring.ts";
import { checkErasable } from "./may-erase.ts";
import { assertExists, assertOwned, pinOwner, type RegisteredName } from "./own-ledger.ts";

const COPY = "ledger.db";

/** A tenant of a registry, and why it is changed. */
export interface Subject extends RegisteredName {
  readonly reason?: string | undefined;
}

/** Creates a tenant's ledger, or finishes a creation that was interrupted. */
export async function createTenant(
  subject: Subject,
  wanted: { readonly ledger: string; readonly limits: TenantLimits },
): Promise<TenantRecord> {
  const { registry, name } = subject;
  const ledger = storedUrl(wanted.ledger);
  const begun = await registry.find(name);
  if (begun?.state !== "creating") {
    const { exists } = await inspectLedger(ledger);
    if (exists && begun === undefined)
      throw new CountersignError(
        "invalid-option",
        `There is a ledger at ${ledger} already. Choose another place.`,
      );
    await registry.add({ name, ledger, limits: withoutNone(wanted.limits) }, acting(subject));
  } else if (begun.ledger !== ledger) {
    throw new CountersignError(
      "invalid-option",
      `The creation of "${name}" began at ${begun.ledger}. Repeat it with --ledger ${begun.ledger}.`,
    );
  }
  await migrateLedger(ledger);
  if (await withLedger(ledger, (opened) => pinOwner(opened, subject)))
    return move(subject, ["creating"], "active");
  await move(subject, ["creating"], "erased");
  throw new CountersignError("invalid-option", `The ledger at ${ledger} belongs to another tenant.`);
}

/**
 * From the moment the registry says so, servers close it; when this resolves, nothing of it can start anywhere. If it is
 * resumed meanwhile, it is not suspended, here or in its ledger.
 */
export async function suspendTenant(subject: Subject): Promise<TenantRecord> {
  const { since, state } = await subject.registry.get(subject.name);
  const why = { tenant: subject.name, since: state === "active" ? Date.now() : since };
  const moved = await move(subject, ["active", "suspended", "resuming"], "suspending");
  await withOwnLedger(subject, moved.ledger, async ({ items }) => {
    if (!(await suspendLedger(items, why, moved.version))) await checkOvertaken(subject, moved);
  });
  return move(subject, ["suspending"], "suspended", moved.version);
}

/** Also for one that is active: an operator who doubts what its ledger says can order it again. */
export async function resumeTenant(subject: Subject): Promise<TenantRecord> {
  await checkNewest(subject);
  const moved = await move(subject, ["suspended", "suspending", "active"], "resuming");
  await withOwnLedger(subject, moved.ledger, async ({ items }) => {
    if (!(await resumeLedger(items, moved.version))) await checkOvertaken(subject, moved);
  });
  return move(subject, ["resuming"], "active", moved.version);
}

/** A registry moves before its ledger: one that is behind it was restored, and would count its changes anew. */
async function checkNewest(subject: Subject): Promise<void> {
  const { registry, name } = subject;
  const { ledger, state } = await registry.get(name);
  if (state === "creating" || state === "erasing" || state === "erased") return;
  await withOwnLedger(subject, ledger, async ({ items }) => {
    const order = orderIn((await items.get(SUSPENSION.kind, SUSPENSION.id))?.value);
    // Read after the order: the registry was there first.
    if (order > (await registry.get(name)).version) throw olderCopy(name, ledger);
  });
}

/** The number of the change of the registry that the ledger obeys; 0 if it got no order yet. */
function orderIn(mark: JsonValue = null): number {
  const change = isJsonObject(mark) ? member(mark, "change") : undefined;
  return typeof change === "number" ? change : 0;
}

/** Throws where the ledger obeys a later order than the registry knows of. */
async function checkOvertaken({ registry, name }: Subject, { version, ledger }: TenantRecord): Promise<void> {
  const now = await registry.get(name);
  if (now.version === version) throw olderCopy(name, ledger);
}

function olderCopy(name: string, ledger: string): CountersignError {
  return new CountersignError(
    "ledger-mismatch",
    `The ledger at ${ledger} has a later order for the tenant "${name}" than this registry gave: the registry is an older copy. Nothing was changed in the ledger. Use the newest copy of the registry.`,
  );
}

/** Returns the copy's file. */
export async function exportTenant(subject: Subject, folder: string): Promise<string> {
  const { ledger, state } = await subject.registry.get(subject.name);
  if (state === "creating" || state === "erasing" || state === "erased") {
    throw new CountersignError(
      "forbidden",
      `The tenant "${subject.name}" is ${state}. There is nothing to export.`,
    );
  }
  await withOwnLedger(subject, ledger, async () => {});
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, COPY);
  await exportLedger(ledger, file, { tenant: subject.name, copiedAt: Date.now() });
  return file;
}

/**
 * Removes a suspended tenant's ledger, or finishes an erasure that was interrupted. Its record stays in the registry. Throws
 * while a legal hold keeps something, or a call has not ended.
 */
export async function eraseTenant(subject: Subject): Promise<TenantRecord> {
  const { ledger, state } = await subject.registry.get(subject.name);
  const check = async (then: (opened: Ledger) => Promise<void>): Promise<void> => {
    if (!(await inspectLedger(ledger)).exists) return;
    await withOwnLedger(subject, ledger, async (opened) => {
      await checkErasable(opened, subject.name);
      await then(opened);
    });
  };
  if (state === "suspended") await check(async () => {});
  await move(subject, ["suspended"], "erasing");
  // Again: this may finish an erasure that began long ago, and a hold may be newer than the first look.
  await check(endHolds);
  await eraseLedger(ledger);
  return move(subject, ["erasing"], "erased");
}

/** Sets the given limits; 0 takes a limit away. */
export async function limitTenant(subject: Subject, given: TenantLimits): Promise<TenantRecord> {
  const { registry, name } = subject;
  const { limits } = await registry.get(name);
  return registry.limit(name, withoutNone({ ...limits, ...given }), acting(subject));
}

/** A limit of 0 is none. */
function withoutNone(limits: TenantLimits): TenantLimits {
  return Object.fromEntries(Object.entries(limits).filter(([, limit]) => limit > 0));
}

function move(
  subject: Subject,
  from: readonly TenantState[],
  to: TenantState,
  version?: number,
): Promise<TenantRecord> {
  const since = version === undefined ? {} : { version };
  return subject.registry.move(subject.name, { from, to, ...since, ...acting(subject) });
}

function acting({ reason }: Subject) {
  return { by: localPrincipal(), via: VIA, ...(reason === undefined ? {} : { reason }) };
}

/** Throws where the ledger at the tenant's place is not the one that was created for it. */
function withOwnLedger<T>(subject: Subject, url: string, use: (ledger: Ledger) => Promise<T>): Promise<T> {
  return withLedger(url, async (ledger) => {
    await assertOwned(ledger, subject, url);
    return use(ledger);
  });
}

async function withLedger<T>(url: string, use: (ledger: Ledger) => Promise<T>): Promise<T> {
  await assertExists(url);
  const ledger = await createLedger(url);
  try {
    return await use(ledger);
  } finally {
    await ledger.close();
  }
}

/** A file with its whole path; a server without its password, which the registry must not hold. */
function storedUrl(url: string): string {
  const file = fileOf(url);
  if (file !== undefined) return `sqlite:${resolve(file)}`;
  if (!isPersistent(url) || !/^postgres(ql)?:/.test(url))
    throw new CountersignError("invalid-option", "Use --ledger sqlite:FILE or --ledger postgres://…", {
      details: { field: "ledger" },
    });
  if (/^[a-z]+:\/\/[^@/]*:[^@/]+@/.test(url) || /[?&]password=/.test(url)) {
    throw new CountersignError(
      "invalid-option",
      "The registry stores the URL, so it must have no password. Set PGPASSWORD, or use a .pgpass file.",
      { details: { field: "ledger" } },
    );
  }
  return url;
}
