import { type ReactNode, useState } from "react";
import { Button } from "../../ui/button.tsx";

/** Where one writes. Enter sends, Shift+Enter makes a new line. */
export function Composer({
  off,
  onSend,
}: {
  readonly off: string | undefined;
  readonly onSend: (text: string) => void;
}): ReactNode {
  const [text, setText] = useState("");
  const why = off ?? (text.trim() === "" ? "Write something first." : undefined);
  const send = (): void => {
    if (why !== undefined) return;
    onSend(text.trim());
    setText("");
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
