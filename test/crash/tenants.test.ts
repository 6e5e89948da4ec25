import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import {
  createTenant,
  eraseTenant,
  type Subject,
  suspendTenant,
} from "../../src/cli/tenants/change-tenant.ts";
import { Engine, partsOf, placeHold, releaseHold, toPrincipal } from "../../src/engine/index.ts";
import { TenantRegistry, type TenantState } from "../../src/http/index.ts";
import { createEngine, createLedger } from "../../src/index.ts";
import { Resources } from "../support/resources.ts";
import type { TenantLine, TenantOptions, TenantPoint } from "./tenants.program.ts";

const PROGRAM = new URL("./tenants.program.ts", import.meta.url);
const TIMEOUT_MS = 120_000;
const counsel = { by: toPrincipal({ id: "counsel" }), via: "cli" };
vi.setConfig({ maxConcurrency: 3 });

type Struck = readonly [point: TenantPoint, state: TenantState | undefined];

/** What the registry says after the process was killed there. */
const CREATING: readonly Struck[] = [
  ["creating:before", undefined],
  ["creating:after", "creating"],
  ["owner:before", "creating"],
  ["owner:after", "creating"],
  ["active:before", "creating"],
  ["active:after", "active"],
];
const ERASING: readonly Struck[] = [
  ["erasing:before", "suspended"],
  ["erasing:after", "erasing"],
  ["no holds:before", "erasing"],
  ["no holds:after", "erasing"],
  ["removed:1", "erasing"],
  ["removed:2", "erasing"],
  ["erased:before", "erasing"],
  ["erased:after", "erased"],
];
/** From here on nothing stops the erasure. */
const NO_RETURN: ReadonlySet<TenantPoint> = new Set<TenantPoint>(["no holds:after"]);

/** A registry and the place of a tenant's ledger. */
class Place {
  readonly #resources: Resources;
  readonly #registryUrl: string;
  readonly file: string;
  readonly url: string;

  constructor(resources: Resources, folder: string) {
    this.#resources = resources;
    this.#registryUrl = `sqlite:${join(folder, "registry.db")}`;
    this.file = join(folder, "acme.db");
    this.url = `sqlite:${this.file}`;
  }

  async subject(): Promise<Subject> {
    const engine = new Engine({ ledger: await createLedger(this.#registryUrl) });
    this.#resources.add(() => engine.close());
    return { registry: new TenantRegistry(engine), name: "acme" };
  }

  /** Runs the command in a process that is killed there. */
  async kill(command: TenantOptions["command"], point: TenantPoint): Promise<void> {
    const options: TenantOptions = { registry: this.#registryUrl, ledger: this.url, command, point };
    const child = this.#resources.child<TenantLine>(PROGRAM, { args: [JSON.stringify(options)] });
    const errors: string[] = [];
    child.onLine(({ message }) => errors.push(message));
    const { signal } = await child.ended;
    if (signal === "SIGKILL" && errors.length === 0) return;
    throw new Error(`It was not killed at ${point}: ${errors.join("; ")} ${child.complaints}`);
  }

  get files(): readonly string[] {
    return ["", "-wal", "-shm"].map((end) => `${this.file}${end}`).filter((file) => existsSync(file));
  }
}

async function atPlace(act: (place: Place) => Promise<void>): Promise<void> {
  const resources = new Resources();
  try {
    await act(new Place(resources, await resources.folder()));
  } finally {
    await resources.release();
  }
}

/** A hold is placed and kept, or refused for good. */
async function tryHold({ url }: Place, subject: Subject, isTooLate: boolean): Promise<void> {
  const engine = await createEngine({ ledger: url });
  try {
    const parts = partsOf(engine);
    const placed = placeHold(parts, { on: "app", name: "bank", reason: "case 1" }, counsel);
    if (isTooLate) return await expect(placed).rejects.toMatchObject({ code: "forbidden" });
    const { id } = await placed;
    await expect(eraseTenant(subject)).rejects.toMatchObject({ code: "under-hold" });
    await releaseHold(parts, { id, reason: "closed" }, counsel);
  } finally {
    await engine.close();
  }
}

describe.concurrent("a command of tenants whose process is killed", () => {
  test.each(CREATING)(
    "at %s of its creation: the next one finishes it",
    (point, state) =>
      atPlace(async (place) => {
        const subject = await place.subject();
        await place.kill("create", point);
        expect((await subject.registry.find("acme"))?.state).toBe(state);
        if (state !== "active") await createTenant(subject, { ledger: place.url, limits: {} });
        expect(await subject.registry.get("acme")).toMatchObject({ state: "active" });
        expect(await suspendTenant(subject)).toMatchObject({ state: "suspended" });
      }),
    TIMEOUT_MS,
  );

  test.each(ERASING)(
    "at %s of its erasure: holds count until the point of no return, and the next one finishes it",
    (point, state) =>
      atPlace(async (place) => {
        const subject = await place.subject();
        await createTenant(subject, { ledger: place.url, limits: {} });
        await suspendTenant(subject);
        await place.kill("erase", point);
        expect(await subject.registry.get("acme")).toMatchObject({ state });
        if (existsSync(place.file)) await tryHold(place, subject, NO_RETURN.has(point));
        if (state !== "erased") await eraseTenant(subject);
        expect(await subject.registry.get("acme")).toMatchObject({ state: "erased" });
        expect(place.files).toEqual([]);
      }),
    TIMEOUT_MS,
  );
});
