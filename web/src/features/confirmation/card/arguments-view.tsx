import { memo, type ReactNode } from "react";
import type { JsonObject, JsonValue } from "../../../api/types.ts";
import { Button } from "../../../ui/button.tsx";
import { Words } from "../../../ui/words.tsx";
import { EndMark, useFold } from "./seen.tsx";

/** About forty lines: what fits a screen or two is shown whole. */
const LONG_TEXT = 3200;
const LONG_LINES = 40;
const LONG_LIST = 20;
/** From here on it is folded. */
const DEEP = 3;
/** From here on it is shown as JSON: every level of fields is narrower than the one around it. */
const TOO_DEEP = 6;

/** Arguments laid out for reading: objects as fields, long lines wrapped, long values folded and counted as unseen. */
export const ArgumentsView = memo(function ArgumentsView({ args }: { readonly args: JsonObject }): ReactNode {
  if (Object.keys(args).length === 0) return <p className="muted">No arguments.</p>;
  return (
    <>
      <Fields value={args} depth={0} />
      <EndMark />
    </>
  );
});

function Fields({ value, depth }: { readonly value: JsonObject; readonly depth: number }): ReactNode {
  const entries = Object.entries(value);
  if (entries.length > LONG_LIST) {
    return (
      <>
        <FieldList entries={entries.slice(0, LONG_LIST)} depth={depth} />
        <Fold label={`Show ${entries.length - LONG_LIST} more fields`}>
          <FieldList entries={entries.slice(LONG_LIST)} depth={depth} />
        </Fold>
      </>
    );
  }
  return <FieldList entries={entries} depth={depth} />;
}

function FieldList(props: {
  readonly entries: readonly (readonly [string, JsonValue])[];
  readonly depth: number;
}): ReactNode {
  return (
    <dl className={props.depth === 0 ? "fields" : "fields fields-inner"}>
      {props.entries.map(([name, value]) => (
        <div className="fields-row" key={name}>
          <dt>
            <Words text={name} maxLength={200} />
          </dt>
          <dd>
            <Value value={value} depth={props.depth} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** One value of any kind. */
export function Value({
  value,
  depth = 0,
}: {
  readonly value: JsonValue;
  readonly depth?: number;
}): ReactNode {
  if (typeof value === "string") return <Text text={value} />;
  if (value === null || typeof value !== "object") return <code className="scalar">{String(value)}</code>;
  const isEmpty = Object.keys(value).length === 0;
  if (isEmpty) return <code className="scalar">{Array.isArray(value) ? "[ ]" : "{ }"}</code>;
  if (depth >= TOO_DEEP) return <Text text={JSON.stringify(value, undefined, 1)} />;
  if (depth + 1 === DEEP) {
    return (
      <Fold label={nestedLabel(value)}>
        <Nested value={value} depth={depth + 1} />
      </Fold>
    );
  }
  return <Nested value={value} depth={depth + 1} />;
}

function nestedLabel(value: readonly JsonValue[] | JsonObject): string {
  const count = Object.keys(value).length;
  const what = Array.isArray(value) ? "item" : "field";
  return `Show ${count} nested ${what}${count === 1 ? "" : "s"}`;
}

function Nested(props: {
  readonly value: readonly JsonValue[] | JsonObject;
  readonly depth: number;
}): ReactNode {
  const { value, depth } = props;
  return isList(value) ? <List items={value} depth={depth} /> : <Fields value={value} depth={depth} />;
}

function List({ items, depth }: { readonly items: readonly JsonValue[]; readonly depth: number }): ReactNode {
  const item = (value: JsonValue, index: number): ReactNode => (
    <li key={index}>
      <Value value={value} depth={depth} />
    </li>
  );
  return (
    <>
      <ol className="items">{items.slice(0, LONG_LIST).map(item)}</ol>
      {items.length > LONG_LIST ? (
        <Fold label={`Show ${(items.length - LONG_LIST).toLocaleString()} more items`}>
          <ol className="items" start={LONG_LIST + 1}>
            {items.slice(LONG_LIST).map(item)}
          </ol>
        </Fold>
      ) : null}
    </>
  );
}

function Text({ text }: { readonly text: string }): ReactNode {
  if (text === "") return <span className="muted">empty text</span>;
  if (text.length <= LONG_TEXT && text.split("\n", LONG_LINES + 1).length <= LONG_LINES) {
    return <Words text={text} block />;
  }
  return <LongText text={text} />;
}

function LongText({ text }: { readonly text: string }): ReactNode {
  const { isOpen, toggle } = useFold();
  const start = text
    .split("\n", 12)
    .join("\n")
    .slice(0, LONG_TEXT / 4);
  const size = text.length.toLocaleString();
  return (
    <div className={isOpen ? "long" : "long long-folded"}>
      <Words text={isOpen ? text : start} block />
      <Button look="plain" small expanded={isOpen} onClick={toggle}>
        {isOpen ? "Show less" : `Show all ${size} characters`}
      </Button>
    </div>
  );
}

function Fold({ label, children }: { readonly label: string; readonly children: ReactNode }): ReactNode {
  const { isOpen, toggle } = useFold();
  return (
    <div className="fold">
      <Button look="plain" small expanded={isOpen} onClick={toggle}>
        {isOpen ? "Show less" : label}
      </Button>
      {isOpen ? children : null}
    </div>
  );
}

function isList(value: readonly JsonValue[] | JsonObject): value is readonly JsonValue[] {
  return Array.isArray(value);
}
