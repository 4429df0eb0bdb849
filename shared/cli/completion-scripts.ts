import type { Command, CommandOption, Completable } from "./command";
import { globalOptions } from "./parse-arguments";

/** Scripts that complete the words of `taskgate` in a shell. */

/** What the script knows, in words that both shells read alike. */
function sharedPart(commands: readonly Command[]): string[] {
  const common: Readonly<Record<string, CommandOption>> = globalOptions;
  const globals = Object.entries(common);
  const all = [...globals, ...commands.flatMap(({ options }) => Object.entries(options))];
  const valued = all.filter(([, { valueName }]) => valueName !== undefined).map(wordsOfOption);
  return [
    // Words that take the next one as their value.
    `  local valued=" ${[...new Set(valued.flat())].join(" ")} "`,
    `  local flagwords="${globals.flatMap(wordsOfOption).join(" ")}" first="" rest="" values="" word quoted i at=0`,
    "  for ((i = begin; i < current; i++)); do",
    '    eval "word=\\${${all}[$i]}"',
    '    if [[ $valued == *" $word "* ]]; then i=$((i + 1)); continue; fi',
    "    if [[ $word == -* ]]; then continue; fi",
    "    if [[ -z $command ]]; then command=$word; else at=$((at + 1)); fi",
    "  done",
    "  case $command in",
    `    "") first="help ${commands.map(({ name }) => name).join(" ")}" ;;`,
    `    help) first="${commands.map(({ name }) => name).join(" ")}" ;;`,
    ...commands.map(armOf),
    "  esac",
    '  case "$command $previous" in',
    ...commands.flatMap((command) =>
      Object.entries(command.options).flatMap(([option, { values, short }]) =>
        values === undefined
          ? []
          : wordsOfOption([option, short === undefined ? {} : { short }]).map(
              (word) => `    ${patternOf(command, ` ${word}`)}) values="${showValues(values)}" ;;`,
            ),
      ),
    ),
    "  esac",
    '  local offered="$first"',
    "  if ((at > 0)); then offered=$rest; fi",
    '  if [[ $valued == *" $previous "* ]]; then',
    "    offered=$values",
    "    if [[ -z $offered ]]; then return 1; fi",
    "  elif [[ $typed == -* ]]; then offered=$flagwords; fi",
    // Names come a line each, and may have blanks.
    "  if [[ $offered == @definitions ]]; then",
    '    offered=$("${program[@]}" completion names --timeout 2s 2>/dev/null)',
    "  else offered=${offered// /$'\\n'}; fi",
  ];
}

function armOf(command: Command): string {
  const { parameters, options } = command;
  const [first, second] = parameters;
  const isList = first?.isList === true;
  const words = Object.entries(options).flatMap(wordsOfOption).join(" ");
  const rest = isList ? showValues(first.values) : showValues(second?.values);
  return `    ${patternOf(command)}) flagwords="${words} $flagwords"; first="${showValues(first?.values)}"; rest="${rest}" ;;`;
}

/** What a shell's `case` compares a command's words with: its name and its short one, each with `rest` behind. */
function patternOf({ name, alias }: Command, rest = ""): string {
  return [name, ...(alias === undefined ? [] : [alias])]
    .map((word) => `"${word}${rest}"`)
    .join(" | ");
}

function wordsOfOption([name, { short }]: readonly [
  string,
  { readonly short?: string },
]): string[] {
  return short === undefined ? [`--${name}`] : [`--${name}`, `-${short}`];
}

function showValues(values: Completable | undefined): string {
  if (values === undefined) return "";
  return values === "definitions" ? "@definitions" : values.join(" ");
}

/**
 * Without a value to offer bash completes names of files. `compgen -W` would run what a name says: names are compared as texts, and each
 * goes to the line quoted.
 */
export function bashScript(commands: readonly Command[]): string {
  return [
    // `_taskgate_words PLACE PROGRAM..`: completes a word of `taskgate`, whose own words begin at that place.
    "_taskgate_words() {",
    '  local command="" begin=$1 current=$COMP_CWORD all=COMP_WORDS',
    '  local program=("${@:2}")',
    "  local typed=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}",
    "  COMPREPLY=()",
    ...sharedPart(commands),
    "  while IFS= read -r word; do",
    "    if [[ -z $word ]]; then continue; fi",
    '    printf -v quoted %q "$word"',
    '    if [[ $word == "$typed"* || $quoted == "$typed"* ]]; then COMPREPLY+=("$quoted"); fi',
    '  done <<< "$offered"',
    "}",
    '_taskgate() { _taskgate_words 1 "${COMP_WORDS[0]}"; }',
    "_taskgate_npx() {",
    "  local at=1",
    "  while ((at < COMP_CWORD)) && [[ ${COMP_WORDS[at]} == -* ]]; do at=$((at + 1)); done",
    "  if ((at < COMP_CWORD)) && [[ ${COMP_WORDS[at]} == taskgate ]]; then",
    `    _taskgate_words $((at + 1)) ${localProgram}`,
    '  elif [[ -n $_taskgate_npx_before ]]; then "$_taskgate_npx_before" "$@"; fi',
    "}",
    "complete -o default -F _taskgate taskgate",
    // A completion of npx that is no function stays alone: it can't be called from here.
    "_taskgate_spec=$(complete -p npx 2>/dev/null)",
    "_taskgate_pattern='^(.* -F )([^ ]+)(.*)$'",
    "if [[ -z $_taskgate_spec ]]; then",
    "  complete -o bashdefault -o default -F _taskgate_npx npx",
    "elif [[ $_taskgate_spec =~ $_taskgate_pattern && ${BASH_REMATCH[2]} != _taskgate_npx ]]; then",
    "  _taskgate_npx_before=${BASH_REMATCH[2]}",
    '  eval "${BASH_REMATCH[1]}_taskgate_npx${BASH_REMATCH[3]}"',
    "fi",
    "unset _taskgate_spec _taskgate_pattern",
  ].join("\n");
}

/** The same for zsh, whose `compadd` compares and quotes. */
export function zshScript(commands: readonly Command[]): string {
  return [
    "_taskgate_words() {",
    '  local command="" begin=$1 current=$CURRENT all=words',
    '  local program=("${@:2}")',
    "  local typed=${words[CURRENT]} previous=${words[CURRENT-1]}",
    ...sharedPart(commands),
    "  compadd -- ${(f)offered}",
    "}",
    '_taskgate() { _taskgate_words 2 "${words[1]}"; }',
    "_taskgate_npx() {",
    "  local at=2",
    "  while ((at < CURRENT)) && [[ ${words[at]} == -* ]]; do at=$((at + 1)); done",
    "  if ((at < CURRENT)) && [[ ${words[at]} == taskgate ]]; then",
    `    _taskgate_words $((at + 1)) ${localProgram}`,
    '  elif [[ -n $_taskgate_npx_before ]]; then eval "$_taskgate_npx_before"',
    "  else _default; fi",
    "}",
    "compdef _taskgate taskgate",
    "if [[ ${_comps[npx]} != _taskgate_npx ]]; then _taskgate_npx_before=${_comps[npx]}; fi",
    "compdef _taskgate_npx npx",
  ].join("\n");
}

/** `--no`: a Tab installs nothing where the folder's app doesn't have the package. */
const localProgram = "npx --no taskgate";
