import { expect, test } from "vitest";
import { parseRoute, to, toChat } from "./router.ts";

test("every address leads somewhere, and those that are made lead back", () => {
  expect(parseRoute("")).toEqual({ page: "inbox" });
  expect(parseRoute("#/nowhere/at/all")).toEqual({ page: "inbox" });
  expect(parseRoute(to("confirmations", "a/b?c#d"))).toEqual({ page: "inbox", id: "a/b?c#d" });
  expect(parseRoute(toChat({ app: "desk", id: "s 1", user: "ana@corp" }))).toEqual({
    page: "chat",
    app: "desk",
    session: "s 1",
    user: "ana@corp",
  });
  expect(parseRoute("#/confirmations/%E0%A4")).toEqual({ page: "inbox", id: "%E0%A4" });
});
