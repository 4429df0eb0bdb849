import { totalmem, cpus } from "node:os";
import type { ChaosResult } from "./run-chaos";
import { promises, rules } from "./verdict";

/** A run, as people read it: Markdown. */
export function reportOf(result: ChaosResult): string {
  const { options, verdict, happened, hints, fed, begun, hostsStarted, notes, tookMs } = result;
  const minutes = String(options.minutes);
  const without = options.without.length === 0 ? "" : ` Without: ${options.without.join(", ")}.`;
  const lines = [
    `# Chaos: ${minutes} min, seed ${String(options.seed)}: ${verdict.isGood ? "nothing broken" : "BROKEN"}`,
    "",
    `\`npm run chaos -- --minutes ${minutes} --seed ${String(options.seed)} --hosts ${String(options.hosts)}\`, ` +
      `${(tookMs / 1_000).toFixed(0)} s with its end; ${String(cpus().length)} processors, ` +
      `${(totalmem() / 2 ** 30).toFixed(0)} GiB, Node ${process.versions.node}.${without}`,
    "",
    `${String(fed.tasks)} tasks by ${String(fed.calls)} enqueues (${String(fed.failed)} without an answer and sent again, ` +
      `${String(fed.repeated)} repeated, ${String(fed.sameKey)} keys again); ${String(begun)} begins on ${String(hostsStarted)} hosts. ` +
      `Hints: ${String(hints.sent)} sent, ${String(hints.lost)} lost, ${String(hints.doubled)} doubled, ${String(hints.late)} late.`,
    "",
    "| trouble | times |",
    "| --- | --- |",
    ...[...happened].sort().map(([name, times]) => `| ${name} | ${String(times)} |`),
    "",
    "| rule | looked at | broken | figures |",
    "| --- | --- | --- | --- |",
  ];
  for (const rule of rules) {
    const { checked, broken, figure } = verdict.row(rule);
    lines.push(
      `| ${rule}: ${promises[rule]} | ${String(checked)} | ${String(broken)} | ${figure} |`,
    );
  }
  const broken = rules.flatMap((rule) =>
    verdict.row(rule).some.map((detail) => `- ${rule}: ${detail}`),
  );
  if (broken.length > 0) lines.push("", "Broken:", "", ...broken);
  if (notes.length > 0) lines.push("", ...notes.map((note) => `- ${note}`));
  return `${lines.join("\n")}\n`;
}

/** One line of a table: how soon a planted fault was found, and by which rules. */
export function plantRow({ plant, foundMs, verdict }: ChaosResult): string {
  const found = foundMs === null ? "not found" : `${(foundMs / 1_000).toFixed(0)} s`;
  const by = rules.filter((rule) => verdict.row(rule).broken > 0);
  const [first] = by.flatMap((rule) => verdict.row(rule).some);
  return `| ${String(plant)} | ${found} | ${by.join("; ")} | ${first ?? ""} |`;
}
