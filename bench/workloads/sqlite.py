"""sqlite3: load rows, index, join, aggregate, window functions, text."""

import sqlite3


def load(db, count):
    db.executescript("""
        CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT);
        CREATE TABLE sale (
            id INTEGER PRIMARY KEY, customer INTEGER REFERENCES customer (id),
            product TEXT, units INTEGER, price REAL, day TEXT
        );
    """)
    db.executemany(
        "INSERT INTO customer VALUES (?, ?, ?)",
        [(i, f"customer {i}", ["Oslo", "Rome", "Lima", "Kyiv"][i % 4]) for i in range(400)],
    )
    db.executemany(
        "INSERT INTO sale (customer, product, units, price, day) VALUES (?, ?, ?, ?, ?)",
        (
            (i * 7 % 400, f"item-{i * 13 % 60}", i % 9 + 1, (i * 31 % 1000) / 10, f"2025-{i % 12 + 1:02d}-{i % 28 + 1:02d}")
            for i in range(count)
        ),
    )
    db.execute("CREATE INDEX sale_customer ON sale (customer)")
    db.commit()


def main():
    db = sqlite3.connect(":memory:")
    load(db, 40_000)
    by_city = db.execute("""
        SELECT c.city, count(*), sum(s.units), round(sum(s.units * s.price), 2) AS amount
        FROM sale s JOIN customer c ON c.id = s.customer
        GROUP BY c.city ORDER BY amount DESC
    """).fetchall()
    months = db.execute("""
        SELECT substr(day, 1, 7) AS month, product, sum(units) AS n
        FROM sale GROUP BY month, product HAVING n > 200 ORDER BY n DESC, month, product LIMIT 5
    """).fetchall()
    ranked = db.execute("""
        SELECT product, amount, rank() OVER (ORDER BY amount DESC) FROM (
            SELECT product, round(sum(units * price), 2) AS amount FROM sale GROUP BY product
        ) LIMIT 3
    """).fetchall()
    running = db.execute("""
        SELECT max(total) FROM (
            SELECT sum(price) OVER (PARTITION BY customer ORDER BY id) AS total FROM sale
        )
    """).fetchone()[0]
    like = db.execute("SELECT count(*) FROM sale WHERE product LIKE '%-1%' AND day > '2025-06'").fetchone()[0]
    looked_up = 0
    for i in range(4_000):
        row = db.execute("SELECT name, city FROM customer WHERE id = ?", (i % 400,)).fetchone()
        looked_up += len(row[0])
    with db:
        db.execute("UPDATE sale SET price = price * 1.1 WHERE units > 5")
        db.execute("DELETE FROM sale WHERE price < 5")
    left = 0
    db.row_factory = sqlite3.Row
    for row in db.execute("SELECT product, units, price FROM sale WHERE id % 2 = 0"):
        left += row["units"] if row["price"] > 20 else 0
    return [by_city, months, ranked, round(running, 2), like, looked_up, left]


main()
