import { expect, test } from "vitest";
import { isReservedName, RESERVED_NAMES } from "./reserved-names.ts";

test("the reserved names are these three", () => {
  expect(RESERVED_NAMES).toEqual(["adk_request_confirmation", "adk_request_credential", "adk_request_input"]);
  expect(RESERVED_NAMES.every(isReservedName)).toBe(true);
});

test.each([
  ["upper case", "ADK_REQUEST_CONFIRMATION"],
  ["mixed case", "Adk_Request_Confirmation"],
  ["full width", "ａｄｋ＿ｒｅｑｕｅｓｔ＿ｃｏｎｆｉｒｍａｔｉｏｎ"],
  ["blanks around and within", "  adk request\tconfirmation\n"],
  ["exotic blanks", "adk\u00a0request\u3000confirmation"],
  ["an invisible character", "adk_request_con\u200bfirmation"],
  ["a soft hyphen and a mark", "adk_re\u00adquest_confirma\u200ftion"],
  ["a control character", "adk_request_confirmation\u0000"],
  ["hyphens", "adk-request-confirmation"],
  ["camel case", "adkRequestConfirmation"],
  ["accents", "ádk_request_confirmatiön"],
  ["cyrillic letters", "аdk_rеquest_соnfirmаtiоn"],
  ["a ligature", "adk_request_con\ufb01rmation"],
  ["the rest of the family", "adk_request_anything"],
])("a look-alike is reserved: %s", (_, name) => {
  expect(isReservedName(name)).toBe(true);
});

test.each(["reimburse", "transfer_to_agent", "adk_requests", "adk", "request_confirmation", "", "запрос"])(
  "an ordinary name is free: %j",
  (name) => {
    expect(isReservedName(name)).toBe(false);
  },
);

test("a name of endless marks is judged in time in proportion to its length", () => {
  const began = performance.now();
  expect(
    isReservedName(`adk${"\u0301".repeat(400_000)}${"\u0316".repeat(400_000)}_request_confirmation`),
  ).toBe(true);
  // The square of this length would take an hour.
  expect(performance.now() - began).toBeLessThan(5_000);
});
