/** Named numbers of one situation. */
export interface Situation {
  readonly name: string;
  readonly figures: Readonly<Record<string, number>>;
}
