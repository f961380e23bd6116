"""decimal: money to the cent, and many digits."""

from decimal import ROUND_HALF_UP, Decimal, getcontext, localcontext

CENT = Decimal("0.01")


def loan(principal, yearly_rate, months):
    rate = yearly_rate / 12
    factor = (1 + rate) ** months
    payment = (principal * rate * factor / (factor - 1)).quantize(CENT, ROUND_HALF_UP)
    balance, interest_paid = principal, Decimal(0)
    for _ in range(months):
        interest = (balance * rate).quantize(CENT, ROUND_HALF_UP)
        interest_paid += interest
        balance -= payment - interest
    return payment, interest_paid, balance


def invoices(count):
    vat = {"a": Decimal("0.19"), "b": Decimal("0.07"), "c": Decimal("0")}
    net_total = vat_total = Decimal("0.00")
    largest = Decimal(0)
    for i in range(count):
        price = Decimal(f"{i * 37 % 500}.{i % 100:02d}")
        quantity = i % 9 + 1
        discount = Decimal(i % 4) / 100
        net = (price * quantity * (1 - discount)).quantize(CENT, ROUND_HALF_UP)
        tax = (net * vat["abc"[i % 3]]).quantize(CENT, ROUND_HALF_UP)
        net_total += net
        vat_total += tax
        if net > largest:
            largest = net
    return net_total, vat_total, largest


def pi(digits):
    with localcontext() as context:
        context.prec = digits + 5
        three = Decimal(3)
        last, t, s, n, na, d, da = 0, three, 3, 1, 0, 0, 24
        while s != last:
            last = s
            n, na = n + na, na + 8
            d, da = d + da, da + 32
            t = (t * n) / d
            s += t
        context.prec = digits
        return +s


def roots(count):
    getcontext().prec = 50
    total = Decimal(0)
    for n in range(1, count):
        total += Decimal(n).sqrt() / n
    growth = sum((Decimal(n) / 10).exp() + Decimal(n).ln() for n in range(1, 120))
    getcontext().prec = 28
    return total, growth


def main():
    loans = [loan(Decimal(100_000 + 500 * n), Decimal("0.0325"), 360) for n in range(150)]
    payment = sum(p for p, _, _ in loans)
    interest = sum(i for _, i, _ in loans)
    total, growth = roots(12_000)
    net, tax, largest = invoices(60_000)
    return [str(x) for x in (payment, interest, total, growth, net, tax, largest)] + [str(pi(900))[-20:]]


main()
