"""json and re: read log lines, build records, write and read them, validate."""

import json
import re
from collections import Counter

LINE = re.compile(
    r'(?P<host>\d{1,3}(?:\.\d{1,3}){3}) - (?P<user>\S+) \[(?P<when>[^\]]+)\] '
    r'"(?P<method>[A-Z]+) (?P<path>\S+) HTTP/\d\.\d" (?P<status>\d{3}) (?P<size>\d+|-)'
)
EMAIL = re.compile(r"\b[\w.+-]+@[\w-]+\.[\w.-]+\b")
WORD = re.compile(r"\w+")


def make_log(lines):
    methods, users = ["GET", "POST", "PUT"], ["-", "ann", "bob"]
    for i in range(lines):
        yield (
            f'10.{i % 7}.{i % 31}.{i % 251} - {users[i % 3]} [{i % 28 + 1:02d}/Mar/2025:10:{i % 60:02d}:00 +0000] '
            f'"{methods[i % 3]} /api/v{i % 2 + 1}/items/{i % 500}?q={i * 17 % 1000} HTTP/1.1" '
            f'{[200, 200, 201, 404, 500][i % 5]} {i * 37 % 5000 if i % 9 else "-"}'
        )


def parse(lines):
    records = []
    for line in lines:
        match = LINE.match(line)
        if not match:
            continue
        record = match.groupdict()
        record["status"] = int(record["status"])
        record["size"] = 0 if record["size"] == "-" else int(record["size"])
        record["tags"] = [part for part in re.split(r"[/?=&]", record["path"]) if part]
        record["ok"] = record["status"] < 400
        record["ratio"] = record["size"] / 3
        records.append(record)
    return records


def mails(count):
    text = " ".join(
        f"write to user{i}.name+tag@mail{i % 40}.example.org or call {i:03d}-{i * 7 % 1000:03d}," for i in range(count)
    )
    found = EMAIL.findall(text)
    hidden = re.sub(r"(\d{3})-(\d{3})", r"\1-***", text)
    return len(found), len(set(m.split("@")[1] for m in found)), hidden.count("***"), len(WORD.findall(text))


def main():
    records = parse(make_log(8_000))
    text = json.dumps(records)
    pretty = json.dumps(records[:1500], indent=2, sort_keys=True)
    again = json.loads(text)
    by_status = Counter(record["status"] for record in again)
    slim = [json.dumps({"p": r["path"], "s": r["size"]}, separators=(",", ":")) for r in again]
    sizes = sum(json.loads(line)["s"] for line in slim)
    return [
        len(records),
        len(text),
        len(pretty),
        sorted(by_status.items()),
        sizes,
        mails(3_000),
        again == records,
    ]


main()
