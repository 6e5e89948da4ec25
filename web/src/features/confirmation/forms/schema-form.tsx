import { type ReactNode, useId } from "react";
import { plainWords, Words } from "../../../ui/words.tsx";
import type { Field, Form, Typed } from "./form-fields.ts";

export interface SchemaFormProps {
  readonly form: Form;
  readonly typed: Typed;
  readonly faults: { readonly [name: string]: string };
  readonly onType: (typed: Typed) => void;
}

/** A form for a JSON value: a field for each member, and JSON itself where no simpler field fits. */
export function SchemaForm({ form, typed, faults, onType }: SchemaFormProps): ReactNode {
  return (
    <div className="form">
      {form.fields.map((field) => (
        <FormField
          key={field.name}
          field={field}
          text={typed[field.name] ?? field.initial}
          fault={faults[field.name]}
          onType={(text) => onType({ ...typed, [field.name]: text })}
        />
      ))}
    </div>
  );
}

interface FormFieldProps {
  readonly field: Field;
  readonly text: string;
  readonly fault: string | undefined;
  readonly onType: (text: string) => void;
}

function FormField({ field, text, fault, onType }: FormFieldProps): ReactNode {
  const id = useId();
  const label = (
    <>
      <Words text={field.label} maxLength={120} />
      {field.required ? "" : " (optional)"}
    </>
  );
  const input = <Input id={id} field={field} text={text} fault={fault} onType={onType} />;
  return (
    <div className={`field field-${field.kind}`}>
      {field.kind === "boolean" ? (
        <label className="check">
          {input}
          {label}
        </label>
      ) : (
        <>
          <label htmlFor={id}>{label}</label>
          {input}
        </>
      )}
      {field.note === undefined ? null : (
        <span className="field-note">
          <Words text={field.note} maxLength={500} />
        </span>
      )}
      {fault === undefined ? null : (
        <span className="field-fault" id={`${id}-fault`} role="alert">
          {fault}
        </span>
      )}
    </div>
  );
}

function Input({ id, field, text, fault, onType }: FormFieldProps & { readonly id: string }): ReactNode {
  const shared = {
    id,
    "aria-invalid": fault !== undefined,
    ...(fault === undefined ? {} : { "aria-describedby": `${id}-fault` }),
  };
  switch (field.kind) {
    case "boolean":
      return (
        <input
          {...shared}
          type="checkbox"
          checked={text === "true"}
          onChange={(event) => onType(String(event.target.checked))}
        />
      );
    case "choice":
      return (
        <select {...shared} className="input" value={text} onChange={(event) => onType(event.target.value)}>
          {text === "" ? <option value="">Choose…</option> : null}
          {(field.choices ?? []).map((choice) => (
            <option key={JSON.stringify(choice)} value={JSON.stringify(choice)}>
              {plainWords(typeof choice === "string" ? choice : JSON.stringify(choice))}
            </option>
          ))}
        </select>
      );
    case "json":
    case "text":
      return (
        <textarea
          {...shared}
          className={field.kind === "json" ? "input input-code" : "input"}
          dir={field.kind === "json" ? "ltr" : "auto"}
          spellCheck={field.kind === "text"}
          rows={rowsOf(text)}
          value={text}
          onChange={(event) => onType(event.target.value)}
        />
      );
    case "number":
    case "integer":
      return (
        <input
          {...shared}
          className="input"
          inputMode="decimal"
          autoComplete="off"
          value={text}
          onChange={(event) => onType(event.target.value)}
        />
      );
  }
}

const LINE = 80;
const MOST_ROWS = 24;

/** High enough for what is in it. */
function rowsOf(text: string): number {
  const lines = text
    .split("\n")
    .reduce((count, line) => count + Math.max(1, Math.ceil(line.length / LINE)), 0);
  return Math.min(MOST_ROWS, lines);
}
