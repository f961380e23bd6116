# What the scripts beside this one work on: the same on every machine, with the
# gaps and the odd ones out that real tables have.
import random
from datetime import date, timedelta

chance = random.Random(20240229)
regions = ["north", "south", "east", "west", "overseas"]
products = {f"P{n:03d}": (chance.choice(["tools", "toys", "books", "garden"]), chance.randint(199, 99900)) for n in range(120)}
sales = []
for number in range(12_000):
    product = chance.choice(list(products))
    kind, cents = products[product]
    day = date(2023, 1, 2) + timedelta(days=int(chance.triangular(0, 700, 500)))
    units = max(1, int(chance.expovariate(0.2)))
    amount = units * cents * chance.choice([100, 100, 100, 95, 80]) // 100
    if chance.random() < 0.002:
        amount *= 40
    sales.append({
        "id": number, "day": day.isoformat(), "region": chance.choices(regions, [5, 4, 3, 2, 1])[0], "product": product, "kind": kind,
        "units": units if chance.random() > 0.01 else None, "amount": f"{amount // 100}.{amount % 100:02d}", "customer": chance.randrange(900),
    })
customers = [
    {"customer": n, "name": f"Customer {n}", "segment": chance.choice(["trade", "home", "public"]), "since": 2005 + chance.randrange(19)}
    for n in range(0, 900, 1) if chance.random() > 0.05
]
stations = []
for hour in range(24 * 120):
    for name, base in (("hill", 4.0), ("harbour", 9.0)):
        if chance.random() > 0.02:
            wave = 6 * ((hour % 24) / 24 - 0.5) ** 2
            stations.append({"station": name, "hour": hour, "celsius": round(base + hour / 400 - wave + chance.gauss(0, 1.2), 2)})
words = "the order late arrived broken box again refund please thanks great fast cheap delivery wrong size colour never always help".split()
reviews = [
    {"id": n, "stars": chance.randint(1, 5), "text": " ".join(chance.choices(words, k=chance.randint(4, 30))).capitalize() + chance.choice([".", "!", "?", " :-("])}
    for n in range(1_500)
]
{"sales": sales, "customers": customers, "stations": stations, "reviews": reviews}
