import { type ReactNode, useRef } from "react";
import { Button } from "../../ui/button.tsx";
import { useDraft } from "../confirmation/forms/drafts.ts";

/** Where one writes. Enter sends, Shift+Enter makes a new line. */
export function Composer({
  session,
  off,
  onSend,
}: {
  /** What was typed is kept with it. */
  readonly session: string;
  readonly off: string | undefined;
  /** Resolves to whether it arrived; if not, the text goes back into the field. */
  readonly onSend: (text: string) => Promise<boolean>;
}): ReactNode {
  const [text, setText] = useDraft(session, "message", "");
  const typed = useRef(text);
  typed.current = text;
  const why = off ?? (text.trim() === "" ? "Write something first." : undefined);
  const send = (): void => {
    if (why !== undefined) return;
    setText("");
    onSend(text.trim()).then(
      (isTaken) => isTaken || typed.current !== "" || setText(text),
      () => undefined,
    );
  };
  return (
    <form className="composer" onSubmit={(event) => event.preventDefault()}>
      <textarea
        className="input"
        aria-label="Message"
        placeholder="Message"
        dir="auto"
        rows={2}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
          event.preventDefault();
          send();
        }}
      />
      <Button look="ink" off={why} onClick={send}>
        Send
      </Button>
    </form>
  );
}
