// Loaded before the emulator (node --require): it binds all addresses and has no option for it.
// Each server gets a free port of 127.0.0.1 instead; "LISTENING <asked> <got>" tells which.
// Ends with its standard input, so that even a killed test run leaves no server behind.
"use strict";
const net = require("node:net");

const listen = net.Server.prototype.listen;
net.Server.prototype.listen = function (where, ...more) {
  const asked = where !== null && typeof where === "object" ? where.port : where;
  const callbacks = more.filter((one) => typeof one === "function");
  this.once("listening", () => console.log(`LISTENING ${asked} ${this.address().port}`));
  return listen.call(this, { port: 0, host: "127.0.0.1" }, ...callbacks);
};
// Not process.exit(): the emulator's runtime holds that up for ever.
process.stdin.on("end", () => process.kill(process.pid, "SIGKILL")).resume();
