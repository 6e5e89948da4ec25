import type { OpenAPIHono } from "@hono/zod-openapi";
import type { LoginMode, Principal } from "../../engine/index.ts";
import type { HttpEnv } from "../env.ts";

/** One way to know who sends a request. */
export interface Auth {
  /** `host`: the program that mounts this server has its own login. */
  readonly name: LoginMode | "host";
  /**
   * Who sends this request, by what it carries in its headers and never by its body. Undefined, or a throw, is
   * answered 401.
   */
  authenticate(request: Request): Promise<Principal | undefined>;
  /** Where a browser logs in and out, where it can. It then carries a cookie that counts on this origin only. */
  readonly login?: OpenAPIHono<HttpEnv>;
}
