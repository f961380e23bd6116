// Calls one JavaScript function with the arguments on standard input; see
// handler.py. A function of two parameters gets {idempotencyKey} as the second.
import fs from "node:fs";
import { pathToFileURL } from "node:url";

const [file, name, key] = process.argv.slice(1);
let text, ended = false;
try {
  const args = JSON.parse(fs.readFileSync(0, "utf8"));
  const module = await import(pathToFileURL(file));
  const call = module[name] ?? module.default?.[name];
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
