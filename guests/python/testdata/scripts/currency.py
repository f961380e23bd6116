# Money, exactly: discounts, tax per line, rates, the rest of a split, as an
# invoice made by a template.
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from babel.numbers import format_currency
from jinja2 import Environment

CENT = Decimal("0.01")
rates = {"EUR": Decimal(1), "USD": Decimal("1.0837"), "JPY": Decimal("163.26")}
mine = [sale for sale in sales if sale["customer"] == 17]
lines, total, tax = [], Decimal(0), Decimal(0)
for sale in mine:
    net = Decimal(sale["amount"]) * (Decimal("0.97") if (sale["units"] or 0) > 5 else 1)
    net = net.quantize(CENT, ROUND_HALF_UP)
    part = (net * (Decimal("0.07") if sale["kind"] == "books" else Decimal("0.19"))).quantize(CENT, ROUND_HALF_EVEN)
    lines.append({"product": sale["product"], "net": net, "tax": part})
    total, tax = total + net, tax + part
shares = [((total + tax) / 3).quantize(CENT, ROUND_HALF_UP)] * 2
shares.append(total + tax - sum(shares))
env = Environment(trim_blocks=True, autoescape=True)
env.filters["eur"] = lambda amount: format_currency(amount, "EUR", locale="de_DE")
invoice = env.from_string("""{% for line in lines %}
{{ "%-5s" % line.product }} {{ line.net|eur }} + {{ line.tax|eur }}
{% endfor %}
Summe {{ total|eur }}, mit Steuer {{ (total + tax)|eur }}""").render(lines=lines, total=total, tax=tax)
{
    "lines": len(lines), "total": str(total), "tax": str(tax), "shares": list(map(str, shares)), "invoice": invoice,
    "rates": {name: format_currency((total + tax) * rate, name, locale="en_US") for name, rate in rates.items()},
}
