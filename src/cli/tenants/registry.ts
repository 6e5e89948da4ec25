import { existsSync } from "node:fs";
import { type Engine, TenantRegistry } from "../../engine/index.ts";
import { CountersignError } from "../../protocol/index.ts";
import { migrateLedger } from "../../stores/index.ts";
import type { Flags, Invocation } from "../command.ts";
import { fileOf, openEngine } from "../wiring.ts";

const DEFAULT_URL = "sqlite:countersign-tenants.db";

/** For commands about tenants. */
export const REGISTRY_FLAG: Flags = {
  registry: {
    type: "string",
    value: "URL",
    help: `the ledger that lists the tenants (COUNTERSIGN_REGISTRY, or ${DEFAULT_URL})`,
  },
};

/** Opens the registry for one command. */
export async function withRegistry<T>(
  { flags, env }: Pick<Invocation, "flags" | "env">,
  use: (registry: TenantRegistry) => Promise<T>,
  options: { readonly make?: boolean } = {},
): Promise<T> {
  const url = flags.text("registry") ?? (env["COUNTERSIGN_REGISTRY"] || DEFAULT_URL);
  const { engine, registry } = await openRegistry(url, options);
  try {
    return await use(registry);
  } finally {
    await engine.close();
  }
}

/**
 * With `make` it is created, or its schema brought up to date; otherwise one that is missing is an error, because an empty
 * one would give wrong answers. Close the engine after use.
 */
export async function openRegistry(
  url: string,
  { make = false }: { readonly make?: boolean } = {},
): Promise<{ readonly engine: Engine; readonly registry: TenantRegistry }> {
  const file = fileOf(url);
  if (make) await migrateLedger(url);
  else if (file !== undefined && !existsSync(file)) {
    throw new CountersignError(
      "ledger-unreachable",
      `There is no registry at "${file}". Choose one with --registry or COUNTERSIGN_REGISTRY; \`countersign tenants create\` makes one.`,
      { details: { path: file } },
    );
  }
  const engine = await openEngine(url);
  return { engine, registry: new TenantRegistry(engine) };
}
