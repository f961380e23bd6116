// Calls: recursion, closures and higher-order functions.
const fib = (n) => n < 2 ? n : fib(n - 1) + fib(n - 2);
function ackermann(m, n) {
  return m === 0 ? n + 1 : n === 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}
const compose = (...fs) => (x) => fs.reduce((v, f) => f(v), x);
function counters() {
  const all = Array.from({ length: 10 }, () => { let n = 0; return () => ++n; });
  for (let i = 0; i < 20000; i++) all[i % 10]();
  return all[3]();
}
let total = 0;
const step = compose((x) => x + 1, (x) => x * 3, (x) => x % 1009);
for (let i = 0; i < 60000; i++) total += step(i);
[fib(24), ackermann(2, 150), counters(), total]
