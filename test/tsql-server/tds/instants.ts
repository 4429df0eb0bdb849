/** Instants of T-SQL: counts of 100 ns since the first day of year 1, as `values.ts` holds them. */

export const ticksPerDay = 864_000_000_000n;

const ticksPerSecond = 10_000_000n;
/** datetime counts its days from 1900-01-01, and three hundredths of a second within the day. */
const ticksOf1900 = 599_266_080_000_000_000n;
const threeHundredthsPerDay = 25_920_000n;

/** Ticks of one unit of datetime2(scale). */
export function ticksPerUnit(scale: number): bigint {
  return 10n ** BigInt(7 - scale);
}

/** What a datetime means, to the nearest tick. */
export function datetimeToTicks(days: number, threeHundredths: number): bigint {
  const inDay = (BigInt(threeHundredths) * ticksPerSecond + 150n) / 300n;
  return ticksOf1900 + BigInt(days) * ticksPerDay + inDay;
}

/** The datetime nearest to an instant. */
export function datetimeFromTicks(ticks: bigint): { days: number; threeHundredths: number } {
  const since1900 = ticks - ticksOf1900;
  const inDay = ((since1900 % ticksPerDay) + ticksPerDay) % ticksPerDay;
  const rounded = (inDay * 300n + ticksPerSecond / 2n) / ticksPerSecond;
  const days = (since1900 - inDay) / ticksPerDay + rounded / threeHundredthsPerDay;
  return { days: Number(days), threeHundredths: Number(rounded % threeHundredthsPerDay) };
}
