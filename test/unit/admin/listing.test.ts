import { expect, test } from "@jest/globals";
import { listMax, readListing } from "../../../shared/admin/listing";
import { describeCut } from "../../../shared/terminal/output";

/** A list of so many rows, read as the stores read one; and what it was asked for. */
function listOf(count: number): {
  asked: number[];
  read: (request: { max: number }) => Promise<number[]>;
} {
  const asked: number[] = [];
  const read = ({ max }: { max: number }): Promise<number[]> => {
    asked.push(max);
    return Promise.resolve(Array.from({ length: Math.min(count, max) }, (_, row) => row));
  };
  return { asked, read };
}

test.each([
  [0, 3, 0, false],
  [2, 3, 2, false],
  [3, 3, 3, false],
  [4, 3, 3, true],
  [999, 1_000, 999, false],
  [1_000, 1_000, 1_000, true],
  [1_000, 999, 999, true],
  [999, 999, 999, false],
] as const)("a list of %s rows, at most %s of them, has %s, cut: %s", async (...row) => {
  const [count, max, shown, isCut] = row;
  const { asked, read } = listOf(count);
  const { rows, more } = await readListing({ max }, read);
  expect([rows.length, more]).toEqual([shown, isCut]);
  expect(asked).toEqual([Math.min(max + 1, listMax)]);
});

test("a list of batches is never asked for more than a hundred", async () => {
  const { asked, read } = listOf(500);
  expect((await readListing({ max: 100 }, read, 100)).more).toBe(true);
  expect((await readListing({ max: 20 }, read, 100)).more).toBe(true);
  expect(asked).toEqual([100, 21]);
});

test("a list that was cut says behind it how to see more, a whole one says nothing", () => {
  expect(describeCut({ rows: [1, 2], more: false })).toBe("");
  expect(describeCut({ rows: [1, 2], more: true })).toBe(
    "\n\nThe first 2; there are more: --max N shows up to 1000.",
  );
  const rows = Array.from({ length: 100 }, (_, row) => row);
  expect(describeCut({ rows, more: true }, 100)).toBe(
    "\n\nThe first 100; there may be more, but no list is longer.",
  );
});
