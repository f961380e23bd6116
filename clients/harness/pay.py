"""The handler of the tool pay. It runs confined, in a process of its own."""


def pay(to, usd, idempotency_key):
    """A real one would hand the key to the bank, so that nothing is paid twice."""
    return {"paid": usd, "to": to}
