import type { A2aSecurity } from "../../a2a/index.ts";
import type { Logger, Mount } from "../../http/index.ts";
import type { Runner } from "../../index.ts";
import type { ServeOptions } from "./serve-options.ts";

/** Serves the agents over A2A, if its package is installed. */
export async function openA2a(
  apps: { readonly [name: string]: Runner },
  options: Pick<ServeOptions, "publicUrl" | "auth" | "oidc" | "a2aDecisions">,
  log: Logger,
): Promise<readonly Mount[]> {
  const a2a = await import("../../a2a/index.ts").catch(onMissing);
  if (a2a === undefined) {
    log.info({ package: "@a2a-js/sdk" }, "A2A is off: install the package to turn it on");
    return [];
  }
  const { publicUrl, a2aDecisions } = options;
  const app = a2a.createA2aApp({
    apps,
    decisions: a2aDecisions,
    security: securityOf(options),
    onError: (err) => log.error({ err }, "an A2A request failed"),
    ...(publicUrl === undefined ? {} : { publicUrl }),
  });
  return [app];
}

function onMissing(error: unknown): undefined {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "ERR_MODULE_NOT_FOUND" && message.includes("@a2a-js/sdk")) return undefined;
  throw error;
}

function securityOf({ auth, oidc }: Pick<ServeOptions, "auth" | "oidc">): A2aSecurity {
  if (auth === "none") return "none";
  if (oidc === undefined) return "bearer";
  return { openIdConnectUrl: `${oidc.issuer.replace(/\/+$/, "")}/.well-known/openid-configuration` };
}
