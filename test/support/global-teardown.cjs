module.exports = async () => {
  await globalThis.__taskgateTestPostgres?.stop();
};
