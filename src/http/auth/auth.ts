import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Principal, StoredLogin } from "../../engine/index.ts";
import type { HttpEnv } from "../env.ts";

/** One way to identify the sender of a request. */
export interface Auth {
  /** `host`: the program that mounts this server has its own login. */
  readonly name: StoredLogin;
  /** Who sends this request, according to its headers and never to its body. Undefined or a throw gets 401. */
  authenticate(request: Request): Promise<Principal | undefined>;
  /**
   * The routes where a browser logs in and out, if it can. The browser then has a cookie that is valid on this origin
   * only.
   */
  readonly login?: OpenAPIHono<HttpEnv>;
}
