// What the drivers share: one request per line on standard input, one answer
// per line on standard output. The Go side, which documents both, is
// protocol.go.

import { createInterface } from "node:readline";
import { readFileSync } from "node:fs";

const write = (answer) => process.stdout.write(JSON.stringify(answer) + "\n");

export const now = () => performance.now();

/** The version of an installed package. */
export const version = (name) =>
  JSON.parse(readFileSync(new URL(`node_modules/${name}/package.json`, import.meta.url), "utf8")).version;

/** An error of the guest as an answer has it. */
export const failed = (type, message) => ({ status: "error", error: { type: String(type), message: String(message).slice(0, 2000) } });

/** The text of a request's input, if it has one; read before any clock runs. */
export const inputOf = (request) => (request.input ? readFileSync(request.input, "utf8") : undefined);

/**
 * Runs a driver. With "once" as an argument it prints the first result and
 * ends; else it loads what it needs, says which versions it has, and serves.
 * A peer has: once(), load(), versions(), start(), again(), run(request),
 * hold(n), drop().
 */
export async function serve(peer) {
  if (process.argv[2] === "once") {
    console.log(String(await peer.once()));
    return;
  }
  await peer.load();
  write({ versions: { node: process.version, ...(await peer.versions()) } });
  for await (const line of createInterface({ input: process.stdin })) {
    const request = JSON.parse(line);
    try {
      write(await answer(peer, request));
    } catch (e) {
      write({ fault: e?.stack ?? String(e) });
    }
  }
}

const one = (value) => {
  if (Number(value) !== 2) throw new Error(`1+1 gave ${value}`);
};

async function answer(peer, request) {
  const begin = now();
  switch (request.op) {
    case "start":
      one(await peer.start());
      return { start_ms: now() - begin };
    case "again":
      one(await peer.again());
      return { run_ms: now() - begin };
    case "rate": {
      let calls = 0;
      do {
        one(await peer.start());
        calls++;
      } while (now() - begin < request.seconds * 1000);
      return { calls, run_ms: now() - begin };
    }
    case "hold":
      await peer.hold(request.count);
      return {};
    case "drop":
      peer.drop();
      return {};
    case "run":
      return peer.run(request);
  }
  throw new Error(`no such operation: ${request.op}`);
}
