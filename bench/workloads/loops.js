// Plain loops: integer and float arithmetic on local variables.
function primesBelow(limit) {
  const sieve = new Array(limit).fill(true);
  for (let i = 2; i * i < limit; i++) {
    if (sieve[i]) for (let j = i * i; j < limit; j += i) sieve[j] = false;
  }
  let count = 0;
  for (let i = 2; i < limit; i++) if (sieve[i]) count++;
  return count;
}
function collatz(limit) {
  let best = 0, bestStart = 1;
  for (let start = 1; start < limit; start++) {
    let n = start, steps = 0;
    while (n !== 1) {
      n = n % 2 === 0 ? n / 2 : 3 * n + 1;
      steps++;
    }
    if (steps > best) [best, bestStart] = [steps, start];
  }
  return bestStart;
}
function integral(n) {
  let sum = 0;
  for (let i = 0; i < n; i++) {
    const x = i / n;
    sum += 4 / (1 + x * x);
  }
  return Math.round(sum / n * 1e6);
}
[primesBelow(300000), collatz(20000), integral(500000)]
