import { describe, expect, test } from "@jest/globals";
import { dateBlocks, planDateBlocks } from "../../../../shared/core/blocks/date-blocks";
import { listBlocks, planListBlocks } from "../../../../shared/core/blocks/list-blocks";
import { numericBlocks, planNumericBlocks } from "../../../../shared/core/blocks/numeric-blocks";
import { planObjectBlocks } from "../../../../shared/core/blocks/object-blocks";
import type { PlannedBlock } from "../../../../shared/core/blocks/planned-block";
import { takeBlocks } from "../../../../shared/core/blocks/take-blocks";
import type { JsonValue } from "../../../../shared/core/json";
import { seededRandom } from "../../../../shared/testing/seeded-random";
import { testSeed } from "../../../support/builders";

const seed = testSeed();
const day = 86_400_000;

/** Rounds of chance, each with draws of its own that come again with the seed. */
function rounds(body: (upTo: (max: number) => number) => void): void {
  for (let round = 0; round < 300; round += 1) {
    const next = seededRandom(seed * 1_000 + round);
    body((max) => Math.floor(next() * (max + 1)));
  }
}

/** Texts in their order; null: before all. */
function isBehind(mark: JsonValue, text: string): boolean {
  return typeof mark !== "string" || text > mark;
}

/** The day of an instant in a block. */
function dayOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value.slice(8, 10) : "";
}

describe("numeric blocks", () => {
  test("both ends belong to a block, the last one ends where the range does", () => {
    expect([...numericBlocks({ from: 1, to: 25, size: 10 })]).toEqual([
      { from: "1", to: "10" },
      { from: "11", to: "20" },
      { from: "21", to: "25" },
    ]);
    expect([...numericBlocks({ from: 7, to: 7, size: 10 })]).toEqual([{ from: "7", to: "7" }]);
    expect([...numericBlocks({ from: 8, to: 7, size: 10 })]).toEqual([]);
  });

  test("64 bits are exact, as bigint or as text", () => {
    const greatest = 2n ** 63n - 1n;
    expect([...numericBlocks({ from: greatest - 2n, to: String(greatest), size: 2 })]).toEqual([
      { from: "9223372036854775805", to: "9223372036854775806" },
      { from: "9223372036854775807", to: "9223372036854775807" },
    ]);
  });

  test("the numeric blocks tile the range, and none is larger than asked (property)", () => {
    rounds((upTo) => {
      const from = upTo(200) - 100;
      const to = from + upTo(300) - 20;
      const size = 1 + upTo(40);
      let next = BigInt(from);
      for (const block of numericBlocks({ from, to, size })) {
        expect(BigInt(block.from)).toBe(next);
        const numbers = BigInt(block.to) - next + 1n;
        expect(numbers >= 1n && numbers <= BigInt(size)).toBe(true);
        next = BigInt(block.to) + 1n;
      }
      expect(next).toBe(BigInt(Math.max(from, to + 1)));
    });
  });

  test.each([
    [{ from: 1.5, to: 2, size: 1 }, "from: expected a whole number of 64 bits"],
    [{ from: 2 ** 53, to: 2, size: 1 }, "from: expected a whole number of 64 bits"],
    [{ from: 1, to: "9223372036854775808", size: 1 }, "to: expected a whole number of 64 bits"],
    [{ from: 1, to: "x", size: 1 }, "to: expected a whole number of 64 bits"],
    [{ from: 1, to: 2, size: 0 }, "size: expected a whole number of at least 1 (0)"],
  ])("%j is refused", (range, message) => {
    expect(() => numericBlocks(range)).toThrow(message);
  });
});

