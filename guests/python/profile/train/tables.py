"""sqlite3: a library with loans; bulk load, queries of many kinds, updates, text search."""
import sqlite3

db = sqlite3.connect(":memory:")
db.execute("PRAGMA foreign_keys = ON")
db.executescript("""
CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT UNIQUE, born INT);
CREATE TABLE book (id INTEGER PRIMARY KEY, author INT NOT NULL REFERENCES author, title TEXT, year INT, rating REAL, isbn TEXT);
CREATE TABLE loan (book INT REFERENCES book, member INT, taken TEXT, back TEXT);
CREATE INDEX loan_book ON loan (book);
CREATE INDEX book_year ON book (year, rating);
""")
out = []
with db:
    for i in range(300):
        db.execute("INSERT INTO author (name, born) VALUES (:n, :b)", {"n": f"Author {i:03d}", "b": 1900 + i % 90})
    db.executemany("INSERT INTO book (author, title, year, rating, isbn) VALUES (?,?,?,?,?)", ((i % 300 + 1, f"The {['Red', 'Blue', 'Old', 'Lost'][i % 4]} {['House', 'River', 'Song'][i % 3]} {i}", 1950 + i % 75, i % 50 / 10, f"978-{i:09d}") for i in range(8000)))
    db.executemany("INSERT INTO loan VALUES (?,?,?,?)", [(i * 11 % 8000 + 1, i % 500, f"2024-{i % 12 + 1:02d}-{i % 27 + 1:02d}", None if i % 10 == 0 else f"2024-{i % 12 + 1:02d}-28") for i in range(16000)])
q = lambda sql, *a: db.execute(sql, a).fetchall()
out.append(q("SELECT a.name, count(*) n, avg(b.rating) FROM book b JOIN author a ON a.id = b.author GROUP BY a.id ORDER BY n DESC, a.name LIMIT 3"))
out.append(q("SELECT year / 10 * 10 AS decade, count(*), max(rating), min(title) FROM book WHERE rating BETWEEN 1 AND 4.5 GROUP BY decade ORDER BY decade"))
out.append(q("SELECT b.title, count(l.member) FROM book b LEFT JOIN loan l ON l.book = b.id AND l.back IS NULL GROUP BY b.id HAVING count(l.member) > 1 ORDER BY 2 DESC, 1 LIMIT 4"))
out.append(q("WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 15000) SELECT sum(x), count(*) FROM n WHERE x % 3"))
out.append(q("SELECT year, title, row_number() OVER (PARTITION BY year ORDER BY rating DESC, id) r, lag(rating) OVER (ORDER BY id) FROM book WHERE year > 2010 LIMIT 5"))
out.append(q("SELECT upper(substr(title, 1, 3)), group_concat(id % 10, '') FROM (SELECT * FROM book LIMIT 500) GROUP BY 1 ORDER BY 1 LIMIT 2")[0][0])
out.append(q("SELECT DISTINCT member FROM loan WHERE taken >= ? AND taken < ? AND book IN (SELECT id FROM book WHERE title LIKE ?) ORDER BY member DESC LIMIT 3", "2024-03", "2024-06", "%Blue%"))
out.append(q("SELECT count(*) FROM book WHERE title GLOB '*Lost*' OR instr(lower(title), 'song') > 0"))
out.append(q("SELECT strftime('%m', taken) m, sum(julianday(back) - julianday(taken)) FROM loan WHERE back IS NOT NULL GROUP BY m ORDER BY m LIMIT 2"))
out.append(q("SELECT CASE WHEN rating >= 4 THEN 'high' WHEN rating >= 2 THEN 'mid' ELSE 'low' END k, count(*), round(total(rating), 2) FROM book GROUP BY k"))
out.append(q("SELECT a.born, (SELECT max(rating) FROM book WHERE author = a.id) FROM author a WHERE EXISTS (SELECT 1 FROM book WHERE author = a.id AND year < 1960) LIMIT 3"))
out.append(q("SELECT id FROM book WHERE year = 1999 UNION SELECT author FROM book WHERE rating > 4.8 EXCEPT SELECT member FROM loan LIMIT 3"))
db.create_function("shout", 1, lambda s: s.upper() + "!")
out.append(q("SELECT shout(title) FROM book WHERE id < 1500")[-1])
for i in range(2500):
    db.execute("SELECT title, rating FROM book WHERE id = ?", (i,)).fetchone()
    db.execute("INSERT INTO loan VALUES (?, ?, date('2024-01-01', ?), NULL)", (i % 8000 + 1, i, f"+{i % 300} days"))
db.execute("UPDATE book SET rating = rating + 0.1, title = title || '.' WHERE year % 2 = 0")
db.execute("DELETE FROM loan WHERE back IS NULL AND member % 3 = 1")
db.execute("CREATE TABLE summary AS SELECT author, count(*) AS n FROM book GROUP BY author")
db.execute("INSERT INTO summary VALUES (1, 2) ")
try:
    db.execute("INSERT INTO author (name) VALUES ('Author 001')")
except sqlite3.IntegrityError as e:
    out.append(str(e))
db.commit()
db.row_factory = sqlite3.Row
n = 0
for row in db.execute("SELECT id, title, rating, year FROM book ORDER BY rating DESC, title"):
    n += row["year"] if row["rating"] > 2 else len(row["title"])
out.append(n)
out.append([tuple(r) for r in q("SELECT * FROM summary ORDER BY n DESC, author LIMIT 2")])
db.execute("CREATE VIRTUAL TABLE ft USING fts5(title)")
db.execute("INSERT INTO ft SELECT title FROM book LIMIT 2000")
out.append(q("SELECT count(*) FROM ft WHERE ft MATCH 'red AND house'")[0][0])
out.append(q("SELECT json_extract('{\"a\":[1,2,3]}', '$.a[1]'), json_group_array(id) FROM author WHERE id < 4")[0][1])
print(out)
