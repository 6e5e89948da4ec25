import type { RecipientPlay } from "../../../src/channels/channel.contract.ts";
import { type Answer, answerTwice, status, type WebhookReceiver } from "./webhook-receiver.ts";

/** Makes the receiver do what the contract suite of channels says. */
export async function playRecipient(
  receiver: WebhookReceiver,
  play: RecipientPlay,
  accepted = 200,
): Promise<void> {
  if (play.kind === "absent") return receiver.close();
  await receiver.listen();
  receiver.answer = answerOf(play, accepted);
}

function answerOf(play: Exclude<RecipientPlay, { readonly kind: "absent" }>, accepted: number): Answer {
  switch (play.kind) {
    case "accept":
      return status(accepted);
    case "fail":
      return status(500);
    case "busy":
      return status(429, { "retry-after": String(play.waitMs / 1_000) });
    case "silence":
      return () => {};
    case "hang up":
      return (response) => response.destroy();
    case "answer twice":
      return (response) => answerTwice(response);
    case "flood":
      return (response) => {
        response.writeHead(accepted);
        const more = (): void => {
          while (response.write("x".repeat(65_536)));
          response.once("drain", more);
        };
        more();
      };
  }
}
