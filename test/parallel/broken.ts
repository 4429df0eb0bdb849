/** What the answers said can't all be true, or isn't what the store holds. */
export class Broken extends Error {}
