import "./notifications.css";
import type { NotificationSettings } from "countersign/client";
import { type ReactNode, useState } from "react";
import { ask, client } from "../../api/client.ts";
import { Button } from "../../ui/button.tsx";
import { ChannelRow } from "./channel-row.tsx";
import { type Typed, toSettings, toTyped } from "./settings-words.ts";

export interface SettingsFormProps {
  readonly settings: NotificationSettings;
  readonly channels: readonly string[];
}

/** A person's own channels, quiet hours and daily time. */
export function SettingsForm({ settings, channels }: SettingsFormProps): ReactNode {
  const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const [typed, setTyped] = useState(() => toTyped(settings, here));
  const [said, setSaid] = useState("");
  const change = (over: Partial<Typed>): void => {
    setTyped({ ...typed, ...over });
    setSaid("");
  };
  const save = async (): Promise<void> => {
    const saved = await ask(client.notifications.set(toSettings(typed)));
    setSaid(saved.ok ? "Saved." : saved.problem.detail);
  };
  const turn = (channel: string, isOn: boolean): void => {
    const others = typed.off.filter((name) => name !== channel);
    change({ off: isOn ? others : [...others, channel] });
  };
  return (
    <form
      className="notifications-form"
      onSubmit={(event) => {
        event.preventDefault();
        save().catch(() => undefined);
      }}
    >
      <fieldset>
        <legend>How you are notified about requests</legend>
        {channels.length === 0 ? (
          <p className="muted">This server has no channels that reach people.</p>
        ) : null}
        {channels.map((channel) => (
          <ChannelRow
            key={channel}
            channel={channel}
            isOn={!typed.off.includes(channel)}
            onChange={(isOn) => turn(channel, isOn)}
          />
        ))}
      </fieldset>
      <Times typed={typed} change={change} />
      <div className="row">
        <Button look="ink" onClick={() => save().catch(() => undefined)}>
          Save
        </Button>
        <span className="muted" role="status">
          {said}
        </span>
      </div>
    </form>
  );
}

interface TimesProps {
  readonly typed: Typed;
  readonly change: (over: Partial<Typed>) => void;
}

function Times({ typed, change }: TimesProps): ReactNode {
  const { hasQuiet, hasDaily } = typed;
  return (
    <fieldset>
      <legend>When you are notified</legend>
      <label className="notifications-check">
        <input
          type="checkbox"
          checked={hasQuiet}
          onChange={(event) => change({ hasQuiet: event.target.checked })}
        />
        Quiet hours: tell me only what is urgent
      </label>
      {hasQuiet ? (
        <div className="notifications-times">
          <Field label="Quiet from" type="time" value={typed.from} onChange={(from) => change({ from })} />
          <Field label="Quiet until" type="time" value={typed.to} onChange={(to) => change({ to })} />
        </div>
      ) : null}
      <label className="notifications-check">
        <input
          type="checkbox"
          checked={hasDaily}
          onChange={(event) => change({ hasDaily: event.target.checked })}
        />
        Once a day: send me one message with all that waits
      </label>
      {hasDaily ? (
        <div className="notifications-times">
          <Field label="Daily at" type="time" value={typed.at} onChange={(at) => change({ at })} />
        </div>
      ) : null}
      {hasQuiet || hasDaily ? (
        <div className="notifications-times">
          <Field
            label="Time zone"
            type="text"
            value={typed.timeZone}
            onChange={(timeZone) => change({ timeZone })}
          />
        </div>
      ) : null}
    </fieldset>
  );
}

interface FieldProps {
  readonly label: string;
  readonly type: "time" | "text";
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function Field({ label, type, value, onChange }: FieldProps): ReactNode {
  return (
    <label className="field">
      <span className="label">{label}</span>
      <input className="input" type={type} value={value} onChange={(event) => onChange(event.target.value)} />
    </label>
  );
}
