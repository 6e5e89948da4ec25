import type * as Jose from "jose";
import type * as OAuth from "oauth4webapi";
import { CountersignError } from "../../protocol/index.ts";

/** Checks signatures. Throws `missing-package` where it is not installed. */
export function loadJose(): Promise<typeof Jose> {
  return import("jose").catch(missing("`--auth oidc`", "jose"));
}

/** Speaks with an issuer for a browser. Throws `missing-package` where it is not installed. */
export function loadOAuth(): Promise<typeof OAuth> {
  return import("oauth4webapi").catch(missing("Logging in by browser with `--auth oidc`", "oauth4webapi"));
}

function missing(feature: string, name: string): (cause: unknown) => never {
  return (cause) => {
    const message = `${feature} needs the package ${name}. Run \`npm install ${name}\`.`;
    throw new CountersignError("missing-package", message, { cause });
  };
}
