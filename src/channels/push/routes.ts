import { mayJudge, type Principal } from "../../engine/index.ts";
import { CountersignError, isJsonObject, type JsonObject, parseJson } from "../../protocol/index.ts";
import type { InboundAnswer, InboundRequest, Serve } from "../inbound.ts";
import { readDeviceKeys } from "./encrypt.ts";
import { isEndpoint } from "./post.ts";
import type { Subscriptions } from "./subscriptions.ts";

const MOST_BYTES = 8_192;
const MOST_ENDPOINT = 2_048;

/** What the routes work with. */
export interface PushRoutes {
  readonly publicKey: () => Promise<string>;
  readonly subscriptions: Subscriptions;
  readonly services: readonly string[];
}

/** The key that a browser subscribes with: `GET /channels/push/key`. */
export function keyRoute({ publicKey }: PushRoutes): Serve {
  return async ({ method }, person) => {
    checkRight(person);
    if (method !== "GET") throw wrongMethod("GET");
    return { status: 200, json: { publicKey: await publicKey() } };
  };
}

/** Adds, renews (`PUT`) and removes (`DELETE`) a device of the person who is logged in: `/channels/push/subscriptions`. */
export function subscriptionsRoute({ subscriptions, services }: PushRoutes): Serve {
  return async (request, person): Promise<InboundAnswer> => {
    checkRight(person);
    if (request.method !== "PUT" && request.method !== "DELETE") throw wrongMethod("PUT or DELETE");
    const body = readBody(request);
    const { endpoint } = body;
    if (typeof endpoint !== "string" || endpoint.length > MOST_ENDPOINT || !isEndpoint(endpoint, services))
      throw malformed("endpoint", "The endpoint must be a public https address, as the browser gave it.");
    if (request.method === "DELETE") await subscriptions.removeOf(endpoint, person);
    else await subscriptions.put({ endpoint, person, ...readKeys(body) });
    return { status: 204 };
  };
}

// A person who may not decide gets no notifications.
function checkRight(person: Principal): void {
  if (mayJudge(person)) return;
  throw new CountersignError(
    "forbidden",
    `${person.id} may not decide, so there is nothing to notify them about.`,
  );
}

function readBody({ body }: InboundRequest): JsonObject {
  const parsed = parseJson(new TextDecoder().decode(body), { maxBytes: MOST_BYTES });
  if (parsed.ok && isJsonObject(parsed.value)) return parsed.value;
  throw malformed("", "Send the subscription as a JSON object, as the browser gave it.");
}

function readKeys({ keys }: JsonObject): { readonly p256dh: string; readonly auth: string } {
  const { p256dh, auth } = isJsonObject(keys) ? keys : {};
  if (typeof p256dh === "string" && typeof auth === "string" && readDeviceKeys(p256dh, auth) !== undefined)
    return { p256dh, auth };
  throw malformed("keys", "`keys` must have `p256dh` and `auth`, as the browser gave them.");
}

function malformed(field: string, message: string): CountersignError {
  return new CountersignError("malformed-request", message, field === "" ? {} : { details: { field } });
}

function wrongMethod(allowed: string): CountersignError {
  return new CountersignError("method-not-allowed", `This address takes ${allowed}.`);
}
