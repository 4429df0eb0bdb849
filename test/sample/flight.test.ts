import { expect, test } from "@jest/globals";
import { parseCsv, readAirports } from "../../functions/tasks/flights/airport";
import { readFlight } from "../../functions/tasks/flights/flight";
import { totalsByOrigin } from "../../functions/tasks/flights/flight-totals";
import { plantedRows, plantRows } from "../../functions/tasks/flights/planted-rows";

const row = { date: "2001/02/28 23:59", delay: -5, distance: 0, origin: "LAX", destination: "SFO" };

test("a good row is read", () => {
  expect(readFlight({ ...row, remark: "ignored" })).toEqual({
    ok: true,
    flight: { origin: "LAX", destination: "SFO", hour: 23, delay: -5, distance: 0 },
  });
});

test.each([
  [null, ["row: expected a JSON object, got null"]],
  [[row], [expect.stringContaining("row: expected a JSON object, got [")]],
  [
    { ...row, origin: undefined },
    ["origin: expected an airport code of three capital letters or digits, got nothing"],
  ],
  [{ ...row, delay: "5" }, ['delay: expected a whole number in -2880..2880, got "5"']],
  [{ ...row, delay: 2_881 }, ["delay: expected a whole number in -2880..2880, got 2881"]],
  [{ ...row, distance: 1.5 }, ["distance: expected a whole number in 0..12500, got 1.5"]],
  [
    { ...row, date: "2001/02/29 10:00" },
    [expect.stringContaining("date: expected a date such as")],
  ],
  [
    { ...row, date: "2001/01/01 24:00" },
    [expect.stringContaining("date: expected a date such as")],
  ],
  [
    { ...row, date: "2001/00/10 10:00" },
    [expect.stringContaining("date: expected a date such as")],
  ],
  [
    { ...row, origin: "lax", destination: 7 },
    [expect.stringContaining("origin"), expect.stringContaining("destination")],
  ],
])("%j is refused with every problem", (given, problems) => {
  const reading = readFlight(given);

  expect(
    reading.ok ? [] : reading.problems.map(({ field, message }) => `${field}: ${message}`),
  ).toEqual(problems);
});

test("a leap day exists", () => {
  expect(readFlight({ ...row, date: "2004/02/29 00:00" }).ok).toBe(true);
});

test("totals are summed per origin, hour and route", () => {
  const flights = [
    { origin: "LAX", destination: "SFO", hour: 7, delay: 10, distance: 337 },
    { origin: "JFK", destination: "LAX", hour: 7, delay: 1, distance: 2_475 },
    { origin: "LAX", destination: "SFO", hour: 8, delay: -4, distance: 337 },
    { origin: "LAX", destination: "JFK", hour: 7, delay: 0, distance: 2_475 },
  ];

  expect(totalsByOrigin(flights)).toEqual([
    {
      origin: "LAX",
      flights: 3,
      delay: 6,
      hours: [
        { hour: 7, flights: 2, delay: 10 },
        { hour: 8, flights: 1, delay: -4 },
      ],
      routes: [
        { destination: "SFO", flights: 2, delay: 6, distance: 674 },
        { destination: "JFK", flights: 1, delay: 0, distance: 2_475 },
      ],
    },
    {
      origin: "JFK",
      flights: 1,
      delay: 1,
      hours: [{ hour: 7, flights: 1, delay: 1 }],
      routes: [{ destination: "LAX", flights: 1, delay: 1, distance: 2_475 }],
    },
  ]);
  expect(totalsByOrigin([])).toEqual([]);
});

test.each([
  [
    "a,b\nc,d\n",
    [
      ["a", "b"],
      ["c", "d"],
    ],
  ],
  [
    "a,b\r\n\r\nc,\r\n",
    [
      ["a", "b"],
      ["c", ""],
    ],
  ],
  ["a,", [["a", ""]]],
  ['"a, b","say ""x""\nnow",', [["a, b", 'say "x"\nnow', ""]]],
  ['""', []],
  ["", []],
])("the CSV %j is %j", (text, records) => {
  expect(parseCsv(text)).toEqual(records);
});

test.each(['"open', '"a"b,c', 'x,"y" ,z'])("the CSV %j is refused", (text) => {
  expect(() => parseCsv(text)).toThrow("A quote is not closed");
});

const head = "iata,name,city,state,country,latitude,longitude";

test("airports are read", () => {
  expect(readAirports(`${head}\nLAX,"Los Angeles, Intl",Los Angeles,CA,USA,33.9,-118.4\n`)).toEqual(
    [
      {
        code: "LAX",
        name: "Los Angeles, Intl",
        city: "Los Angeles",
        state: "CA",
        country: "USA",
        latitude: 33.9,
        longitude: -118.4,
      },
    ],
  );
});

test.each([
  ["code,name\n", "Expected the first line to be iata,"],
  ["", "Expected the first line to be iata,"],
  [`${head}\nLAX,x\n`, "Record 2 is not an airport: LAX,x"],
  [`${head}\nLAX,a,b,c,d,north,2\n`, "Record 2 is not an airport"],
])("%j is no table of airports", (text, message) => {
  expect(() => readAirports(text)).toThrow(message);
});

test("every planted row stands at its place, and is bad by itself or for its airport", () => {
  const planted = plantRows(Array.from({ length: 2_000 }, () => row));

  expect(planted).toHaveLength(2_000 + plantedRows.length);
  for (const { row: at, content, problem } of plantedRows) {
    expect(planted[at]).toEqual(content);
    const reading = readFlight(content);
    const problems = reading.ok
      ? ["airport: no airport has the code QQQ"]
      : reading.problems.map(({ field, message }) => `${field}: ${message}`);
    expect(problems.some((text) => text.startsWith(problem))).toBe(true);
  }
});
