// Calls one JavaScript function with the arguments on standard input; see
// handler.py. A function of two parameters gets {idempotencyKey} as the second.
import fs from "node:fs";
import { pathToFileURL } from "node:url";

const [file, name, key, descriptor] = process.argv.slice(1);
if (descriptor) {
  // Read by name only, and never listed: what the function starts does not inherit
  // them unless it passes them on.
  const secrets = new Map(Object.entries(JSON.parse(fs.readFileSync(Number(descriptor), "utf8"))));
  fs.closeSync(Number(descriptor));
  process.env = new Proxy(process.env, {
    has: (env, name) => secrets.has(name) || name in env,
    get: (env, name) => secrets.get(name) ?? env[name],
    set: (env, name, value) => (secrets.delete(name), (env[name] = value), true),
    deleteProperty: (env, name) => (secrets.delete(name), delete env[name]),
    getOwnPropertyDescriptor: (env, name) =>
      secrets.has(name)
        ? { value: secrets.get(name), writable: true, enumerable: false, configurable: true }
        : Object.getOwnPropertyDescriptor(env, name),
  });
}
let text, ended = false;
try {
  const args = JSON.parse(fs.readFileSync(0, "utf8"));
  const module = await import(pathToFileURL(file));
  const call = module[name] ?? module.default?.[name];
  if (typeof call !== "function") throw new TypeError(`${file} exports no function ${name}`);
  const value = await call(args, { idempotencyKey: key });
  ended = true; // it has done its work: a value without a JSON form does not undo that
  if (typeof value === "function" || typeof value === "symbol") throw new TypeError("the value has no JSON form");
  text = JSON.stringify({ value: value === undefined ? null : value });
} catch (error) {
  console.error(error);
  text = ended ? "" : JSON.stringify({ raised: String(error?.constructor?.name ?? typeof error) });
}
fs.writeSync(3, text);
process.exit(0);
