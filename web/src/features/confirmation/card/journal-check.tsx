import { type ReactNode, useState } from "react";
import { ask, client, type Outcome } from "../../../api/client.ts";
import { Button } from "../../../ui/button.tsx";

type Checked = Outcome<Awaited<ReturnType<typeof client.confirmations.verify>>>;

/** Has the server check the journal of this session, and says what that proves and what it does not. */
export function JournalCheck({ id }: { readonly id: string }): ReactNode {
  const [checked, setChecked] = useState<Checked | "checking">();
  const check = (): void => {
    setChecked("checking");
    ask(client.confirmations.verify(id)).then(setChecked, () => setChecked(undefined));
  };
  if (checked === undefined || checked === "checking") {
    return (
      <Button small off={checked === undefined ? undefined : "Checking…"} onClick={check}>
        {checked === undefined ? "Verify the journal" : "Checking…"}
      </Button>
    );
  }
  if (!checked.ok) return <p role="status">The journal could not be checked. {checked.problem.detail}</p>;
  if (!checked.value.ok) {
    return (
      <p className="notice notice-warn" role="alert">
        The journal of this session does not verify: records were changed or are missing. Do not rely on what
        it says; an administrator can find out more with <code>countersign audit verify</code>.
      </p>
    );
  }
  return (
    <details className="journal-check small">
      <summary role="status">Verified just now by the server</summary>
      <p>
        Every record of this session follows from the one before it, and none was changed. This check cannot
        detect:
      </p>
      <ul>
        {checked.value.cannotDetect.map((limit) => (
          <li key={limit}>{limit}</li>
        ))}
      </ul>
    </details>
  );
}
