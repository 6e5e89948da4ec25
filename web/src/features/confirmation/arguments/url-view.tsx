import type { ReactNode } from "react";
import { Words } from "../../../ui/words.tsx";

/** The scheme and who is named before the host, the host, and the rest. */
const PARTS = /^([a-z]+:\/\/(?:[^/?#]*@)?)([^/?#:]+)(.*)$/is;

/** An address with its host stressed: that is where it leads, whatever stands around it. It is no link. */
export function UrlView({ text }: { readonly text: string }): ReactNode {
  const [, before, host, after] = PARTS.exec(text) ?? [];
  if (before === undefined || host === undefined || after === undefined) return <Words text={text} block />;
  return (
    <span className="url">
      <Words text={before} />
      <strong>
        <Words text={host} />
      </strong>
      {after === "" ? null : <Words text={after} />}
    </span>
  );
}
