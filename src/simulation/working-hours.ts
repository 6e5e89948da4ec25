import { type Approver, type Shift, shiftOn } from "./approvers.ts";
import type { EventQueue } from "./event-queue.ts";
import type { Inbox, OpenQuestion, Reading } from "./inbox.ts";
import type { Measures } from "./measures.ts";
import { Random } from "./random.ts";
import { DAY_MS } from "./scenario.ts";

/** What happens to one approver. */
export type ApproverEvent =
  | { readonly kind: "shift"; readonly approver: number; readonly shift: Shift }
  | { readonly kind: "notice"; readonly approver: number; readonly question?: OpenQuestion }
  | { readonly kind: "voted"; readonly approver: number; readonly reading: Reading };

/** What somebody says to a question. */
interface Verdict {
  readonly confirmed: boolean;
  readonly grant: boolean;
}

interface Person {
  readonly approver: Approver;
  shiftEnds: number;
  state: "off" | "idle" | "occupied";
}

/**
 * When approvers look at their questions. Somebody who has finished one reads the next at once. Somebody who has nothing
 * to do notices a new one after their reaction time; for each vote that a question needs, one of them is chosen at random.
 */
export class WorkingHours {
  readonly #people: readonly Person[];
  readonly #idle = new Map<string, number[]>();
  readonly #inbox: Inbox;
  readonly #events: Pick<EventQueue<ApproverEvent>, "add">;
  readonly #measures: Measures;
  readonly #end: number;
  readonly #lots: Random;
  readonly #paces: readonly Random[];
  readonly #absences: readonly Random[];

  constructor(input: {
    readonly approvers: readonly Approver[];
    readonly inbox: Inbox;
    readonly events: Pick<EventQueue<ApproverEvent>, "add">;
    readonly measures: Measures;
    readonly end: number;
    readonly seed: number;
  }) {
    const { approvers, seed } = input;
    this.#people = approvers.map((approver) => ({ approver, shiftEnds: 0, state: "off" }));
    this.#inbox = input.inbox;
    this.#events = input.events;
    this.#measures = input.measures;
    this.#end = input.end;
    this.#lots = new Random(seed, "lots");
    this.#paces = approvers.map((_, index) => new Random(seed, `pace ${index}`));
    this.#absences = approvers.map((_, index) => new Random(seed, `absence ${index}`));
  }

  /** Plans everybody's shifts of one day, by its 00:00 UTC. */
  plan(dayStart: number, now: number): void {
    for (const [index, { approver }] of this.#people.entries()) {
      const shift = shiftOn(dayStart, approver, this.#absences[index] as Random);
      if (shift === undefined || shift.to <= now) continue;
      this.#events.add(Math.max(shift.from, now), { kind: "shift", approver: index, shift });
    }
  }

  /** The shifts of days that have begun somewhere before the first moment. */
  begin(start: number): void {
    this.plan(start - DAY_MS, start);
    this.plan(start, start);
  }

  startShift(now: number, { approver: index, shift }: ApproverEvent & { readonly kind: "shift" }): void {
    const person = this.#personAt(index);
    person.shiftEnds = shift.to;
    this.#measures.present(now, index, Math.min(shift.to, this.#end) - now);
    if (person.state === "occupied") return;
    const idle = this.#idleOf(person.approver.kind);
    const place = idle.indexOf(index);
    if (place !== -1) idle.splice(place, 1);
    this.#tell(now, index);
  }

  /** The approver looks at the inbox. */
  look(now: number, index: number, toldOf?: OpenQuestion): void {
    const person = this.#personAt(index);
    if (now >= person.shiftEnds) {
      person.state = "off";
      if (toldOf !== undefined) this.wake(now, toldOf);
      return;
    }
    const { team } = person.approver;
    const reading = this.#inbox.take(person.approver);
    if (reading === undefined) {
      person.state = "idle";
      this.#idleOf(person.approver.kind).push(index);
      return;
    }
    person.state = "occupied";
    const took = Math.round(this.#paceOf(index).spread(team.handlingMs));
    this.#measures.busy(now, index, took);
    this.#events.add(now + took, { kind: "voted", approver: index, reading });
  }

  /** Tells as many idle people as the question needs. */
  wake(now: number, question: OpenQuestion): void {
    for (const [requirement, count] of question.free.entries())
      for (let vote = 0; vote < count && this.#wakeOne(now, question, requirement); vote += 1);
  }

  /** Does this person approve, and grant what is offered? */
  verdict(index: number, { grants, granted }: OpenQuestion): Verdict {
    const { team } = this.#personAt(index).approver;
    const pace = this.#paceOf(index);
    const confirmed = pace.chance(team.approves);
    const wants = pace.chance(team.grants) && grants !== undefined;
    return { confirmed, grant: confirmed && (granted ?? wants) };
  }

  #wakeOne(now: number, question: OpenQuestion, requirement: number): boolean {
    const lists = this.#inbox.kindsFor(question, requirement).map((kind) => this.#idleOf(kind));
    for (;;) {
      const count = lists.reduce((sum, { length }) => sum + length, 0);
      if (count === 0) return false;
      const index = takeNth(lists, this.#lots.below(count));
      const person = this.#personAt(index);
      if (now < person.shiftEnds) {
        this.#tell(now, index, question);
        return true;
      }
      person.state = "off";
    }
  }

  #tell(now: number, index: number, question?: OpenQuestion): void {
    const person = this.#personAt(index);
    person.state = "occupied";
    const reaction = Math.round(this.#paceOf(index).spread(person.approver.team.reactionMs));
    const event = { kind: "notice", approver: index } as const;
    this.#events.add(now + reaction, question === undefined ? event : { ...event, question });
  }

  #personAt(index: number): Person {
    return this.#people[index] as Person;
  }

  #paceOf(index: number): Random {
    return this.#paces[index] as Random;
  }

  #idleOf(kind: string): number[] {
    const known = this.#idle.get(kind) ?? [];
    this.#idle.set(kind, known);
    return known;
  }
}

/** Takes the n-th of several lists out of its list; the last of the list takes its place. */
function takeNth(lists: readonly number[][], nth: number): number {
  let place = nth;
  for (const list of lists) {
    if (place >= list.length) {
      place -= list.length;
      continue;
    }
    const found = list[place] as number;
    const last = list.pop() as number;
    if (place < list.length) list[place] = last;
    return found;
  }
  throw new RangeError(`There are fewer than ${nth + 1}.`);
}
