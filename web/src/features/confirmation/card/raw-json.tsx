import { type ReactNode, useState } from "react";
import { Button } from "../../../ui/button.tsx";
import { Words } from "../../../ui/words.tsx";

/** The same as it is stored, one click away. */
export function RawJson({
  value,
  label = "Raw JSON",
}: {
  readonly value: unknown;
  readonly label?: string;
}): ReactNode {
  const [isOpen, setOpen] = useState(false);
  return (
    <div className="raw">
      <Button look="quiet" small expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {isOpen ? `Hide ${label}` : label}
      </Button>
      {isOpen ? (
        <pre className="raw-text">
          <Words text={JSON.stringify(value, undefined, 2)} block />
        </pre>
      ) : null}
    </div>
  );
}
