import type { ReactNode } from "react";
import type { JsonObject, JsonValue } from "../../../api/types.ts";
import { Words } from "../../../ui/words.tsx";
import { DiffView } from "./diff-view.tsx";

const SHORT = 120;

export interface ChangesProps {
  readonly before: JsonObject;
  readonly after: JsonObject;
}

/** What differs between two versions of the arguments, a line for each that was changed. */
export function Changes({ before, after }: ChangesProps): ReactNode {
  return (
    <dl className="changes-list">
      {changedNames({ before, after }).map((name) => (
        <div key={name}>
          <dt>
            <Words text={name} maxLength={120} />
          </dt>
          <dd>
            <Change before={before[name]} after={after[name]} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** The same in one line, for tables. */
export function changesInShort({ before, after }: ChangesProps): string {
  return changedNames({ before, after })
    .map((name) => `${name}: ${flat(before[name])} → ${flat(after[name])}`)
    .join(", ");
}

function Change({ before, after }: Partial<Record<keyof ChangesProps, JsonValue | undefined>>): ReactNode {
  const [old, young] = [inWords(before), inWords(after)];
  if (isLong(old) || isLong(young)) return <DiffView before={old} after={young} />;
  return (
    <>
      <del>
        <Words text={old} />
      </del>{" "}
      <span aria-hidden="true">→</span>{" "}
      <ins>
        <Words text={young} />
      </ins>
    </>
  );
}

function changedNames({ before, after }: ChangesProps): readonly string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
}

function isLong(text: string): boolean {
  return text.length > SHORT || text.includes("\n");
}

function flat(value: JsonValue | undefined): string {
  return value === undefined ? "nothing" : JSON.stringify(value);
}

function inWords(value: JsonValue | undefined): string {
  if (value === undefined) return "nothing";
  return typeof value === "string" ? value : JSON.stringify(value, undefined, 2);
}
