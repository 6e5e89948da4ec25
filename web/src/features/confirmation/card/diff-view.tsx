import type { ReactNode } from "react";
import { Words } from "../../../ui/words.tsx";
import { lineDiff } from "./line-diff.ts";

const MARKS = { same: " ", removed: "−", added: "+" } as const;
const NAMES = { same: "", removed: "removed: ", added: "added: " } as const;

/** Two texts as what changes between them. */
export function DiffView({ before, after }: { readonly before: string; readonly after: string }): ReactNode {
  return (
    <div className="diff" role="group" aria-label="What changes">
      {lineDiff(before, after).map(({ kind, text }, index) => (
        <div className={`diff-line diff-${kind}`} key={index}>
          <span aria-hidden="true">{MARKS[kind]}</span>
          <span className="sr-only">{NAMES[kind]}</span>
          <Words text={text} block />
        </div>
      ))}
    </div>
  );
}
