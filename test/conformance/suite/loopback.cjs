// Loaded into the official suite before anything else: a server that names no address is bound to 127.0.0.1, not to every
// interface of the machine. Some of the suite's servers are asked for their port at once, and what a name or address goes
// through first takes a turn: hence here, where an address is not looked up any more.
const { Server } = require("node:net");

const bind = Server.prototype._listen2;
if (typeof bind !== "function") throw new Error("this Node binds servers in another way than this file knows");

Server.prototype._listen2 = function bindToLoopback(address, port, family, ...rest) {
  const isOpenToAll = address === null && typeof port === "number" && port >= 0;
  return isOpenToAll ? bind.call(this, "127.0.0.1", port, 4, ...rest) : bind.call(this, address, port, family, ...rest);
};
