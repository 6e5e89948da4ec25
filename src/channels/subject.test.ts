import { describe, expect, test } from "vitest";
import type { Confirmation } from "../engine/index.ts";
import { buildNotice } from "./channel.contract.ts";
import { cardRows } from "./email/mail.ts";
import { summaryOf } from "./room/summary.ts";
import { contentOf } from "./slack/card.ts";

const TO_PROGRAMS =
  "Please approve or reject the tool call pay() by responding with a FunctionResponse with an expected ToolConfirmation payload.";

describe("what the ADK tells programs reaches nobody, and what an author asks does", () => {
  const WAYS = {
    room: (about: Confirmation) => summaryOf({ about }),
    "e-mail": (about: Confirmation) => cardRows(about),
    Slack: (about: Confirmation) => contentOf(about),
  };
  test.each(Object.entries(WAYS))("%s", (_, tell) => {
    const { about } = buildNotice();
    const saying = (hint: string): string => JSON.stringify(tell({ ...(about as Confirmation), hint }));
    expect(saying("Pay bob?")).toContain("Pay bob?");
    expect(saying(TO_PROGRAMS)).not.toContain("FunctionResponse");
  });
});
