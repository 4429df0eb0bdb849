import { join } from "node:path";
import { beforeAll, expect, test } from "@jest/globals";
import { ensureBuilt, root } from "../functions/built-app";
import { packagesLoadedBy } from "../support/loaded-packages";

/* Goal: any Node program can require the door `taskgate`: drivers, Azure's clients and telemetry are loaded when they are used. */
beforeAll(() => void ensureBuilt(), 180_000);

const door = join(root, "dist/shared/index.js");

const heavy = /^(pg|mssql|tedious|applicationinsights|@azure\/.*|@opentelemetry\/.*)$/;

test("the compiled door loads no driver, no client of Azure and no telemetry", () => {
  const loaded = packagesLoadedBy(`require(${JSON.stringify(door)});`);
  expect(loaded.filter((name) => heavy.test(name))).toEqual([]);
});

test("createClient, fromPg and fromMssql are exports of the door, and createClient loads no package", () => {
  const loaded =
    packagesLoadedBy(`const { createClient, fromMssql, fromPg } = require(${JSON.stringify(door)});
    createClient({ store: "postgres://u:p@localhost:1/d", hints: { storage: "UseDevelopmentStorage=true" } });
    if (typeof fromPg !== "function" || typeof fromMssql !== "function") throw new Error("missing");`);
  expect(loaded.filter((name) => heavy.test(name))).toEqual([]);
});

test("a driver that is loaded is seen by this list", () => {
  const pg = JSON.stringify(join(root, "node_modules/pg"));
  expect(packagesLoadedBy(`require(${pg});`)).toContain("pg");
});
