import type { ReactNode } from "react";
import type { Confirmation } from "../../api/types.ts";
import { mixedWords } from "../../ui/scripts.ts";
import { Words } from "../../ui/words.tsx";
import { ArgumentsView } from "./arguments-view.tsx";
import { DiffView } from "./diff-view.tsx";
import { RawJson } from "./raw-json.tsx";

/** Whose words they are, so that nobody takes the model's for the author's. */
export function Voice({
  of,
  children,
}: {
  readonly of: "author" | "model" | "server";
  readonly children: ReactNode;
}): ReactNode {
  return <div className={`voice voice-${of}`}>{children}</div>;
}

/** The question itself: the hint as one line, and beside it all the arguments. */
export function CardQuestion({ confirmation }: { readonly confirmation: Confirmation }): ReactNode {
  const { hint, source } = confirmation;
  const args = confirmation.args;
  const mixed = mixedWords(JSON.stringify(args) + hint);
  return (
    <section className="card-section" aria-label="What is asked">
      <Voice of={source === undefined ? "author" : "server"}>
        <span className="voice-name">{hintVoice(confirmation)}</span>
        <p className="card-hint">
          <Words text={hint} maxLength={400} />
        </p>
      </Voice>
      {mixed.length === 0 ? null : (
        <p className="notice notice-doubt" role="note">
          Letters of different scripts are mixed in {mixed.slice(0, 3).map(quoted)}: they may be look-alikes.
        </p>
      )}
      <Voice of="model">
        <div className="spread">
          <h2 className="voice-name">Arguments, written by the model</h2>
          <RawJson value={args} />
        </div>
        <ArgumentsView args={args} />
      </Voice>
      <DeclaredDiff confirmation={confirmation} />
    </section>
  );
}

function hintVoice({ hint, tool, source, askedByTool }: Confirmation): string {
  if (source !== undefined) return "In the words of the tool’s server";
  if (hint === `Approve execution of tool ${tool}?`) return "The question";
  return askedByTool === true ? "The tool asks" : "In the words of the tool’s author";
}

function quoted(word: string, index: number): ReactNode {
  return (
    <span key={word}>
      {index === 0 ? "" : ", "}“<Words text={word} maxLength={60} />”
    </span>
  );
}

function DeclaredDiff({
  confirmation: { layout, args },
}: {
  readonly confirmation: Confirmation;
}): ReactNode {
  if (layout?.diff === undefined) return null;
  const before = args[layout.diff.before];
  const after = args[layout.diff.after];
  if (typeof before !== "string" || typeof after !== "string") return null;
  return (
    <Voice of="model">
      <h2 className="voice-name">
        What changes from <Words text={layout.diff.before} /> to <Words text={layout.diff.after} />
      </h2>
      <DiffView before={before} after={after} />
    </Voice>
  );
}
