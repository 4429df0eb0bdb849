/** What a command says, without what two looks at the same state differ in: instants but those of 2090, times, ages, the actor and the place that is asked. */
export function evenedOut(text: string): string {
  return (
    text
      .replaceAll(/(?!2090)\d{4}-\d\d-\d\d[T ][\d:.]+Z/g, "INSTANT")
      .replaceAll(/"(\w+Ms|build|perMinute)": -?[\d.]+/g, '"$1": N')
      .replaceAll(/^Build \d{13} /gm, "Build N ")
      .replaceAll(/\b[\d.]+ (ms|s|min|h)\b/g, "TIME")
      .replaceAll(/^postgres database .*$/gm, "PLACE")
      .replaceAll(/\b(cli:[\w-]+|http)\b/g, "ACTOR")
      .replaceAll(/ +/g, " ")
      // The pace falls with each moment.
      .replaceAll(/(ended well a minute| TIME| -) [\d.]+(?=$| \d+ (?:TIME|-|unknown))/gm, "$1 N")
  );
}