describe("numeric blocks behind a watermark", () => {
  const plan = (request: Parameters<typeof planNumericBlocks>[0], stands: JsonValue) => [
    ...planNumericBlocks(request, stands),
  ];

  test("numeric blocks begin at the start, then behind the last one; the watermark is the last number", () => {
    expect(plan({ to: 15, size: 10 }, null)).toEqual([
      { payload: { from: "1", to: "10" }, watermark: { last: "10" }, isNew: true },
      { payload: { from: "11", to: "15" }, watermark: { last: "15" }, isNew: true },
    ]);
    expect(plan({ to: 15, size: 10, start: 12 }, null)).toMatchObject([
      { payload: { from: "12", to: "15" } },
    ]);
    expect(plan({ to: 20, size: 10, start: 12 }, { last: "15" })).toMatchObject([
      { payload: { from: "16", to: "20" } },
    ]);
  });

  test("numeric blocks of nothing new are none, with an overlap as well", () => {
    for (const to of [14, 15]) {
      expect(plan({ to, size: 10, overlap: 5 }, { last: "15" })).toEqual([]);
    }
    expect(plan({ to: 0, size: 10 }, null)).toEqual([]);
  });

  test("an overlap reads the items before it once more, never before the start, and the watermark never goes back", () => {
    expect(plan({ to: 20, size: 4, overlap: 6 }, { last: "15" })).toEqual([
      { payload: { from: "10", to: "13" }, watermark: { last: "15" }, isNew: false },
      { payload: { from: "14", to: "17" }, watermark: { last: "17" }, isNew: true },
      { payload: { from: "18", to: "20" }, watermark: { last: "20" }, isNew: true },
    ]);
    expect(plan({ to: 3, size: 4, overlap: 6 }, { last: "2" })).toMatchObject([
      { payload: { from: "1", to: "3" } },
    ]);
  });

  test("a watermark of other blocks is refused, saying so", () => {
    for (const stands of [{ until: "2026-01-01" }, [1], 7, { last: "x" }, { last: true }]) {
      expect(() => plan({ to: 3, size: 4 }, stands)).toThrow("watermark: expected");
    }
    expect(plan({ to: 3, size: 4 }, { last: 2 })).toHaveLength(1);
  });
});

describe("date blocks", () => {
  const at = (text: string): Date => new Date(`2026-03-${text}Z`);

  test("each date block begins where the one before ended, the last one is cut; without time there is none", () => {
    expect([...dateBlocks({ from: at("01T00:00"), to: at("02T12:00"), spanMs: day })]).toEqual([
      { from: "2026-03-01T00:00:00.000Z", to: "2026-03-02T00:00:00.000Z" },
      { from: "2026-03-02T00:00:00.000Z", to: "2026-03-02T12:00:00.000Z" },
    ]);
    for (const to of [at("01T00:00"), at("01T00:00:00.000")])
      expect([...dateBlocks({ from: at("01T00:00"), to, spanMs: day })]).toEqual([]);
  });

  test("the date blocks tile the time, to the millisecond (property)", () => {
    rounds((upTo) => {
      const from = new Date(at("01T00:00").getTime() + upTo(1_000));
      const to = new Date(from.getTime() + upTo(5_000) - 100);
      const spanMs = 1 + upTo(700);
      let next = from.toISOString();
      for (const block of dateBlocks({ from, to, spanMs })) {
        expect(block.from).toBe(next);
        const span = Date.parse(block.to) - Date.parse(block.from);
        expect(span >= 1 && span <= spanMs).toBe(true);
        next = block.to;
      }
      expect(next).toBe((to > from ? to : from).toISOString());
    });
  });

  test("a date block behind a watermark goes from where the last one ended, overlap before it, not before the start", () => {
    const request = { start: at("01T00:00"), to: at("04T00:00"), spanMs: 2 * day };
    const plan = (more: object, stands: JsonValue) =>
      [...planDateBlocks({ ...request, ...more }, stands)].map(({ payload, watermark }) => [
        dayOf(payload["from"]),
        dayOf(payload["to"]),
        dayOf(watermark["until"]),
      ]);
    expect(plan({}, null)).toEqual([
      ["01", "03", "03"],
      ["03", "04", "04"],
    ]);
    const stands = { until: "2026-03-03T00:00:00.000Z" };
    expect(plan({}, stands)).toEqual([["03", "04", "04"]]);
    expect(plan({ overlapMs: day }, stands)).toEqual([["02", "04", "04"]]);
    expect(plan({ overlapMs: 9 * day, spanMs: day }, stands)).toEqual([
      ["01", "02", "03"],
      ["02", "03", "03"],
      ["03", "04", "04"],
    ]);
    expect(plan({ overlapMs: day, to: at("03T00:00") }, stands)).toEqual([]);
  });

  test("a watermark that an operator set is read with its zone, a day alone as one of UTC", () => {
    const request = { start: at("01T00:00"), to: at("04T00:00"), spanMs: day };
    for (const until of ["2026-03-03", "2026-03-03T02:00+02:00", "2026-03-03T00:00:00.000000Z"])
      expect([...planDateBlocks(request, { until })]).toEqual([
        expect.objectContaining({
          payload: { from: "2026-03-03T00:00:00.000Z", to: "2026-03-04T00:00:00.000Z" },
        }),
      ]);
  });

  test("bad instants, spans and watermarks are refused", () => {
    const good = { from: at("01T00:00"), to: at("02T00:00"), spanMs: 1 };
    expect(() => dateBlocks({ ...good, to: new Date("x") })).toThrow("to: expected an instant");
    expect(() => dateBlocks({ ...good, spanMs: 0 })).toThrow("spanMs: expected a whole number");
    const request = { start: good.from, to: good.to, spanMs: 1 };
    expect(() => planDateBlocks({ ...request, overlapMs: -1 }, null)).toThrow("overlapMs");
    const hasNoZone = { until: "2026-03-01T00:00:00" };
    for (const stands of [
      { last: "7" },
      { until: "soon" },
      { until: "March 1, 2026" },
      { until: 7 },
      hasNoZone,
    ])
      expect(() => planDateBlocks(request, stands)).toThrow("watermark: expected");
  });
});

