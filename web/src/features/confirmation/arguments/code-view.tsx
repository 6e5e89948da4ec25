import { displayText } from "countersign/protocol";
import type { ReactNode } from "react";
import { codePieces } from "./code-pieces.ts";
import type { TextKind } from "./what-it-is.ts";

/** Code, a command or a patch, line for line, with its parts told apart by colour. */
export function CodeView({ text, kind }: { readonly text: string; readonly kind: TextKind }): ReactNode {
  // Made harmless first: what is coloured then is only what is shown.
  const lines = displayText(text).split("\n");
  return (
    <div className={`code code-${kind}`}>
      {lines.map((line, index) => (
        <div className={kind === "patch" ? `code-line ${patchLine(line)}` : "code-line"} key={index}>
          <span className="diff-number" aria-hidden="true">
            {index + 1}
          </span>
          <span className="code-text" dir="ltr">
            {kind === "patch" ? line : <Pieces line={line} kind={kind} />}
          </span>
        </div>
      ))}
    </div>
  );
}

function Pieces({ line, kind }: { readonly line: string; readonly kind: TextKind }): ReactNode {
  return codePieces(line, kind).map(({ text, of }, index) => (
    <span key={index} className={of === "rest" ? undefined : `is-${of}`}>
      {text}
    </span>
  ));
}

function patchLine(line: string): string {
  if (/^(?:\+\+\+|---|diff |index )/.test(line)) return "patch-head";
  if (line.startsWith("@@")) return "patch-place";
  if (line.startsWith("+")) return "diff-added";
  return line.startsWith("-") ? "diff-removed" : "";
}
