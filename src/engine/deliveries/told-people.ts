import type { Ledger } from "../ledger/index.ts";
import { type SentMessages, sentMessages } from "./sent-messages.ts";

/** One message about a question to one recipient, and what became of it. */
export interface ToldPerson {
  readonly channel: string;
  /** The person's id; absent if it went to a room. */
  readonly person?: string;
  /** `unsure`: it may have arrived. `failed`: it did not arrive; the delivery is tried again, or was given up. */
  readonly state: "sending" | "sent" | "unsure" | "failed";
  /** When the last attempt began, as ISO 8601. */
  readonly at: string;
  /** It is a reminder, an escalation or the outcome, to somebody who has a message about the question. */
  readonly isReply: boolean;
  /** Why it failed. */
  readonly reason?: string;
}

/**
 * Who was told of a question, by which channel, oldest first. Addresses are not shown. Channels that do not tell single
 * recipients, such as webhooks, are not in it.
 */
export async function toldPeople(
  { items, outbox }: Pick<Ledger, "items" | "outbox">,
  confirmation: string,
): Promise<readonly ToldPerson[]> {
  const channels = await outbox.channels();
  const told = await Promise.all(
    channels.map(async (channel) => messagesOf(channel, await sentMessages(items, channel, confirmation))),
  );
  return told.flat().toSorted((one, other) => (one.at < other.at ? -1 : Number(one.at > other.at)));
}

function messagesOf(channel: string, messages: SentMessages | undefined): readonly ToldPerson[] {
  const { to = {}, failed = {} } = messages ?? {};
  // What is being sent again, or may have arrived since, counts.
  const open = Object.entries(failed).filter(([target]) => to[target] === undefined);
  return [
    ...Object.values(to).map(({ state, at, person, isReply }) =>
      toldPerson(channel, { at, person, isReply }, { state }),
    ),
    ...open.map(([, { at, person, isReply, reason }]) =>
      toldPerson(channel, { at, person, isReply }, { state: "failed", reason }),
    ),
  ];
}

function toldPerson(
  channel: string,
  {
    at,
    person,
    isReply = false,
  }: { readonly at: number; readonly person: string | undefined; readonly isReply: boolean | undefined },
  outcome: Pick<ToldPerson, "state" | "reason">,
): ToldPerson {
  return {
    channel,
    ...(person === undefined ? {} : { person }),
    at: new Date(at).toISOString(),
    isReply,
    ...outcome,
  };
}
