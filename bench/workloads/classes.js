// Objects: classes with private state, inheritance, Map and Set.
class Vector {
  #x; #y;
  constructor(x, y) { this.#x = x; this.#y = y; }
  plus(o) { return new Vector(this.#x + o.#x, this.#y + o.#y); }
  get length2() { return this.#x * this.#x + this.#y * this.#y; }
}
class Account { constructor() { this.balance = 0; } deposit(n) { this.balance += n; return this; } }
class Savings extends Account { deposit(n) { return super.deposit(n * 2); } }
let v = new Vector(0, 0);
const one = new Vector(1, 2);
for (let i = 0; i < 120000; i++) v = v.plus(one);
const s = new Savings();
for (let i = 0; i < 120000; i++) s.deposit(1);
const words = new Map(), seen = new Set();
for (let i = 0; i < 150000; i++) {
  const key = "k" + i % 997;
  words.set(key, (words.get(key) ?? 0) + 1);
  seen.add(i % 4096);
}
[v.length2, s.balance, words.get("k5"), seen.size]
