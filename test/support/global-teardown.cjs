const { endLeftBehind } = require("./left-behind.cjs");

module.exports = async () => {
  await globalThis.__taskgateTestPostgres?.stop();
  await endLeftBehind();
};
