// All schedules, the next to run first.

import { call } from "./api.js";
import { section } from "./dom.js";
import { makeScheduleTable } from "./schedule-table.js";

const schedulesMax = 200;

export const schedules = {
  title: () => "Schedules",
  make(main) {
    const table = makeScheduleTable();
    main.append(section("The next to run first", table.node));
    return async () => {
      const { schedules: found, more } = await call(`schedules?max=${schedulesMax}`);
      const soon = ({ inMs }) => inMs ?? Number.POSITIVE_INFINITY;
      table.fill(
        found.toSorted((left, right) => soon(left) - soon(right) || 0),
        more,
      );
    };
  },
};
