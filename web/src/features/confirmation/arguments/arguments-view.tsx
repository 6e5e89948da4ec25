import { memo, type ReactNode, useMemo } from "react";
import type { Confirmation, JsonObject, JsonValue } from "../../../api/types.ts";
import { Button } from "../../../ui/button.tsx";
import { Words } from "../../../ui/words.tsx";
import { EndMark, useFold } from "../card/seen.tsx";
import { CodeView } from "./code-view.tsx";
import { DiffView } from "./diff-view.tsx";
import { filesIn, type ShownFile } from "./file-content.ts";
import { FileView } from "./file-view.tsx";
import { MarkdownView } from "./markdown-view.tsx";
import { meaningOf } from "./meaning.ts";
import { UrlView } from "./url-view.tsx";
import {
  columnsOf,
  diffOf,
  type Email,
  emailOf,
  fileOf,
  type NamedText,
  type TextKind,
  textKind,
} from "./what-it-is.ts";

/** About forty lines: what fits a screen or two is shown whole. */
const LONG_TEXT = 3200;
const LONG_LINES = 40;
const LONG_LIST = 20;
/** From here on it is folded. */
const DEEP = 3;
/** From here on it is shown as JSON: every level of fields is narrower than the one around it. */
const TOO_DEEP = 6;

type Layout = Confirmation["layout"];
type Files = ReturnType<typeof filesIn>;

export interface ArgumentsViewProps {
  readonly args: JsonObject;
  /** How the tool's author wants them shown. */
  readonly layout?: Layout | undefined;
}

/**
 * Arguments laid out for reading, each as what it is: an edit as a diff, an e-mail as an e-mail, code as code, the rest
 * as fields. Everything is there; what is long is folded and counts as unseen.
 */
export const ArgumentsView = memo(function ArgumentsView({ args, layout }: ArgumentsViewProps): ReactNode {
  const files = useMemo(() => filesIn(args, layout), [args, layout]);
  if (Object.keys(args).length === 0) return <p className="muted">No arguments.</p>;
  const diff = diffOf(args, layout);
  const email = diff === undefined ? emailOf(args, layout) : undefined;
  const file = diff === undefined ? undefined : fileOf(args, [diff.before.name, diff.after.name]);
  const laidOut = [file, diff?.before, diff?.after, ...(email?.head ?? []), email?.body].map(
    (part) => part?.name,
  );
  const rest = Object.fromEntries(Object.entries(args).filter(([name]) => !laidOut.includes(name)));
  return (
    <>
      {diff === undefined ? null : <Edit before={diff.before} after={diff.after} file={file} />}
      {email === undefined ? null : <EmailView email={email} />}
      {Object.keys(rest).length === 0 ? null : (
        <Fields value={rest} depth={0} layout={layout} files={files} />
      )}
      <EndMark />
    </>
  );
});

interface EditProps {
  readonly before: NamedText;
  readonly after: NamedText;
  /** What is changed, where an argument says so. */
  readonly file: NamedText | undefined;
}

function Edit({ before, after, file }: EditProps): ReactNode {
  const lines = before.text.split("\n").length + after.text.split("\n").length;
  const view = <DiffView before={before.text} after={after.text} />;
  return (
    <div className="edit">
      {file === undefined ? null : (
        <p className="edit-file">
          <span className="small muted">
            <Words text={file.name} maxLength={60} />
          </span>{" "}
          <code>
            <Words text={file.text} />
          </code>
        </p>
      )}
      <p className="small muted">
        From <Words text={before.name} maxLength={60} /> to <Words text={after.name} maxLength={60} />
      </p>
      {lines > LONG_LINES * 4 ? <Fold label={`Show the change, ${lines} lines`}>{view}</Fold> : view}
    </div>
  );
}

function EmailView({ email: { head, body } }: { readonly email: Email }): ReactNode {
  return (
    <div className="email" role="group" aria-label="E-mail">
      <dl className="email-head">
        {head.map(({ name, text }) => (
          <div key={name}>
            <dt>
              <Words text={name} maxLength={60} />
            </dt>
            <dd>
              <Words text={text} block />
            </dd>
          </div>
        ))}
      </dl>
      <div className="email-body">
        <Text text={body.text} kind="plain" />
      </div>
    </div>
  );
}

interface FieldsProps {
  readonly value: JsonObject;
  readonly depth: number;
  readonly layout?: Layout | undefined;
  readonly files?: Files;
}

function Fields({ value, depth, layout, files }: FieldsProps): ReactNode {
  const entries = Object.entries(value);
  const list = (some: typeof entries): ReactNode => (
    <FieldList entries={some} around={value} depth={depth} layout={layout} files={files} />
  );
  if (entries.length <= LONG_LIST) return list(entries);
  return (
    <>
      {list(entries.slice(0, LONG_LIST))}
      <Fold label={`Show ${entries.length - LONG_LIST} more fields`}>{list(entries.slice(LONG_LIST))}</Fold>
    </>
  );
}

