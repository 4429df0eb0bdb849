import type { Admin } from "../admin/create-admin";
import { report } from "./command";
import type { Command, CommandOption, Completable } from "./command";
import { globalOptions } from "./parse-arguments";
import { readWord } from "./read-values";
import { printable } from "../terminal/text-width";

const whats = ["bash", "zsh", "names"] as const;
/** Names that the shell offers. */
const namesMax = 1_000;

/** `taskgate completion SHELL`, made from the tables of all commands. */
export function createCompletionCommand(commands: () => readonly Command[]): Command {
  return {
    name: "completion",
    group: "develop",
    parameters: [{ name: "SHELL", values: whats }],
    options: {},
    sentence: "Prints a script that completes commands in bash or zsh.",
    details: [
      "The script completes commands, options, their fixed values, and names of definitions.",
      "`taskgate completion names` prints these names; the script calls it.",
    ].join("\n"),
    examples: [
      {
        line: "taskgate completion bash",
        sentence: `In ~/.bashrc: eval "$(taskgate completion bash)".`,
      },
      {
        line: "taskgate completion zsh",
        sentence: `In ~/.zshrc, behind compinit: eval "$(taskgate completion zsh)".`,
      },
    ],
    run: async (context) => {
      const expected = "bash, zsh or names";
      const what = readWord("SHELL", context.args[0] ?? "", { words: whats, expected });
      if (what === "names") {
        const names = await namesOf(context.admin());
        report(context, { names }, () => names.join("\n"));
        return;
      }
      const script = what === "bash" ? bashScript(commands()) : zshScript(commands());
      report(context, { script }, () => script);
    },
  };
}

/** A name a line. One with control characters can't be typed. */
async function namesOf(admin: Admin): Promise<string[]> {
  const definitions = await admin.definitions();
  const names = definitions.map(({ name }) => name).filter((name) => printable(name) === name);
  return names.slice(0, namesMax);
}

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
    '    offered=$("$program" completion names --timeout 2s 2>/dev/null)',
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
function bashScript(commands: readonly Command[]): string {
  return [
    "_taskgate() {",
    '  local command="" program=${COMP_WORDS[0]} begin=1 current=$COMP_CWORD all=COMP_WORDS',
    "  local typed=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}",
    "  COMPREPLY=()",
    ...sharedPart(commands),
    "  while IFS= read -r word; do",
    "    if [[ -z $word ]]; then continue; fi",
    '    printf -v quoted %q "$word"',
    '    if [[ $word == "$typed"* || $quoted == "$typed"* ]]; then COMPREPLY+=("$quoted"); fi',
    '  done <<< "$offered"',
    "}",
    "complete -o default -F _taskgate taskgate",
  ].join("\n");
}

function zshScript(commands: readonly Command[]): string {
  return [
    "_taskgate() {",
    '  local command="" program=${words[1]} begin=2 current=$CURRENT all=words',
    "  local typed=${words[CURRENT]} previous=${words[CURRENT-1]}",
    ...sharedPart(commands),
    "  compadd -- ${(f)offered}",
    "}",
    "compdef _taskgate taskgate",
  ].join("\n");
}
