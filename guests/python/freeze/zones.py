"""Packs a tree of time zone files into one blob with an index.

    zones.py OUT ZONEINFO

Only what zoneinfo reads is kept: of each file the second, 64-bit half, after
an empty first half. Equal zones are stored once.
"""

import pathlib
import struct
import sys

HEADER = struct.Struct(">4s1s15x6L")
NOT_ZONES = {"localtime", "posixrules"}


def slim(raw):
    """The same zone without the 32-bit half that old readers use."""
    magic, version, isutcnt, isstdcnt, leapcnt, timecnt, typecnt, charcnt = HEADER.unpack_from(raw)
    if magic != b"TZif" or version < b"2":
        raise ValueError("not a time zone file of version 2 or later")
    old_body = timecnt * 4 + timecnt + typecnt * 6 + charcnt + leapcnt * 8 + isstdcnt + isutcnt
    rest = raw[HEADER.size + old_body :]
    if not rest.startswith(b"TZif"):
        raise ValueError("no 64-bit half")
    # One type and one character are the least that a valid half can have.
    return HEADER.pack(b"TZif", version, 0, 0, 0, 0, 1, 1) + b"\0" * 7 + rest


def main(out, root):
    root = pathlib.Path(root)
    blob, index, seen = bytearray(), [], {}
    for path in sorted(root.rglob("*")):
        key = path.relative_to(root).as_posix()
        # right/ counts leap seconds; a file with a dot is a list of zones.
        if not path.is_file() or key in NOT_ZONES or key.startswith("right/") or "." in path.name:
            continue
        if path.read_bytes()[:4] != b"TZif":
            continue
        zone = slim(path.read_bytes())
        if zone not in seen:
            seen[zone] = len(blob)
            blob += zone
        index.append((key, seen[zone], len(zone)))
    if len(index) < 400:
        sys.exit(f"zones: only {len(index)} time zones below {root}")
    # The reader searches by bytes, so the order is that of the encoded names.
    index.sort(key=lambda entry: entry[0].encode())
    pathlib.Path(out + ".bin").write_bytes(blob)
    pathlib.Path(out + ".idx").write_text("".join(f"{k} {o} {s} 0\n" for k, o, s in index))
    print(f"{len(index)} time zones, {len(seen)} different, {len(blob)} bytes")


if __name__ == "__main__":
    main(*sys.argv[1:])
