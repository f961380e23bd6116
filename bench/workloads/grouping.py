"""Dicts, lists and sets: group rows, count, join, comprehend."""

from collections import Counter, defaultdict, deque
from itertools import groupby

REGIONS = ["north", "south", "east", "west"]
PRODUCTS = ["anvil", "bolt", "clamp", "drill", "epoxy", "file", "gauge"]


def make_rows(count):
    rows = []
    for i in range(count):
        rows.append({
            "id": i,
            "region": REGIONS[(i * 7 + i // 5) % 4],
            "product": PRODUCTS[(i * 3 + i // 11) % 7],
            "units": i % 13 + 1,
            "price": round(2.5 + (i * 37 % 1000) / 100, 2),
        })
    return rows


def totals(rows):
    by_region = defaultdict(float)
    by_pair = {}
    for row in rows:
        amount = row["units"] * row["price"]
        by_region[row["region"]] += amount
        key = (row["region"], row["product"])
        if key not in by_pair:
            by_pair[key] = {"count": 0, "amount": 0.0, "max": 0.0}
        entry = by_pair[key]
        entry["count"] += 1
        entry["amount"] += amount
        entry["max"] = max(entry["max"], amount)
    best = max(by_pair.items(), key=lambda item: item[1]["amount"])
    return {k: round(v, 2) for k, v in by_region.items()}, best[0], best[1]["count"]


def medians(rows):
    groups = {}
    for row in rows:
        groups.setdefault(row["product"], []).append(row["price"])
    result = {}
    for product, prices in groups.items():
        prices.sort()
        middle = len(prices) // 2
        result[product] = prices[middle]
    return result


def overlaps(rows):
    north = {row["units"] * 100 + row["id"] % 100 for row in rows if row["region"] == "north"}
    south = {row["units"] * 100 + row["id"] % 100 for row in rows if row["region"] == "south"}
    return len(north & south), len(north | south), len(north - south)


def moving_average(rows, width):
    window, total, out = deque(), 0.0, []
    for row in rows:
        window.append(row["price"])
        total += row["price"]
        if len(window) > width:
            total -= window.popleft()
        out.append(total / len(window))
    return round(sum(out), 3)


def pivot(rows):
    cells = {}
    for row in rows:
        cells[row["region"], row["product"]] = cells.get((row["region"], row["product"]), 0) + row["units"]
    return [[cells.get((r, p), 0) for p in PRODUCTS] for r in REGIONS]


def main():
    rows = make_rows(40_000)
    counted = Counter(row["product"] for row in rows).most_common(3)
    ordered = sorted(rows, key=lambda row: (row["region"], -row["units"], row["id"]))
    first = [next(group)["id"] for _, group in groupby(ordered, key=lambda row: row["region"])]
    copies = [{**row, "amount": row["units"] * row["price"]} for row in rows[:10_000]]
    squares = {n: n * n for n in range(50_000)}
    flat = [n for row in [[i, i + 1, i + 2] for i in range(20_000)] for n in row if n % 3]
    return [
        totals(rows),
        medians(rows),
        overlaps(rows),
        moving_average(rows, 30),
        pivot(rows),
        counted,
        first,
        round(sum(copy["amount"] for copy in copies), 2),
        sum(squares.values()),
        len(flat),
    ]


main()