function FieldList(props: {
  readonly entries: readonly (readonly [string, JsonValue])[];
  readonly around: JsonObject;
  readonly depth: number;
  readonly layout: Layout;
  readonly files: Files | undefined;
}): ReactNode {
  return (
    <dl className={props.depth === 0 ? "fields" : "fields fields-inner"}>
      {props.entries.map(([name, value]) => (
        <div className="fields-row" key={name}>
          <dt>
            <Words text={name} maxLength={200} />
          </dt>
          <dd>
            <Field
              name={name}
              value={value}
              depth={props.depth}
              layout={props.layout}
              file={props.files?.get(name)}
            />
            <Meaning text={meaningOf(name, value, props.around)} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

interface FieldProps {
  readonly name: string;
  readonly value: JsonValue;
  readonly depth: number;
  readonly layout: Layout;
  readonly file: ShownFile | undefined;
}

function Field({ name, value, depth, layout, file }: FieldProps): ReactNode {
  if (file !== undefined) return <FileView key={file.data} name={name} file={file} />;
  const kind = typeof value === "string" ? textKind(name, value, layout) : "plain";
  return <Value value={value} depth={depth} kind={kind} />;
}

function Meaning({ text }: { readonly text: string | undefined }): ReactNode {
  return text === undefined ? null : <span className="meaning"> {text}</span>;
}

interface ValueProps {
  readonly value: JsonValue;
  readonly depth?: number;
  readonly kind?: TextKind;
}

/** One value of any kind. */
export function Value({ value, depth = 0, kind = "plain" }: ValueProps): ReactNode {
  if (typeof value === "string") return <Text text={value} kind={kind} />;
  if (value === null || typeof value !== "object") return <code className="scalar">{String(value)}</code>;
  const isEmpty = Object.keys(value).length === 0;
  if (isEmpty) return <code className="scalar">{Array.isArray(value) ? "[ ]" : "{ }"}</code>;
  if (depth >= TOO_DEEP) return <Text text={JSON.stringify(value, undefined, 1)} kind="plain" />;
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
  const columns = columnsOf(items);
  const part = (some: readonly JsonValue[], start: number): ReactNode =>
    columns === undefined ? (
      <ol className="items" start={start}>
        {some.map((value, index) => (
          <li key={index}>
            <Value value={value} depth={depth} />
          </li>
        ))}
      </ol>
    ) : (
      <Table rows={some as readonly JsonObject[]} columns={columns} start={start} />
    );
  return (
    <>
      {part(items.slice(0, LONG_LIST), 1)}
      {items.length > LONG_LIST ? (
        <Fold label={`Show ${(items.length - LONG_LIST).toLocaleString()} more items`}>
          {part(items.slice(LONG_LIST), LONG_LIST + 1)}
        </Fold>
      ) : null}
    </>
  );
}

interface TableProps {
  readonly rows: readonly JsonObject[];
  readonly columns: readonly string[];
  readonly start: number;
}

/** Like, flat objects as rows. */
function Table({ rows, columns, start }: TableProps): ReactNode {
  return (
    <div className="argument-table" tabIndex={0} role="group" aria-label="Table">
      <table>
        <thead>
          <tr>
            <th scope="col">#</th>
            {columns.map((name) => (
              <th scope="col" key={name}>
                <Words text={name} maxLength={60} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              <td className="muted">{start + index}</td>
              {columns.map((name) => (
                <td key={name} className={cellClass(row[name], columns.length)}>
                  <Words text={cellOf(row[name])} block />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** So many short numbers fit beside each other on a phone; wherever all would not, each may break, and none is out of sight. */
const WHOLE = { columns: 4, digits: 9 };

function cellClass(value: JsonValue | undefined, columns: number): string | undefined {
  if (typeof value !== "number") return undefined;
  const isWhole = columns <= WHOLE.columns && cellOf(value).length <= WHOLE.digits;
  return isWhole ? "number number-whole" : "number";
}

function cellOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function Text({ text, kind }: { readonly text: string; readonly kind: TextKind }): ReactNode {
  if (text === "") return <span className="muted">empty text</span>;
  if (text.length <= LONG_TEXT && text.split("\n", LONG_LINES + 1).length <= LONG_LINES) {
    return <Shown text={text} kind={kind} />;
  }
  return <LongText text={text} kind={kind} />;
}

function Shown({ text, kind }: { readonly text: string; readonly kind: TextKind }): ReactNode {
  if (kind === "plain") return <Words text={text} block />;
  if (kind === "markdown") return <MarkdownView text={text} />;
  return kind === "url" ? <UrlView text={text} /> : <CodeView text={text} kind={kind} />;
}

function LongText({ text, kind }: { readonly text: string; readonly kind: TextKind }): ReactNode {
  const { isOpen, toggle } = useFold();
  const start = text
    .split("\n", 12)
    .join("\n")
    .slice(0, LONG_TEXT / 4);
  const size = text.length.toLocaleString();
  return (
    <div className={isOpen ? "long" : "long long-folded"}>
      <Shown text={isOpen ? text : start} kind={kind} />
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
