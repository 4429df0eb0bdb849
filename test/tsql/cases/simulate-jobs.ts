import { seededRandom } from "../../../shared/testing/seeded-random";
import { sample } from "../../tsql-server/schedule/sample";
import { differentEnds } from "./ends";
import { describeFinding, exploreCase } from "./explore-case";
import { allCases } from "./list/all";
import type { ModelCase } from "./model-case";
import { judgePlan, otherPlansOf } from "./other-plans";
import { describePlan } from "./plan-names";
import { scenarioOf } from "./scenario";
import { engineNames, isLongOn, onPlan, plainVariant, switchedVariants } from "./variants";
import type { Variant } from "./variants";

/* What a long run does: one case on one engine at a time, in an order that its seed decides. */

export interface Job {
  /** Every order of its steps; every other plan of its accesses; or the ends with orders left out, and without. */
  readonly kind: "orders" | "plans" | "ends";
  readonly model: ModelCase;
  readonly variant: Variant;
}

export interface JobLimits {
  readonly seed: number;
  readonly msMax: number;
}

interface PlanThatMatters {
  readonly isAllowed: boolean;
  /** The hint that forbids it is what a promise rests on. */
  readonly breaksPromise: boolean;
  readonly problem: string;
  readonly at: string;
}

/** The outcome of the jobs so far. */
export class Tally {
  complete = 0;
  sampled = 0;
  runs = 0;
  failed = 0;
  /** Cases of which both searches come to the same ends, and those too large for the one that leaves nothing out. */
  sameEnds = 0;
  endsIncomplete = 0;
  readonly failedCases = new Set<string>();
  /** Plans on which everything is as on the rule's, and those that couldn't be searched to the end. */
  plansAlike = 0;
  plansIncomplete = 0;
  /** Plans on which a caller waits, or the outcome is another allowed one, by name, with the first case that shows it. */
  readonly plansThatMatter = new Map<string, PlanThatMatters>();

  toString(): string {
    const orders = `${String(this.complete)} searched to the end, ${String(this.sampled)} by ${String(this.runs)} random orders`;
    const waiting = [...this.plansThatMatter.values()];
    const open = waiting.filter(({ isAllowed }) => isAllowed).length;
    const broken = waiting.filter(({ breaksPromise }) => breaksPromise).length;
    const plans = `other plans: ${String(this.plansAlike)} change nothing, ${String(waiting.length)} make callers wait or come to another end (hints forbid ${String(waiting.length - open)} of them; a promise rests on the hint in ${String(broken)}), ${String(this.plansIncomplete)} not searched to the end`;
    const ends = `the same ends with orders left out and without: ${String(this.sameEnds)}, ${String(this.endsIncomplete)} not searched to the end`;
    return `${orders}\n${plans}\n${ends}\n${String(this.failed)} failed`;
  }
}

/**
 * Cases that are too large for every run of the tests, on each engine; every case with each doubt decided the other way, on
 * every other plan, and to the same ends with orders left out and without. Or one case in all ways.
 */
export function jobsFor(name: string | undefined): Job[] {
  const models = allCases.filter((model) => name === undefined || model.name === name);
  return models.flatMap((model) =>
    engineNames.flatMap((engine): Job[] => {
      const plain = plainVariant(engine);
      const isLong = isLongOn(model, engine);
      const variants = [
        ...(name !== undefined || isLong ? [plain] : []),
        ...switchedVariants(engine),
      ];
      const orders = variants.map((variant) => ({ kind: "orders" as const, model, variant }));
      const others = (["plans", "ends"] as const).map((kind) => ({ kind, model, variant: plain }));
      return isLong ? orders : [...orders, ...others];
    }),
  );
}

export function shuffle(jobs: readonly Job[], seed: number): Job[] {
  const random = seededRandom(seed);
  return jobs
    .map((job) => ({ job, rank: random() }))
    .sort((left, right) => left.rank - right.rank)
    .map(({ job }) => job);
}

const runs = { orders: runOrders, plans: runPlans, ends: runEnds };

/** Does one job; gives the text to be printed at once: faults. A case that was told before is told in short. */
export function runJob(job: Job, limits: JobLimits, tally: Tally): string[] {
  const faults = runs[job.kind](job, limits, tally);
  tally.failed += faults.length;
  return faults.map((fault) => {
    const isNew = !tally.failedCases.has(job.model.name);
    tally.failedCases.add(job.model.name);
    return isNew ? fault : fault.split("\n").slice(0, 2).join("\n");
  });
}

/** To the end where that is possible in time, else by random orders of fresh seeds. */
function runOrders({ model, variant }: Job, { seed, msMax }: JobLimits, tally: Tally): string[] {
  const { finding, isComplete } = exploreCase(model, variant, { statesMax: 400_000, msMax });
  if (finding !== undefined) return [describeFinding(model, variant, finding)];
  if (isComplete) {
    tally.complete += 1;
    return [];
  }
  const found = sample(scenarioOf(model, variant), { seed, count: 200 });
  if (found.finding !== undefined) return [describeFinding(model, variant, found.finding)];
  tally.sampled += 1;
  tally.runs += found.runs;
  return [];
}

function runPlans({ model, variant }: Job, { msMax }: JobLimits, tally: Tally): string[] {
  const bounds = { statesMax: 50_000, msMax };
  const { finding } = exploreCase(model, variant, bounds);
  if (finding !== undefined) return [describeFinding(model, variant, finding)];
  const faults: string[] = [];
  for (const plan of otherPlansOf(model, variant, bounds)) {
    const verdict = judgePlan({ model, variant }, plan, bounds);
    switch (verdict.kind) {
      case "alike":
        tally.plansAlike += 1;
        break;
      case "incomplete":
        tally.plansIncomplete += 1;
        break;
      case "hinted":
      case "waits":
        notePlan(tally, describePlan(plan), {
          isAllowed: plan.isAllowed,
          breaksPromise: verdict.kind === "hinted" && verdict.breaksPromise,
          problem: verdict.problem,
          at: `${model.name} (${variant.name})`,
        });
        break;
      case "unsafe":
        faults.push(describeFinding(model, onPlan(variant, plan), verdict.finding));
    }
  }
  return faults;
}

function runEnds({ model, variant }: Job, { msMax }: JobLimits, tally: Tally): string[] {
  const ends = differentEnds(scenarioOf(model, variant), { statesMax: 5_000, msMax });
  if (ends === undefined) {
    tally.endsIncomplete += 1;
    return [];
  }
  if (ends.different.length === 0) tally.sameEnds += 1;
  return ends.different.map(
    (end) => `${model.name} (${variant.name}): only one search comes to this end\n${end}`,
  );
}

/** Of several cases the first that breaks a promise, else the first. */
function notePlan({ plansThatMatter }: Tally, name: string, about: PlanThatMatters): void {
  const known = plansThatMatter.get(name);
  if (known === undefined || (about.breaksPromise && !known.breaksPromise))
    plansThatMatter.set(name, about);
}
