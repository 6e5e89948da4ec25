import "./delegations.css";
import { type ReactNode, useState } from "react";
import { ask, client } from "../../api/client.ts";
import { Button } from "../../ui/button.tsx";
import { tellDone } from "../../ui/messages.ts";
import { readDelegation, type Typed } from "./delegation-words.ts";

const NOTHING: Typed = { to: "", until: "", tools: "", apps: "" };

const FIELDS: readonly (readonly [name: keyof Typed, label: string, hint: string])[] = [
  ["to", "Who votes for you", "Their login, for example bob"],
  ["until", "Until", ""],
  ["tools", "Only these tools (optional)", "pay*, refund"],
  ["apps", "Only these apps (optional)", "finance"],
];

/** Lets somebody else vote for whoever is logged in, until a time. */
export function DelegationForm({ onMade }: { readonly onMade: () => void }): ReactNode {
  const [typed, setTyped] = useState(NOTHING);
  const [fault, setFault] = useState("");
  const [isSending, setSending] = useState(false);
  const make = async (): Promise<void> => {
    const read = readDelegation(typed, Date.now());
    setFault(read.ok ? "" : read.fault);
    if (!read.ok) return;
    setSending(true);
    const made = await ask(client.delegations.make(read.wanted));
    setSending(false);
    if (!made.ok) return setFault(made.problem.detail);
    tellDone("Done. They find your questions in their inbox.");
    setTyped(NOTHING);
    onMade();
  };
  return (
    <form
      className="delegation-form"
      onSubmit={(event) => {
        event.preventDefault();
        make().catch(() => undefined);
      }}
    >
      {FIELDS.map(([name, label, hint]) => (
        <label className="field" key={name}>
          <span className="label">{label}</span>
          <input
            className="input"
            type={name === "until" ? "datetime-local" : "text"}
            placeholder={hint}
            value={typed[name]}
            onChange={(event) => setTyped({ ...typed, [name]: event.target.value })}
          />
        </label>
      ))}
      <div className="row">
        <Button look="ink" off={isSending ? "Sending…" : undefined} onClick={make}>
          Delegate
        </Button>
      </div>
      <p className="field-fault form-fault" role="status">
        {fault}
      </p>
    </form>
  );
}
