import { type Engine, setLoginMode } from "../../engine/index.ts";
import { type AppOptions, createAuth, createLoginLink } from "../../http/index.ts";
import { localPrincipal } from "../wiring.ts";
import type { ServeOptions } from "./serve-options.ts";

/** How a server identifies callers. */
export interface OpenAuth {
  readonly appOptions: Pick<AppOptions, "auth">;
  /** Creates a link that logs in one person, once; only with `--auth local`. */
  readonly loginLink?: (publicUrl: string) => Promise<string>;
}

/**
 * The login that `--auth` names. The ledger stores that there is one: from then on the command line needs
 * `--break-glass` to decide, and no server without a login starts on it.
 */
export async function openAuth({ ledger }: Engine, options: ServeOptions): Promise<OpenAuth> {
  const { auth: mode, publicUrl, oidc, breakGlass } = options;
  const auth = await createAuth({
    mode,
    ledger,
    ...(publicUrl === undefined ? {} : { publicUrl }),
    ...(oidc === undefined ? {} : { oidc }),
  });
  await setLoginMode(ledger.items, mode, { breakGlass });
  if (mode !== "local") return { appOptions: { auth } };
  const user = localPrincipal().id;
  return {
    appOptions: { auth },
    loginLink: (url) => createLoginLink({ ledger, publicUrl: url, user }),
  };
}
