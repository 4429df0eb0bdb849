import { randomUUID } from "node:crypto";
import { expect, test } from "@jest/globals";
import { useContention } from "../support/use-contention";

/* A token string as taskgate writes it is read in one pass; every other form part by part. Both ways read alike. */
const scene = useContention();

const entry = (isHeld: boolean, grantee: string): string =>
  `I:${randomUUID()},S:${isHeld ? "0" : "1"},G:${grantee}`;
const entries = [entry(true, "17"), entry(false, "0"), entry(true, "999999999999999999")];
const plain = entries.join(",");

/** Parts in another order, or with the older separator. */
const others = [
  entries.join("|"),
  entries.map((text) => text.split(",").reverse().join(",")).join(","),
];

async function query(text: string, values: readonly string[]): Promise<Record<string, unknown>[]> {
  return (await scene.client.query(text, [...values])).rows as Record<string, unknown>[];
}

async function isPlain(text: string): Promise<unknown> {
  const [row] = await query("select taskgate._tokens_are_plain($1) as is_plain", [text]);
  return row?.["is_plain"];
}

test("every form of a token string is read alike", async () => {
  const read = (text: string) =>
    query("select ord, token_id, is_held, grantee from taskgate._read_tokens($1)", [text]);
  const expected = await read(plain);
  expect(expected).toHaveLength(3);
  expect(expected).toMatchObject([{ is_held: true, grantee: "17" }, { is_held: false }, {}]);
  expect(await isPlain(plain)).toBe(true);
  for (const other of others) {
    expect(await isPlain(other)).toBe(false);
    expect(await read(other)).toEqual(expected);
  }
});

test.each([
  [`${plain},`],
  [`,${plain}`],
  [plain.replace("S:0", "S:2")],
  [plain.replace("G:17", "G:1234567890123456789")],
  [plain.replace("G:17", "G:")],
  [plain.slice(0, -30)],
  [`${plain} `],
  [plain.replace("-", "")],
])("%j is neither plain nor sound", async (text) => {
  const [row] = await query(
    "select taskgate._tokens_are_plain($1) as is_plain, taskgate._tokens_are_sound($1) as is_sound",
    [text],
  );
  expect(row).toEqual({ is_plain: false, is_sound: false });
});
