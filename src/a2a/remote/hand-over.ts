import type { CallRecord } from "../../engine/index.ts";
import type { JsonObject } from "../../protocol/index.ts";
import { approvedCalls } from "./child-answer.ts";
import type { Exchanged, Taking } from "./exchange.ts";

// How much of the agent's answer a card shows.
const LONGEST_ANSWER = 2_000;

/** The result of an approved remote call until the agent has been told. */
export function toBeHanded(agent: string): JsonObject {
  return { approved: true, note: `${agent} is told when all its questions are decided` };
}

const NOTES: Readonly<Record<Taking, (agent: string) => string>> = {
  yes: (agent) => `handed to ${agent}`,
  no: (agent) => `not sent to ${agent}: it had already continued, or refused it`,
  perhaps: (agent) => `${agent} had already continued when it was asked again`,
};

/** The results of the approved remote calls of an exchange, by id, once it has ended. */
export function handedOver(
  agent: string,
  { args }: CallRecord,
  { rest, took }: Exchanged,
): { readonly [call: string]: JsonObject } {
  if (took === undefined) return {};
  const shown = { approved: true, note: NOTES[took](agent), ...outcomeOf(agent, rest) };
  return Object.fromEntries(approvedCalls(args).map((id) => [id, shown]));
}

function outcomeOf(agent: string, rest: Exchanged["rest"]): JsonObject {
  switch (rest.state) {
    case "said":
      return { answer: rest.text.slice(0, LONGEST_ANSWER) };
    case "asks":
      return { answer: `${agent} asks again` };
    case "failed":
    case "unsettled":
      return { error: rest.message.slice(0, LONGEST_ANSWER) };
  }
}
