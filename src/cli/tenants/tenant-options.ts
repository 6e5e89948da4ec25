import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import type { TenantRecord } from "../../http/index.ts";
import { CountersignError } from "../../protocol/index.ts";
import type { Flags, Invocation } from "../command.ts";
import { readServeOptions, type ServeOptions, settingOf } from "../serving/serve-options.ts";

const PLACE = "{tenant}";
const PATTERN = /^https?:\/\/([\w.-]*\{tenant\}[\w.-]*)(?::\d+)?\/?$/i;

/** For a server of many tenants. */
export const TENANTS_FLAGS: Flags = {
  registry: {
    type: "string",
    value: "URL",
    help: `serve all active tenants of this registry, each at its --public-url, such as https://${PLACE}.example.com`,
  },
  tenants: {
    type: "string",
    value: "FOLDER",
    help: "with --registry: the folder with the settings of each tenant, NAME.env",
  },
};

/** How a server finds its tenants and what each may have of its own. */
export interface TenantsOptions {
  readonly registry: string;
  /** Where browsers reach a tenant, with `{tenant}` for its name. */
  readonly publicUrl: string;
  /** The same for the host name alone. */
  readonly hosts: string;
  /** The settings of one tenant. Throws `invalid-option` if they cannot be used. */
  of(tenant: TenantRecord): ServeOptions & { readonly publicUrl: string };
}

/** Undefined for a server with one ledger. */
export function readTenantsOptions(invocation: Invocation): TenantsOptions | undefined {
  const registry = settingOf(invocation, "registry");
  const folder = settingOf(invocation, "tenants");
  if (registry === undefined) {
    if (folder === undefined) return undefined;
    throw invalid("tenants", "--tenants needs --registry URL.");
  }
  if (settingOf(invocation, "db") !== undefined)
    throw invalid(
      "registry",
      "--registry and --db (COUNTERSIGN_DB) cannot be combined. The registry names the ledgers.",
    );
  const publicUrl = settingOf(invocation, "public-url") ?? "";
  const hosts = PATTERN.exec(publicUrl)?.[1];
  if (hosts === undefined) {
    throw invalid(
      "public-url",
      `--registry needs a --public-url with ${PLACE} in its host name and without a path, for example https://${PLACE}.example.com.`,
    );
  }
  refuseLinks(settingOf(invocation, "auth"));
  return {
    registry,
    publicUrl,
    hosts,
    of: ({ name, ledger }) => {
      const env = tenantEnvironment(invocation.env, { folder, name });
      const options = readServeOptions({ ...invocation, env });
      refuseLinks(options.auth);
      if (options.webhook !== undefined && options.webhookSecret === undefined)
        throw invalid("webhook", "The webhook of a tenant needs COUNTERSIGN_WEBHOOK_SECRET in its file.");
      return { ...options, ledger, publicUrl: publicUrl.replace(PLACE, name) };
    },
  };
}

/** The link would be printed when the server starts, before any tenant is open. */
function refuseLinks(auth: string | undefined): void {
  if (auth === "local")
    throw invalid("auth", "--auth local is for one ledger. With --registry use tokens or oidc.");
}

/**
 * What the environment says counts for every tenant, but not its secret, which is the registry's, nor what signs webhooks and
 * the answers of their receivers: a receiver of one tenant's could sign as another. What a tenant's own file
 * says comes first. A tenant whose file is missing is not served: it might lack its policy.
 */
function tenantEnvironment(
  {
    COUNTERSIGN_SECRET: _secret,
    COUNTERSIGN_WEBHOOK_SECRET: _webhookSecret,
    COUNTERSIGN_WEBHOOK_ANSWER_SECRET: _answerSecret,
    ...common
  }: NodeJS.ProcessEnv,
  { folder, name }: { readonly folder: string | undefined; readonly name: string },
): NodeJS.ProcessEnv {
  if (folder === undefined) return common;
  const file = join(folder, `${name}.env`);
  try {
    return { ...common, ...parseEnv(readFileSync(file, "utf8")) };
  } catch (cause) {
    throw invalid(
      "tenants",
      `The tenant "${name}" is not served: ${file} cannot be read. It holds the tenant's settings, and may be empty.`,
      cause,
    );
  }
}

function invalid(field: string, message: string, cause?: unknown): CountersignError {
  return new CountersignError("invalid-option", message, { details: { field }, cause });
}
