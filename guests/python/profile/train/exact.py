"""decimal, fractions, dates of money, statistics."""
from decimal import Decimal, getcontext, localcontext, ROUND_HALF_EVEN, ROUND_DOWN, InvalidOperation
from fractions import Fraction

out = []
cart = [(f"{i % 90}.{i % 100:02d}", i % 7 + 1, "0.21" if i % 2 else "0.09") for i in range(9000)]
total = Decimal("0")
taxes = {}
for price, quantity, rate in cart:
    line = Decimal(price) * quantity
    tax = (line * Decimal(rate)).quantize(Decimal("0.01"), rounding=ROUND_HALF_EVEN)
    taxes[rate] = taxes.get(rate, Decimal(0)) + tax
    total += line + tax
out += [str(total), {k: str(v) for k, v in taxes.items()}]
share = [(total / 7).quantize(Decimal("0.01"), ROUND_DOWN)] * 7
share[0] += total - sum(share)
out.append([str(s) for s in share])
balance = Decimal("1000")
for month in range(4000):
    balance += balance * Decimal("0.0005")
    if balance > 5000:
        balance -= Decimal("123.45")
out.append(f"{balance:.4f}")
with localcontext() as c:
    c.prec = 400
    e = sum(Decimal(1) / f for f in (lambda: (x for x in __import__("itertools").accumulate(range(1, 200), lambda a, b: a * b)))())
    out.append(str(e)[:30])
    s = Decimal(2).sqrt()
    x = Decimal(1)
    for _ in range(40):
        x = (x + 2 / x) / 2
    out.append(str(x - s)[:12])
    a, b, t, p = Decimal(1), 1 / Decimal(2).sqrt(), Decimal("0.25"), 1
    for _ in range(9):
        an = (a + b) / 2
        b = (a * b).sqrt()
        t -= p * (a - an) ** 2
        a, p = an, p * 2
    out.append(str((a + b) ** 2 / (4 * t))[:40])
for i in range(1, 2500):
    d = Decimal(i) / 13
    -d, abs(d), d % 3, d // 2, d ** 2, int(d), float(d), d == i, d < 50, round(d, 3), d.as_tuple(), str(d), f"{d:,.2f}", hash(d), max(d, Decimal(2)), d.normalize(), d.to_integral_value(), divmod(d, 7)
getcontext().prec = 40
out.append(str(sum(Decimal(i).ln() for i in range(1, 200)))[:20])
out.append(str(sum((Decimal(i) / 50).exp() for i in range(1, 200)))[:20])
out.append(str(sum(Decimal(i) ** Decimal("0.3") for i in range(1, 80)))[:20])
big = [Decimal("1." + str(i) * 300) for i in range(1, 9)]
with localcontext() as c:
    c.prec = 3000
    prod = Decimal(1)
    for _ in range(6):
        for b in big:
            prod *= b
    out.append(str(prod)[:10] + str(prod / big[0])[:5])
try:
    Decimal("abc")
except InvalidOperation:
    out.append("bad")
getcontext().prec = 28
h = Fraction(0)
for i in range(1, 250):
    h += Fraction(1, i)
out.append(str(h)[:20])
out.append(sum(Decimal(s) for s in ["1.10", "2.2e3", "-7", "0.0001"] * 3000))
print(out)
