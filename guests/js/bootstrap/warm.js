// Runs once before the snapshot: much of the engine is made when it is first
// asked for, and what is in the image already costs a call nothing.
() => {
const rows = [{ id: 1, name: "a", tags: ["x"] }, { id: 2, name: "b", tags: [] }];
const sums = new Map(), names = new Set();
for (const { id, name, tags } of rows) {
  sums.set(name, (sums.get(name) ?? 0) + id);
  names.add(name);
  tags.map((t) => t.toUpperCase()).filter(Boolean).join(",");
}
class Base { #x = 1; get x() { return this.#x; } static of() { return new this(); } }
class Derived extends Base { y = 2; toString() { return `${this.x}${this.y}`; } }
text(String(Derived.of()));
function text(s) {
  return s.split("").reverse().join("").replace(/[0-9]/g, (d) => d + 1).padStart(5).trim().slice(0, 3).concat("é", "😀");
}
[...sums].sort((a, b) => b[1] - a[1]).reduce((n, [, v]) => n + v, 0);
Object.entries({ a: 1, ...rows[0] }).flatMap(([k, v]) => [k, v]);
Object.fromEntries([["a", 1]]);
Object.keys(rows[0]).length + Object.values(rows[0]).length + Object.assign({}, rows[0]).id;
JSON.parse(JSON.stringify({ rows, n: 1.5, s: "é", b: true, z: null }));
Math.max(1, 2) + Math.round(1.5) + Math.floor(Math.sqrt(2)) + Number("1.5") + Number.parseInt("12", 10) + parseFloat("1.5");
(1.005).toFixed(2) + (255).toString(16) + 10n ** 20n + 1 / 3;
new Date(0).toISOString() + Date.UTC(2024, 1, 29) + new Date(2024, 0, 1).getTime();
[..."héllo".matchAll(/l(?<x>.)/gu)].map((m) => m.groups.x);
/^(\w+)@(\w+)\.com$/.exec("a@b.com");
Array.from({ length: 3 }, (_, i) => i).includes(2) && [3, 1, 2].toSorted().at(-1);
new Float64Array([1, 2, 3]).map((x) => x * 2);
Promise.all([1, Promise.resolve(2)]).then(() => 0);
(async () => { await null; for await (const x of [1]) x; })();
(function* () { yield* [1, 2]; })().next();
try { null.x; } catch (e) { String(e.stack); }
try { throw new TypeError("x", { cause: new Error("y") }); } catch { }
const { a, ...rest } = { a: 1, b: 2 }; a?.b ?? rest;
new Proxy({}, {}).x;
Symbol("s").description;
structured(rows);
function structured(v) { return Array.isArray(v) ? v.map(structured) : v; }
}
