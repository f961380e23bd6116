"""Prints what a call, as "mayfly exec --json" tells it, answered and cost."""
usage = call["usage"]
if call["status"] == "ok":
    print(call["stdout"])
print(f"status  {call['status']}"
      + (f": {call['error']['message']}" if "error" in call else ""))
print(f"cost    {usage['wall_ms']:.1f} ms wall, {usage['cpu_ms']:.1f} ms CPU, {usage['fuel']:,} fuel, "
      f"{usage['peak_memory_bytes'] / 2**20:.1f} MiB at most, {usage['dirtied_bytes'] / 2**20:.1f} MiB written")
if "truncated" in call:
    kept = len(call["stdout"].encode())
    print(f"output  {kept:,} of {call['truncated']['stdout']:,} bytes kept")

# The answer is checked against what the shell counted.
if call["status"] == "ok":
    got = (call["value"]["items"], call["value"]["total_kib"])
    assert got == (items, total_kib), f"the script counted {got}, the shell {(items, total_kib)}"
assert call["status"] == want, f"status {call['status']}, want {want}"
