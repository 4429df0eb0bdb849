import { describe, expect, test } from "@jest/globals";
import { TokenLooks } from "../../../shared/worker/token-looks";

/* When a worker asks for more tokens: seldom, soon after it was noted, at once when one is free. */

/** The instants at which it asks when nothing else happens. */
function looksOf(looks: TokenLooks, count: number): number[] {
  return Array.from({ length: count }, () => {
    const atMs = looks.nextMs;
    looks.note(atMs);
    return atMs;
  });
}

describe("token looks", () => {
  test("are half a second apart", () => {
    expect(looksOf(new TokenLooks(1_000), 3)).toEqual([1_500, 2_000, 2_500]);
  });

  test("of who was noted wait about half as long as it has waited, then as before", () => {
    const looks = new TokenLooks(0);
    looks.begin(0);
    expect(looksOf(looks, 11)).toEqual([
      50, 100, 175, 285, 455, 705, 1_085, 1_655, 2_505, 3_005, 3_505,
    ]);
  });

  test("begin anew for who is noted again", () => {
    const looks = new TokenLooks(0);
    looks.begin(0);
    looksOf(looks, 6);
    looks.begin(705);
    expect(looksOf(looks, 2)).toEqual([755, 805]);
  });

  test("come at once when one is free, but not within 50 ms of the last one", () => {
    const looks = new TokenLooks(0);
    looks.note(1_000);
    looks.hurry();
    expect(looks.nextMs).toBe(1_050);
    looks.note(1_050);
    expect(looks.nextMs).toBe(1_550);
  });

  test("are seldom again after one was given away", () => {
    const looks = new TokenLooks(0);
    looks.begin(0);
    looks.end(20);
    expect(looksOf(looks, 2)).toEqual([520, 1_020]);
  });
});
