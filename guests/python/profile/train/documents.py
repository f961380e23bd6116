"""json, re, csv, base64, hashing, dates: what scripts around data do."""
import base64
import csv
import datetime as dt
import hashlib
import html
import io
import json
import pickle
import re
import struct
import urllib.parse
import xml.etree.ElementTree as ET
import zlib

out = []
config = {"servers": [{"host": f"h{i}.example", "port": 8000 + i, "tags": ["a", "b", None, True], "weight": i / 7, "meta": {"ключ": "значение", "n": -i, "big": 10 ** (i % 30)}} for i in range(1500)], "debug": False}
text = json.dumps(config)
out.append(len(text))
for _ in range(2):
    again = json.loads(text)
out.append(len(json.dumps(again, ensure_ascii=False, indent=4)) + len(json.dumps(again, sort_keys=True, separators=(",", ":"))))
lines = "\n".join(json.dumps({"t": i, "event": "click" if i % 3 else "view", "user": f"u{i % 50}", "q": 'say "hi"\n\t\\'}) for i in range(5000))
events = [json.loads(l) for l in lines.splitlines()]
out.append(sum(e["t"] for e in events if e["event"] == "view"))
def walk(node, depth=0):
    if isinstance(node, dict):
        return max((walk(v, depth + 1) for v in node.values()), default=depth)
    if isinstance(node, list):
        return max((walk(v, depth + 1) for v in node), default=depth)
    return depth
out.append(walk(config))
try:
    json.loads('{"a": [1, 2,, 3]}')
except json.JSONDecodeError as e:
    out.append(e.pos)
class Enc(json.JSONEncoder):
    def default(self, o):
        return o.isoformat() if isinstance(o, dt.date) else super().default(o)
out.append(len(json.dumps([dt.date(2024, 1, i % 28 + 1) for i in range(500)], cls=Enc)))
TOKEN = re.compile(r"\s*(?:(?P<num>\d+(?:\.\d+)?)|(?P<name>[A-Za-z_]\w*)|(?P<op>\*\*|[-+*/()=<>!]=?|,)|(?P<str>\"(?:[^\"\\]|\\.)*\"))")
source = 'total = price * (1 + vat) ** 2 - discount("spring \\"sale\\"", 3.25) / count_items(a, b)\n' * 400
kinds = {}
for m in TOKEN.finditer(source):
    kinds[m.lastgroup] = kinds.get(m.lastgroup, 0) + 1
out.append(kinds)
syslog = "\n".join(f"Mar {i % 28 + 1:2d} 10:{i % 60:02d}:{i * 7 % 60:02d} host{i % 9} sshd[{1000 + i}]: Failed password for {'invalid user ' if i % 4 == 0 else ''}root{i % 30} from 192.168.{i % 256}.{i * 3 % 256} port {i + 40000} ssh2" for i in range(3000))
failed = re.findall(r"^(\w{3}\s+\d+) (\S+) .*Failed password for (?:invalid user )?(\S+) from ([\d.]+) port (\d+)", syslog, re.M)
out.append(len(failed))
out.append(len(re.sub(r"\b(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})\b", lambda m: m[1] + ".x.x." + m[4], syslog)))
out.append(len(re.split(r"[\s:\[\]]+", syslog)))
dates = " ".join(f"2024-{i % 12 + 1:02d}-{i % 28 + 1:02d} and {i % 28 + 1}/{i % 12 + 1}/24 cost $1,{i % 1000:03d}.50" for i in range(1500))
out.append(len(re.findall(r"(\d{4})-(\d\d)-(\d\d)", dates)) + sum(float(a.replace(",", "")) for a in re.findall(r"\$([\d,]+\.\d\d)", dates)))
CASE = re.compile(r"(cat|dog|bird)s?\b", re.I)
out.append(sum(1 for w in ["Cats and dogs", "a bird", "nothing here", "DOG cat"] * 1500 if CASE.search(w)))
out.append(bool(re.fullmatch(r"[a-z0-9]+(?:-[a-z0-9]+)*", "a-b-c-123")) + len(re.sub(r"<[^>]+>", "", "<p>Hello <b>world</b></p>" * 1500)))
buf = io.StringIO()
w = csv.writer(buf)
w.writerow(["id", "name", "amount", "when"])
for i in range(5000):
    w.writerow([i, f'name, "{i}"', i * 1.25, dt.date(2020, 1, 1) + dt.timedelta(days=i % 900)])
buf.seek(0)
total = {}
for row in csv.DictReader(buf):
    month = row["when"][:7]
    total[month] = total.get(month, 0.0) + float(row["amount"])
out.append(len(total))
when = [dt.datetime(2024, 1, 1) + dt.timedelta(minutes=i * 37) for i in range(4000)]
out.append(len({d.strftime("%Y-%W") for d in when[:1500]}) + sum(d.weekday() for d in when) + (when[-1] - when[0]).days)
out.append(sum(dt.datetime.fromisoformat(d.isoformat()).hour for d in when) + dt.datetime.strptime("2024-03-05 07:08", "%Y-%m-%d %H:%M").minute)
h = hashlib.sha256()
for i in range(3000):
    h.update(str(i).encode())
out += [h.hexdigest()[:8], hashlib.md5(text.encode()).hexdigest()[:6], zlib.crc32(text.encode())]
out.append(len(base64.b64decode(base64.b64encode(zlib.decompress(zlib.compress(text.encode()))))))
out.append(pickle.loads(pickle.dumps(config))["servers"][5]["port"])
out.append(sum(struct.unpack("<IHBd", struct.pack("<IHBd", i, i % 65536, i % 256, i / 3))[0] for i in range(4000)))
out.append(len(urllib.parse.urlencode({f"k{i}": f"v &{i}" for i in range(400)})) + len(urllib.parse.urlparse("https://a.b/c;d?e=f#g").path) + len(html.escape("<a&b>" * 500)))
root = ET.fromstring("<r>" + "".join(f'<item id="{i}"><name>n{i}</name><v>{i}</v></item>' for i in range(1500)) + "</r>")
out.append(sum(int(e.find("v").text) for e in root.iter("item")))
out.append(sum(len(repr(e)) + len(str(e)) for e in events[:800]))
print(out)
