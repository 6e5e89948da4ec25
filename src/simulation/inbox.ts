import { type Counting, type GrantLimits, mayDecide, type Ruled } from "../engine/index.ts";
import type { Approver } from "./approvers.ts";
import { EventQueue } from "./event-queue.ts";

/** A question that people are asked. */
export interface OpenQuestion {
  readonly id: string;
  /** The caller and the key of its call. */
  readonly ref: { readonly by: string; readonly key: string };
  readonly requestedAt: number;
  readonly expiresAt: number;
  readonly rule: Ruled;
  readonly grants: GrantLimits | undefined;
  /** For each requirement: votes that are missing and that nobody is about to give. */
  readonly free: number[];
  readonly voters: Set<string>;
  /** How many of its escalations have been reached. */
  reached: number;
  isOpen: boolean;
  /** What the first approval said: all approvers of a question must grant the same. */
  granted: boolean | undefined;
}

/** A question that somebody reads, and the requirement that their approval would count for. */
export interface Reading {
  readonly question: OpenQuestion;
  readonly requirement: number;
}

/**
 * What is open, as the approvers see it: the nearest deadline first. Who may decide is the engine's answer
 * (`mayDecide`), asked once for all people with the same rights. Nobody reads what enough others already read.
 */
export class Inbox {
  readonly #directory: Counting["directory"];
  readonly #examples = new Map<string, Approver>();
  readonly #listed = new Map<string, EventQueue<OpenQuestion>>();
  readonly #known = new Map<string, readonly string[]>();
  #open = 0;

  constructor(approvers: readonly Approver[], directory: Counting["directory"]) {
    this.#directory = directory;
    for (const approver of approvers) this.#examples.set(approver.kind, approver);
    for (const kind of this.#examples.keys()) this.#listed.set(kind, new EventQueue());
  }

  /** How many questions are open. */
  get length(): number {
    return this.#open;
  }

  add(question: OpenQuestion): void {
    this.#open += 1;
    this.#list(question, new Set(this.#kindsOn(question)));
  }

  close(question: OpenQuestion): void {
    if (!question.isOpen) return;
    question.isOpen = false;
    this.#open -= 1;
  }

  /** From now on those people may decide, too, whom the next escalation names. */
  escalate(question: OpenQuestion): void {
    const before = new Set(this.#kindsOn(question));
    question.reached += 1;
    const added = this.#kindsOn(question).filter((kind) => !before.has(kind));
    this.#list(question, new Set(added));
  }

  /** The kinds of people whose approval would count for a requirement now. */
  kindsFor(question: OpenQuestion, requirement: number): readonly string[] {
    const { requirements, escalations = [] } = question.rule;
    const reached = escalations.slice(0, question.reached);
    const key = JSON.stringify([
      requirements[requirement],
      reached.map(({ to, group, fills }) => [to, group, fills]),
    ]);
    const found = this.#known.get(`${requirement} ${key}`) ?? this.#judge(question, requirement);
    this.#known.set(`${requirement} ${key}`, found);
    return found;
  }

  /** Can any of these people ever decide it? */
  canBeDecided(question: OpenQuestion): boolean {
    const { escalations = [] } = question.rule;
    const later = { ...question, reached: escalations.length };
    return question.free.every(
      (count, requirement) => count === 0 || this.kindsFor(later, requirement).length > 0,
    );
  }

  /** The question that this person reads next. */
  take(approver: Approver): Reading | undefined {
    const listed = this.#listed.get(approver.kind);
    const passed: OpenQuestion[] = [];
    let found: Reading | undefined;
    for (let next = listed?.take(); next !== undefined; next = listed?.take()) {
      const question = next.value;
      const requirement = this.#freeFor(question, approver);
      if (requirement === undefined) continue;
      if (question.voters.has(approver.principal.id)) {
        passed.push(question);
        continue;
      }
      question.free[requirement] = (question.free[requirement] ?? 0) - 1;
      // Others of the same rights may be needed, too.
      passed.push(question);
      found = { question, requirement };
      break;
    }
    for (const question of passed) listed?.add(question.expiresAt, question);
    return found;
  }

  /** The vote did not fill the place: somebody else must. */
  release({ question, requirement }: Reading): void {
    question.free[requirement] = (question.free[requirement] ?? 0) + 1;
    this.#list(question, new Set(this.kindsFor(question, requirement)));
  }

  #freeFor(question: OpenQuestion, { kind }: Approver): number | undefined {
    if (!question.isOpen) return undefined;
    const place = question.free.findIndex(
      (count, requirement) => count > 0 && this.kindsFor(question, requirement).includes(kind),
    );
    return place === -1 ? undefined : place;
  }

  #kindsOn(question: OpenQuestion): readonly string[] {
    return question.free.flatMap((_, requirement) => this.kindsFor(question, requirement));
  }

  #list(question: OpenQuestion, kinds: ReadonlySet<string>): void {
    for (const kind of kinds) this.#listed.get(kind)?.add(question.expiresAt, question);
  }

  #judge({ rule, reached }: OpenQuestion, requirement: number): readonly string[] {
    const one = rule.requirements[requirement];
    if (one === undefined) return [];
    const escalations = (rule.escalations ?? [])
      .slice(0, reached)
      .filter(({ fills }) => fills.includes(requirement))
      .map((escalation) => ({ ...escalation, fills: [0], reached: true }));
    const alone: Ruled = { ...rule, requirements: [one], escalations };
    return [...this.#examples.entries()]
      .filter(([, { principal }]) => mayDecide(alone, principal, { directory: this.#directory }))
      .map(([kind]) => kind);
  }
}
