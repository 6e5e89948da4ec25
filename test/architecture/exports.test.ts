import { describe, expect, test } from "vitest";
import { readManifest, readSource } from "./repository.ts";
import { exportedNames } from "./syntax.ts";

// Whatever stands here is public: adding a line is a feature, removing one is a breaking change.

const EXPORTS = {
  ".": { types: "./dist/index.d.ts", default: "./dist/index.js" },
  "./protocol": { types: "./dist/protocol/index.d.ts", default: "./dist/protocol/index.js" },
  "./stores/sqlite": { types: "./dist/stores/sqlite/index.d.ts", default: "./dist/stores/sqlite/index.js" },
  "./models/ai-sdk": { types: "./dist/models/ai-sdk/index.d.ts", default: "./dist/models/ai-sdk/index.js" },
  "./models/gemini": { types: "./dist/models/gemini/index.d.ts", default: "./dist/models/gemini/index.js" },
  "./models/scripted": {
    types: "./dist/models/scripted/index.d.ts",
    default: "./dist/models/scripted/index.js",
  },
  "./testing": { types: "./dist/testing.d.ts", default: "./dist/testing.js" },
  "./package.json": "./package.json",
};

/** The names that each subpath exports, types included, sorted. */
const NAMES: { readonly [subpath: string]: readonly string[] } = {
  ".": [
    "Acting",
    "AdkCallbacks",
    "Agent",
    "AgentOptions",
    "AgentTool",
    "AgentToolOptions",
    "AnyAgent",
    "Approvers",
    "AskOptions",
    "BaseTool",
    "BaseToolOptions",
    "BeforeToolContext",
    "CallContext",
    "CallRecord",
    "Clock",
    "Confirmation",
    "ConfirmationDecision",
    "ConfirmationFilter",
    "ConfirmationPredicate",
    "ConfirmationProvider",
    "ConfirmationRecord",
    "ConfirmationRejected",
    "ConfirmationRequest",
    "CountersignError",
    "CreateEngineOptions",
    "DecisionInput",
    "DecisionReceipt",
    "DecisionResult",
    "Engine",
    "EngineOptions",
    "ErrorCode",
    "Event",
    "Fault",
    "FunctionTool",
    "FunctionToolOptions",
    "GateBody",
    "GateContext",
    "GateOptions",
    "GateOutcome",
    "GateUse",
    "GatedFunction",
    "GenerateOptions",
    "HookContext",
    "Hooks",
    "InMemoryRunner",
    "Instruction",
    "JsonObject",
    "JsonValue",
    "Ledger",
    "LedgerOptions",
    "LlmAgent",
    "LoopAgent",
    "Model",
    "ModelChunk",
    "ModelRequest",
    "ModelResolver",
    "OutcomeUnknown",
    "ParallelAgent",
    "Policy",
    "PolicyCall",
    "PolicyVerdict",
    "Principal",
    "PrincipalInput",
    "REQUEST_CONFIRMATION_FUNCTION_CALL_NAME",
    "REQUEST_CONFIRMATION_FUNCTION_NAME",
    "Refusal",
    "RefusedAnswer",
    "RunInput",
    "Runner",
    "RunnerOptions",
    "SendOptions",
    "SequentialAgent",
    "Session",
    "Settlement",
    "ShownStatus",
    "State",
    "StreamEvent",
    "Tool",
    "ToolActions",
    "ToolConfirmation",
    "ToolContext",
    "ToolDeclaration",
    "ToolOptions",
    "Toolset",
    "Turn",
    "UnknownCall",
    "Verification",
    "Wire",
    "WorkOptions",
    "Worker",
    "agentTool",
    "createEngine",
    "createLedger",
    "decodeAnswers",
    "displayText",
    "encodeEvent",
    "originalCallFrom",
    "shownStatus",
    "tool",
    "toolset",
    "withConfirmation",
  ],
  "./protocol": [
    "AdkAnswer",
    "Answer",
    "AnsweredConfirmation",
    "AskUserRequest",
    "ConfirmationAsk",
    "ConfirmationClosing",
    "ConfirmationRequest",
    "Content",
    "CountersignError",
    "DEFAULT_JSON_DEPTH",
    "DataPart",
    "DataPartDecision",
    "DecodedAnswers",
    "DisplayTextOptions",
    "ERROR_CODES",
    "ErrorCode",
    "Event",
    "EventActions",
    "FunctionCall",
    "FunctionResponse",
    "HitlEnvelope",
    "JsonCheck",
    "JsonObject",
    "JsonText",
    "JsonValue",
    "KAGENT_HITL_EXTENSION",
    "MAX_JSON_DEPTH",
    "NestedPause",
    "OpenQuestion",
    "Parsed",
    "Part",
    "Problem",
    "REQUEST_CONFIRMATION_FUNCTION_CALL_NAME",
    "REQUEST_CONFIRMATION_FUNCTION_NAME",
    "RESERVED_NAMES",
    "RefusedPart",
    "StoredEvent",
    "ToolApproval",
    "ToolApprovalRequest",
    "ToolConfirmation",
    "Unreadable",
    "UserQuestion",
    "Wire",
    "canonicalJson",
    "decodeAdkRequest",
    "decodeAdkRsRequest",
    "decodeAnswers",
    "decodeAskUserRequest",
    "decodeAskUserResponse",
    "decodeDecisionData",
    "decodeToolApprovalRequest",
    "decodeToolApprovalResponse",
    "displayText",
    "encodeAdkAnswer",
    "encodeAdkEvent",
    "encodeAdkRsEvent",
    "encodeAskUserRequest",
    "encodeDataPart",
    "encodeEvent",
    "encodeToolApprovalRequest",
    "isJsonArray",
    "isJsonObject",
    "isReservedName",
    "isWire",
    "member",
    "originalCallFrom",
    "parseContent",
    "parseEvent",
    "parseJson",
    "readHitlPayload",
    "toHitlEnvelope",
    "toJsonValue",
    "toProblem",
  ],
  "./stores/sqlite": [
    "InspectOptions",
    "LedgerState",
    "SqliteOptions",
    "inspectSqliteLedger",
    "openSqliteLedger",
  ],
  "./models/ai-sdk": ["AiSdkModel", "AiSdkOptions", "aiSdk"],
  "./models/gemini": ["GeminiOptions", "gemini"],
  "./models/scripted": ["ScriptedAnswer", "ScriptedOptions", "scripted"],
  "./testing": ["LedgerCase", "LedgerSubject", "ManualClock", "ledgerContract"],
};