describe("list blocks", () => {
  test("the list blocks hold every item once, in order, none too large (property)", () => {
    rounds((upTo) => {
      const items = Array.from({ length: upTo(50) }, (_, index) => index);
      const maxItems = 1 + upTo(12);
      const blocks = [...listBlocks(items, maxItems)];
      expect(blocks.flatMap((block) => block.items)).toEqual(items);
      expect(blocks.every((block) => block.items.length <= maxItems)).toBe(true);
      expect(blocks.slice(0, -1).every((block) => block.items.length === maxItems)).toBe(true);
    });
  });

  test("a list block behind a mark has the items that its reader gives; the mark is the last item's", async () => {
    const names = ["a", "b", "c", "d"];
    const request = {
      after: (mark: JsonValue) => names.filter((name) => isBehind(mark, name)),
      markOf: (name: string) => name,
      maxItems: 2,
    };
    expect([...(await planListBlocks(request, null))]).toEqual([
      { payload: { items: ["a", "b"] }, watermark: { mark: "b" }, isNew: true },
      { payload: { items: ["c", "d"] }, watermark: { mark: "d" }, isNew: true },
    ]);
    expect([...(await planListBlocks(request, { mark: "c" }))]).toMatchObject([
      { payload: { items: ["d"] } },
    ]);
    expect([...(await planListBlocks(request, { mark: "d" }))]).toEqual([]);
    await expect(planListBlocks({ ...request, maxItems: 0 }, null)).rejects.toThrow("maxItems");
    await expect(planListBlocks(request, { last: "7" })).rejects.toThrow("watermark: expected");
  });
});

describe("object blocks", () => {
  test("each object is a block", async () => {
    const files = [{ path: "a" }, { path: "b" }];
    const request = {
      after: (mark: JsonValue) => files.filter(({ path }) => isBehind(mark, path)),
      markOf: ({ path }: { path: string }) => path,
    };
    expect([...(await planObjectBlocks(request, null))]).toEqual([
      { payload: { path: "a" }, watermark: { mark: "a" }, isNew: true },
      { payload: { path: "b" }, watermark: { mark: "b" }, isNew: true },
    ]);
    expect([...(await planObjectBlocks(request, { mark: "a" }))]).toHaveLength(1);
  });
});

describe("what one call takes", () => {
  const take = (plan: Iterable<PlannedBlock>, maxBlocks: number, maxBytes = 1_000) =>
    takeBlocks(plan, {
      maxBlocks,
      maxBytes,
      prepare: ({ payload }) => payload,
      bytesOf: () => 10,
    });

  test("one call takes as many blocks as fit; the watermark is that of the last one, and there is more", () => {
    const plan = () => planNumericBlocks({ to: 50, size: 10 }, null);
    const some = take(plan(), 2);
    expect(some.tasks).toHaveLength(2);
    expect(some).toMatchObject({ last: { watermark: { last: "20" } }, more: true });
    expect(take(plan(), 5)).toMatchObject({ last: { watermark: { last: "50" } }, more: false });
    expect(take(plan(), 9, 30)).toMatchObject({ last: { watermark: { last: "30" } }, more: true });
    expect(take(plan(), 9, 1).tasks).toHaveLength(1);
    expect(take([], 9)).toEqual({ tasks: [], last: null, more: false });
  });

  test("a plan without an end is read one block further", () => {
    const plan = planNumericBlocks({ to: 2n ** 62n, size: 1 }, null);
    expect(take(plan, 3)).toMatchObject({ last: { watermark: { last: "3" } }, more: true });
  });

  test("calls that would never leave the overlap are refused", () => {
    const plan = () => planNumericBlocks({ to: 20, size: 1, overlap: 5 }, { last: "10" });
    expect(() => take(plan(), 5)).toThrow("overlap: expected less than what one call makes");
    expect(take(plan(), 6)).toMatchObject({ last: { watermark: { last: "11" } }, more: true });
  });
});
