import { expect, test } from "vitest";
import type { Confirmation } from "../engine/index.ts";
import { refusedWords } from "./refused-words.ts";

type Told = Pick<Confirmation, "status" | "askedByTool">;

const STARTED = ["The call had started, and did not finish."];
const DID_NOT_RUN = ["The call did not run."];

test.each<[Told, readonly string[]]>([
  [{ status: "denied" }, DID_NOT_RUN],
  [{ status: "expired" }, DID_NOT_RUN],
  [{ status: "cancelled" }, []],
  [{ status: "denied", askedByTool: true }, STARTED],
  [{ status: "expired", askedByTool: true }, STARTED],
  [{ status: "cancelled", askedByTool: true }, STARTED],
  [{ status: "unknown" }, []],
  [{ status: "succeeded", askedByTool: true }, []],
])("of %j it says %j", (about, words) => {
  expect(refusedWords(about)).toEqual(words);
});
