import type { ReactNode } from "react";

const HUES = 6;

/** Somebody's initials in a circle, in a colour that stays theirs. The name stands beside it. */
export function Face({ name }: { readonly name: string }): ReactNode {
  return (
    <span className={`face face-${hueOf(name)}`} aria-hidden="true">
      {initialsOf(name)}
    </span>
  );
}

/** `ana.lima@corp.example` is AL, `ana` is A; a name without letters is a dot. */
export function initialsOf(name: string): string {
  const [local = ""] = name.split("@", 1);
  const words = local.match(/\p{L}+/gu) ?? [];
  const letters = words.slice(0, 2).map((word) => Array.from(word)[0] ?? "");
  return letters.join("").toUpperCase() || "·";
}

function hueOf(name: string): number {
  let sum = 0;
  for (const character of name) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % 997;
  return sum % HUES;
}
