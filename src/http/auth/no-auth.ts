import { ANYBODY } from "../../engine/index.ts";
import { SCOPES } from "../scopes.ts";
import type { Auth } from "./auth.ts";

/** No login: every caller is the same unauthenticated principal, who may use everything. For loopback only. */
export const noAuth: Auth = {
  name: "none",
  authenticate: async () => ({ ...ANYBODY, scopes: SCOPES }),
};
