import { listApps, register, registerApp, setOwner } from "../calls";
import { allOf, statusOf } from "../endings";
import type { CaseAnswer, Ending, ModelCase } from "../model-case";
import { latch } from "../permitted-waits";

/** Owners of the definitions, such as `a=x`. */
function ownersIn(end: Ending): string {
  const rows = end
    .rows("DefinitionOwner")
    .map((row) => `${String(row["Name"])}=${String(row["App"])}`);
  return rows.sort().join();
}

function refusedIn(answer: CaseAnswer | undefined): string {
  return String(answer?.rows[0]?.["Refused"]);
}

/** Several apps on one database. */
export const appCases: readonly ModelCase[] = [
  {
    name: "register-app-x-register-app",
    about: "two apps have a definition of one name: one gets it, and the other is told who",
    setup: [],
    callers: [[registerApp("x", ["a"])], [registerApp("y", ["a"])]],
    waits: [latch],
    readersWait: true,
    ends: (end) => {
      const [ofX, ofY] = [refusedIn(end.answers[0]?.[0]), refusedIn(end.answers[1]?.[0])];
      const found = `${ownersIn(end)} ${ofX} ${ofY}`;
      const isX = found === 'a=x [] [{"name":"a","app":"x"}]';
      const isY = found === 'a=y [{"name":"a","app":"y"}] []';
      return isX || isY ? undefined : `the definition and the refusals are ${found}`;
    },
  },
  {
    name: "register-app-x-same-register-app",
    about: "two processes of an app register it at once: one app, both its definitions",
    setup: [registerApp("x", ["a"], "q")],
    callers: [[registerApp("x", ["a", "b"], "r")], [registerApp("x", ["a", "b"], "r")]],
    waits: [latch],
    readersWait: true,
    ends: (end) =>
      allOf(
        ownersIn(end) === "a=x,b=x" ? undefined : `the owners are ${ownersIn(end)}`,
        end.rows("App").length === 1 ? undefined : "the app is there twice",
      ),
  },
  {
    name: "set-owner-x-set-owner",
    about:
      "a definition is handed over twice at once: the second hand-over is audited as one from the first",
    setup: [register(), registerApp("x", ["a"])],
    callers: [[setOwner("y")], [setOwner("z")]],
    waits: [latch],
    readersWait: true,
    ends: (end) => {
      const steps = end
        .rows("SettingAudit")
        .filter((row) => row["Setting"] === "owner")
        .map((row) => `${String(row["OldValue"])}>${String(row["NewValue"])}`)
        .sort();
      const found = `${ownersIn(end)} ${steps.join()}`;
      return ["a=z x>y,y>z", "a=y x>z,z>y"].includes(found) ? undefined : `found ${found}`;
    },
  },
  {
    name: "set-owner-x-register-app",
    about:
      "a released definition is registered by another app at this moment: it has one owner, or none yet",
    setup: [register(), registerApp("x", ["a"])],
    callers: [[setOwner(null)], [registerApp("y", ["a"])]],
    waits: [latch],
    readersWait: true,
    ends: (end) =>
      allOf(
        statusOf(end.answers[0]?.[0]) === "set" ? undefined : "it wasn't released",
        ["", "a=y"].includes(ownersIn(end)) ? undefined : `the owners are ${ownersIn(end)}`,
      ),
  },
  {
    name: "list-apps-x-register-app",
    about: "apps are listed while one registers: with its definition, without it, or not yet",
    setup: [registerApp("x", ["a"])],
    callers: [[registerApp("y", ["b"])], [listApps]],
    readersWait: true,
    victims: [1],
    ends: (end) => {
      const listed = String(end.answers[1]?.[0]?.rows[0]?.["Apps"]);
      const isX = listed.includes('{"app":"x","address":null,"definitions":["a"]}');
      return isX || end.engine === "locking" ? undefined : `the list is ${listed}`;
    },
  },
];
