import type { ServerResponse } from "node:http";
import { setImmediate as othersTurn } from "node:timers/promises";
import { CountersignError } from "../../protocol/index.ts";
import type { App } from "../app.ts";
import type { Logger } from "../log.ts";
import { problemResponse } from "../problems.ts";
import { refusalResponse } from "./refusal.ts";
import { originOf } from "./remote-address.ts";
import { type MountedMessage, toRequest } from "./request.ts";

/** The app that answers, and how many proxies are trusted. */
export interface Answering {
  readonly fetch: App["fetch"];
  readonly proxies: number;
  readonly log: Logger;
}

/** Lets an app answer a Node request. Never rejects: errors become answers. */
export async function answerOf(
  { fetch, proxies, log }: Answering,
  incoming: MountedMessage,
  outgoing: ServerResponse,
): Promise<Response> {
  const { remoteAddress, scheme } = originOf(incoming, proxies);
  try {
    const request = toRequest(incoming, outgoing, scheme);
    await firstInLine(outgoing);
    const whenSent = (then: () => void): unknown =>
      outgoing.destroyed || outgoing.writableFinished ? then() : outgoing.once("close", then);
    const bindings = {
      takesEncoded: true,
      whenSent,
      ...(remoteAddress === undefined ? {} : { remoteAddress }),
    };
    return await fetch(request, bindings);
  } catch (error) {
    if (CountersignError.isInstance(error) && error.code === "malformed-request") {
      return refusalResponse({ status: 400, code: error.code, message: error.message });
    }
    log.error({ err: error }, "a request was not answered");
    return problemResponse(error);
  }
}

/**
 * Resolves when the answer is the next one of its connection. Made before, it would wait for those ahead of it, which may be
 * streams without an end, and keep what it takes of its caller's limits meanwhile.
 */
async function firstInLine(outgoing: ServerResponse): Promise<void> {
  if (outgoing.socket !== null || outgoing.destroyed) return;
  await new Promise<void>((resolve) => {
    outgoing.once("socket", () => resolve()).once("close", resolve);
  });
  // Else all that were sent at once on this connection would be answered before anybody else's request is looked at.
  await othersTurn();
}
