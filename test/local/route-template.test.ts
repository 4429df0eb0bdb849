/** HTTP routes of the local Functions host. */
import { describe, expect, test } from "@jest/globals";
import { parseRoute } from "../../shared/local/functions-host/route-template";

describe("a route", () => {
  test.each([
    ["items/{id}", "items/5", { id: "5" }],
    ["items/{id}", "Items/a%2Fb%20%2fc%252F", { id: "a%2Fb %2fc%2F" }],
    ["items/{id}", "items", null],
    ["items/{id}", "items/5/6", null],
    ["items/{id}", "items/%zz", null],
    ["items/{id?}", "items", {}],
    ["items/{id?}", "items/5", { id: "5" }],
    ["{id?}", "", {}],
    ["items/{id:int}", "items/-5", { id: "-5" }],
    ["items/{id:int}", "items/5000000000", null],
    ["items/{id:long}", "items/5000000000", { id: "5000000000" }],
    ["items/{id:int?}", "items", {}],
    ["items/{id:int?}", "items/x", null],
    ["items/{id:int:min(3)}", "items/2", null],
    ["items/{id:range(1,9)}", "items/9", { id: "9" }],
    ["items/{id:guid}", "items/not-a-guid", null],
    ["items/{id:length(3)}", "items/abc", { id: "abc" }],
    ["items/{id:alpha}", "items/a1", null],
    ["files/{*rest}", "files/a/b%20c%2Fd", { rest: "a/b c%2Fd" }],
    ["files/{*rest}", "files", {}],
    ["reports/{name}.csv", "reports/week.csv", { name: "week" }],
    ["reports/{from}-{to}", "reports/1-2", { from: "1", to: "2" }],
    ["a.b", "axb", null],
    ["a.b", "A.B/", {}],
  ])("the route %s matches %s as Azure does", (template, path, parameters) => {
    expect(parseRoute(template).match(path)).toEqual(parameters);
  });

  test.each([
    ["items/{id:colour}", 'constraint "colour"'],
    ["items/{id?}/parts", "elsewhere than alone at its end"],
    ["files/{*rest}/parts", "elsewhere than alone at its end"],
    ["items/{id", 'stray "{"'],
    ["items/{1d}", "not understood"],
  ])("%s is refused", (template, message) => {
    expect(() => parseRoute(template)).toThrow(message);
  });

  test("the more exact comes first", () => {
    const templates = ["{*any}", "a/{x}", "a/{x:int}", "a/b", "a/{x}.csv", "{y}/b", "a"];
    const sorted = templates.map(parseRoute).sort((a, b) => (a.rank < b.rank ? -1 : 1));
    expect(sorted.map(({ template }) => template)).toEqual([
      "a",
      "a/b",
      "a/{x}.csv",
      "a/{x:int}",
      "a/{x}",
      "{y}/b",
      "{*any}",
    ]);
  });
});
