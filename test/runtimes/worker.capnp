# One Worker behind one socket, on a port that the system chooses. The bundle is put beside this file by the test.
using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (
      name = "launch-pad",
      worker = (
        modules = [(name = "worker.js", esModule = embed "worker.js")],
        compatibilityDate = "2026-07-28",
        bindings = [(name = "SECRET", text = "as long as 16 bytes and more")],
      ),
    ),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "launch-pad")],
);
