# Sales whose amount per unit is far from what is usual for the product: by the
# median of the deviations, which a few wild values do not move.
import statistics
from decimal import Decimal
from more_itertools import map_reduce
from sortedcontainers import SortedList
from tabulate import tabulate

priced = [sale for sale in sales if sale["units"]]
prices = map_reduce(priced, lambda s: s["product"], lambda s: Decimal(s["amount"]) / s["units"])
usual = {}
for product, values in prices.items():
    middle = statistics.median(values)
    usual[product] = middle, statistics.median(abs(v - middle) for v in values)
found = SortedList(key=lambda row: -row[3])
for sale in priced:
    middle, deviation = usual[sale["product"]]
    price = Decimal(sale["amount"]) / sale["units"]
    if abs(price - middle) > max(8 * deviation, middle):
        found.add((sale["id"], sale["product"], sale["units"], (price / middle).quantize(Decimal("0.01"))))
quartiles = statistics.quantiles([float(sale["amount"]) for sale in sales], n=4)
{"n": len(found), "ids": sorted(row[0] for row in found), "quartiles": quartiles, "table": tabulate(list(found)[:5], headers=["sale", "product", "units", "times"], tablefmt="github")}
