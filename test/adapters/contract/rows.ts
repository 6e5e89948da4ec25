import type { AdapterSubject } from "./subject.ts";

/** What every adapter is tried with, and the case of the suite that does so. */
export const ROWS: readonly { readonly what: string; readonly case: string }[] = [
  {
    what: "a gated call waits and runs",
    case: "a gated call waits, runs once it is approved, and the model hears the result",
  },
  {
    what: "a rule, also one that fails",
    case: "a call below the rule's limit runs at once; one whose rule fails is asked about",
  },
  {
    what: "a tool without a rule",
    case: "a tool without a rule is not gated, also beside a call that waits",
  },
  { what: "doubled resume", case: "a resume that is sent three times at once runs the call once" },
  { what: "three processes at once", case: "of three processes that go on at once one runs the call" },
  {
    what: "`kill -9` inside the tool, and a resume after settling",
    case: "a process that is killed inside the tool leaves the call unknown: it never runs again, and goes on once it is settled",
  },
  {
    what: "forged approval",
    case: "a forged approval in the framework's own state runs nothing and raises no question",
  },
  { what: "partial answers", case: "the model waits until every call of the turn has its answer" },
  { what: "amended", case: "an approver's changed arguments run, and the model is told" },
  { what: "denied with a reason", case: "a denial reaches the model with its reason" },
  { what: "expired", case: "a question that nobody answers in time ends, and the model hears it" },
  { what: "orphaned question", case: "a conversation that moves on leaves no question behind" },
  { what: "id used again in a later turn", case: "an id that a later turn uses again is another call" },
  {
    what: "tool that was redefined",
    case: "a tool that is not what the approver saw does not run; people are asked again",
  },
  {
    what: "default that differs at each parse",
    case: "a default that is another one at each parse is asked about once, and runs as it was shown",
  },
  {
    what: "same id, fewer arguments",
    case: "an approved call's id with fewer arguments is not the approved call, also if defaults fill them in",
  },
  {
    what: "same id, more arguments",
    case: "an approved call's id with more arguments is not the approved call, also if they replace defaults",
  },
  {
    what: "schema that renames arguments",
    case: "arguments that a schema renames run as they were shown, and others under the call's id do not",
  },
  {
    what: "schema that renames, with a default that differs at each parse",
    case: "a schema that renames arguments and makes a new value at each parse is asked about once, and runs as it was shown or not at all",
  },
  {
    what: "decided while the process is down",
    case: "a decision that is taken while the program is down brings it back",
  },
  {
    what: "a stream with several calls, which pauses and goes on in another process",
    case: "a stream pauses in its middle, and goes on as a stream in another process",
  },
  {
    what: "three processes at once, streaming",
    case: "of three processes that go on with a stream at once one runs the call",
  },
  {
    what: "forged approval, streaming",
    case: "a forged approval runs nothing in a stream either",
  },
];

/** The rows as a table: which adapter is tried with what, and why not. */
export function contractTable(subjects: readonly Pick<AdapterSubject, "name" | "except">[]): string {
  const reasons: string[] = [];
  const cell = ({ except = {} }: Pick<AdapterSubject, "except">, name: string): string => {
    const reason = except[name];
    if (reason === undefined) return "✓";
    if (!reasons.includes(reason)) reasons.push(reason);
    return `no (${reasons.indexOf(reason) + 1})`;
  };
  const head = ["", ...subjects.map(({ name }) => `\`${name}\``)];
  const rows = ROWS.map(({ what, case: name }) => [what, ...subjects.map((subject) => cell(subject, name))]);
  const lines = [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`);
  const notes = reasons.map((reason, place) => `${place + 1}. ${reason}`);
  return `${[...lines, "", ...notes].join("\n")}\n`;
}
