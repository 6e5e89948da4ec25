import { type Engine, setLoginMode } from "../../engine/index.ts";
import { type AppOptions, createAuth, createLoginLink } from "../../http/index.ts";
import { localPrincipal } from "../wiring.ts";
import type { ServeOptions } from "./serve-options.ts";

/** How a server finds out who asks. */
export interface OpenAuth {
  readonly appOptions: Pick<AppOptions, "auth">;
  /** Makes a link that logs one person in, once; only where there are such links. */
  loginLink?(publicUrl: string): Promise<string>;
}

/**
 * The login that `--auth` names. The ledger remembers that there is one: from then on the command line does not
 * decide without breaking the glass, and no server without a login is put in front of it.
 */
export async function openAuth({ ledger }: Engine, options: ServeOptions): Promise<OpenAuth> {
  const { auth: mode, publicUrl, oidc, breakGlass } = options;
  const auth = await createAuth({
    mode,
    ledger,
    ...(publicUrl === undefined ? {} : { publicUrl }),
    ...(oidc === undefined ? {} : { oidc }),
  });
  await setLoginMode(ledger, mode, { breakGlass });
  if (mode !== "local") return { appOptions: { auth } };
  const user = localPrincipal().id;
  return {
    appOptions: { auth },
    loginLink: (url) => createLoginLink({ ledger, publicUrl: url, user }),
  };
}
