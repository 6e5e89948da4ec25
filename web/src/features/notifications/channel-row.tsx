import { type ReactNode, useState } from "react";
import { send } from "../../api/client.ts";
import { Button } from "../../ui/button.tsx";
import { channelName } from "./settings-words.ts";

export interface ChannelRowProps {
  readonly channel: string;
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
}

/** One channel: whether it tells of questions, and a message to try it. */
export function ChannelRow({ channel, isOn, onChange }: ChannelRowProps): ReactNode {
  const [said, setSaid] = useState("");
  const [isSending, setSending] = useState(false);
  const name = channelName(channel);
  const test = async (): Promise<void> => {
    setSending(true);
    setSaid("");
    setSaid(await sendTest(channel));
    setSending(false);
  };
  return (
    <div>
      <div className="notifications-channel">
        <label className="notifications-check">
          <input type="checkbox" checked={isOn} onChange={(event) => onChange(event.target.checked)} />
          {name}
        </label>
        <Button
          small
          label={`Send a test message by ${name}`}
          off={isSending ? "Sending…" : undefined}
          onClick={() => test().catch(() => setSending(false))}
        >
          Send a test
        </Button>
      </div>
      <p className="muted small" role="status">
        {said}
      </p>
    </div>
  );
}

async function sendTest(channel: string): Promise<string> {
  const answer = await send(`channels/${encodeURIComponent(channel)}/test`, { method: "POST", json: {} });
  const { ok, reason, detail } = (await answer.json()) as {
    readonly ok?: boolean;
    readonly reason?: string;
    readonly detail?: string;
  };
  return ok === true
    ? "Sent. It can take a moment to arrive."
    : (reason ?? detail ?? "It could not be sent.");
}