const subpaths = Object.keys(EXPORTS).filter((subpath) => subpath !== "./package.json");

describe("the package", () => {
  test("exports the pinned subpaths, in this order", () => {
    const { exports } = readManifest();
    expect(exports).toEqual(EXPORTS);
    expect(Object.keys(exports)).toEqual(Object.keys(EXPORTS));
  });

  test("has a pinned list of names for every subpath", () => {
    expect(Object.keys(NAMES).toSorted()).toEqual(subpaths.toSorted());
  });

  test.each(Object.entries(NAMES))("%s exports the pinned names", (subpath, names) => {
    expect(exportedNames(readSource(sourceOf(subpath)))).toEqual(names);
  });
});

test("a star export cannot hide in a pinned list", () => {
  const text = `export { b, type A } from "./a.ts"; export * from "./c.ts"; export interface D {} export default 1;`;
  expect(exportedNames({ path: "x.ts", text })).toEqual([`* from "./c.ts"`, "A", "D", "b", "default"]);
});

/** The TypeScript file behind a subpath: `tsc` keeps the tree as it is. */
function sourceOf(subpath: string): string {
  const target = readManifest().exports[subpath];
  if (typeof target !== "object") {
    throw new TypeError(`${subpath} has no types in package.json`);
  }
  return target.default.replace(/^\.\/dist\//, "src/").replace(/\.js$/, ".ts");
}
