/** Words by which the rule for titles tells a subject from a verb. Tests of the rule show what each list is for. */
const listOf = (words: string): ReadonlySet<string> => new Set(words.trim().split(/\s+/));

/** They begin a phrase: a comma must end it, and the sentence begins behind it. */
export const introductions = listOf(`
  about above across after afterwards against along amid among as at because before behind below beside between beyond by
  during except exactly for from if in inside into like near off on once onto out outside over per since through to
  toward under unless until up upon when where whether while with within without`);

/** They stand for a subject that the title doesn't name, or they begin no sentence. */
export const pronouns = listOf(`
  also and but everything he her here him his how it its neither none nor not nothing of or others so somebody that their them
  then there they this those too what whatever which who whoever whom whose why`);

/** With a noun they begin a subject; alone they stand for one. */
export const counters = listOf(`
  all another any both each eight enough every few fewer fifteen five four half less many more most much no one only other
  several six some ten these three twelve twenty two`);

/** Only a plural follows these. */
export const plurals = listOf(`
  all both eight enough few fewer fifteen five four less many more most other several six some ten these three twelve
  twenty two`);

/** Verbs in the form that follows a plural, and auxiliaries. */
export const verbs = listOf(`
  accept add admit agree am answer appear apply are aren't arrive ask be become been began begin belong break bring build call came
  can can't cancel cannot carry change claim close combine come commit compare compile compute connect continue cost could
  couldn't count cut decide describe did didn't die differ do does doesn't don't drain draw drop drive drop end enqueue enter
  exceed exclude exist exit expire fail fall fill find finish fire fit follow found gave get give go goes had hadn't hand hang has
  hasn't have haven't hear hold hold import is isn't join keep knew know leave left let lie live load lock look lose make
  match may meet might move must mustn't name need needn't open own pass pause play print promote prove put queue quote race raise reach read
  record refuse register release remain renew repeat replace reset resume return run said sat save saw say see seem send
  serve set shall share should show sit skip sort spare spread stand start stay stood stop survive take tell thought throw
  told took try turn undo use vanish vary wait wake walk want was wasn't went were weren't will win won't work would wouldn't
  wrap write wrote`);

/** Before a plural they are adjectives. */
export const participles = listOf(`
  added asked blocked cancelled claimed committed continued counted damaged done ended expired failed finished fenced
  given granted grouped halted held interrupted joined kept killed left limited locked lost lowered made marked
  matched paused planted promoted raised reclaimed redriven refused released renewed replaced reported returned said
  scheduled seen sent set shown started stopped stored taken told used written`);

/** Before a noun they belong to it; alone they say how something is. */
export const adjectives = listOf(`
  dead due early fixed free idempotent idle known large late newest next oldest open outdated plain ready strict
  unfinished unknown`);

/** Nouns that end in "s". Other words with that ending are verbs here: a new plural is added. */
export const nouns = listOf(`
  acts actions addresses airports answers apps arguments as askers attempts batches besides blanks blocks bodies
  bounds brackets branches builds bytes callers cases changes characters checkpoints claims columns commands comments
  commits connections copies costs counters counts days deadlocks definitions deletions denials dialects digits doors
  drafts durations edits entries equivalents errors events examples executions failures faults fields figures files
  filters functions gaps gauges ghosts grants groups headers headings heads hints histories holders hooks hosts hours
  hundreds ids imports indexes inputs instants instruments invocations its keys keywords kinds leases less levels
  limits lines links lists locks logins logs losses members messages milliseconds minutes modules names neighbours
  numbers objects operations operators options orders others outcomes packages packs pages pairs parameters
  parentheses parts passes passwords payloads periods permits pieces places plans policies polls priorities problems
  procedures processes products programs promises queries queues ranges ranks rates ratios readers reasons relations
  reports requests resources results retries returns rights roles rounds routes rows rules samples schedules schemas
  scopes scripts searches secrets seconds selects senders sentences series servers services sessions settings signals
  signs sizes slices slots snapshots sources spans starters starts statements states statistics status steps stops
  stores surplus switches tables tags tasks tests texts this times titles tokens tools totals traces transactions
  triggers tries turns types units upgrades users values variables versions views waits walks watermarks waves ways
  windows wishes words workers workflows writes years zeros`);

/** They are nouns before these words, and verbs before others. */
export const either = listOf(`
  answers blocks calls changes checks claims commits costs counts ends enqueues grants hints hosts imports instruments lists
  loads locks logs names notes numbers orders packages passes pauses polls ranks reads registers reports returns runs
  samples starts states steps stops stores switches turns upgrades waits walks works writes`);

/** Operations and commands whose names are verbs or participles. */
export const operations = listOf(`
  cancel close commit drain enqueue explain limited pause redrive reschedule rollback settle sweep work`);

/** Verbs that are nouns behind "a", "each" and their like. */
export const homonyms = listOf(`
  call change claim commit cut draw end enqueue hold import join limit load look match move name need place read
  record register release return run set share show start stop take try turn wait walk write`);

/** Behind these the words of `either` and the homonyms are nouns. */
export const determiners = listOf(`
  a all an and another any at by each every for from in its no of or other own same several the their to two with
  without`);

/** Behind one of `either` they say that it is a noun. */
export const behindNouns = listOf(`
  and behind beside of that under within`);
