import { describe, expect, test } from "@jest/globals";
import { commands } from "../../../shared/cli/commands";
import { descriptions } from "../../../shared/functions/api/openapi/descriptions";
import type { RouteName } from "../../../shared/functions/api/openapi/descriptions";

// Goal: a command and the route that does the same are described by one sentence, whichever face a person reads.

/** Commands whose whole work one route does. */
const pairs: readonly (readonly [command: string, route: RouteName])[] = [
  ["status", "api-status"],
  ["statistics", "api-statistics"],
  ["tasks", "api-tasks"],
  ["groups", "api-groups"],
  ["schedules", "api-schedules"],
  ["watermarks", "api-watermarks"],
  ["audit", "api-audit"],
  ["executions", "api-executions"],
  ["explain", "api-task"],
  ["batches", "api-batches"],
  ["failures", "api-failures"],
  ["pause", "api-pause"],
  ["resume", "api-resume"],
  ["stop", "api-stop"],
  ["cancel", "api-cancel"],
  ["redrive", "api-redrive"],
  ["reschedule", "api-reschedule"],
];

/** Commands that also show what they set. */
const setters: readonly (readonly [command: string, route: RouteName])[] = [
  ["limit", "api-limit"],
  ["rate", "api-rate"],
  ["owner", "api-owner"],
  ["watermark", "api-watermark"],
];

const sentenceOf = (name: string): string =>
  commands.find((command) => command.name === name)?.sentence ?? "";

describe("the sentence of a command", () => {
  test.each(pairs)("the command taskgate %s says what the route %s says", (command, route) => {
    expect(sentenceOf(command)).toBe(`${descriptions[route].summary}.`);
  });

  test.each(setters)("the command taskgate %s shows or sets what %s sets", (command, route) => {
    const { summary } = descriptions[route];
    expect(summary).toMatch(/^Sets /);
    expect(sentenceOf(command)).toBe(`${summary.replace("Sets", "Shows or sets")}.`);
  });
});
