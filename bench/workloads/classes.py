"""Classes: attributes, methods, properties, inheritance, dataclasses, operators."""

from dataclasses import dataclass, field
from enum import Enum


class Vector:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def scaled(self, factor):
        return Vector(self.x * factor, self.y * factor)

    @property
    def squared(self):
        return self.x * self.x + self.y * self.y


class Particle:
    def __init__(self, position, velocity, mass=1.0):
        self.position = position
        self.velocity = velocity
        self.mass = mass
        self.bounces = 0

    def step(self, dt):
        self.position = self.position + self.velocity.scaled(dt)
        if not 0.0 <= self.position.x <= 100.0:
            self.velocity.x = -self.velocity.x
            self.bounces += 1
        if not 0.0 <= self.position.y <= 100.0:
            self.velocity.y = -self.velocity.y
            self.bounces += 1

    @property
    def energy(self):
        return 0.5 * self.mass * self.velocity.squared


class Kind(Enum):
    DEPOSIT = "deposit"
    WITHDRAWAL = "withdrawal"


class InsufficientFunds(Exception):
    pass


@dataclass
class Transaction:
    kind: Kind
    amount: int
    note: str = ""


@dataclass
class Account:
    owner: str
    balance: int = 0
    history: list = field(default_factory=list)

    def deposit(self, amount):
        if amount <= 0:
            raise ValueError("amount must be positive")
        self.balance += amount
        self.history.append(Transaction(Kind.DEPOSIT, amount))

    def withdraw(self, amount):
        if amount > self.balance:
            raise InsufficientFunds(self.owner)
        self.balance -= amount
        self.history.append(Transaction(Kind.WITHDRAWAL, amount))


class SavingsAccount(Account):
    rate = 2

    def deposit(self, amount):
        super().deposit(amount)
        self.balance += amount * self.rate // 100


class Node:
    def __init__(self, key):
        self.key = key
        self.left = None
        self.right = None


class Tree:
    def __init__(self):
        self.root = None
        self.size = 0

    def insert(self, key):
        if self.root is None:
            self.root = Node(key)
            self.size = 1
            return
        node = self.root
        while True:
            if key == node.key:
                return
            if key < node.key:
                if node.left is None:
                    node.left = Node(key)
                    break
                node = node.left
            else:
                if node.right is None:
                    node.right = Node(key)
                    break
                node = node.right
        self.size += 1

    def __iter__(self):
        yield from self._walk(self.root)

    def _walk(self, node):
        if node is not None:
            yield from self._walk(node.left)
            yield node.key
            yield from self._walk(node.right)


def simulate(count, steps):
    particles = [
        Particle(Vector(7.0 * i % 100, 13.0 * i % 100), Vector(i % 5 - 2.0, i % 3 - 1.0))
        for i in range(count)
    ]
    for _ in range(steps):
        for particle in particles:
            particle.step(0.5)
    return sum(p.bounces for p in particles), sum(p.energy for p in particles)


def bank(operations):
    accounts = [Account("ann"), SavingsAccount("bob"), SavingsAccount("eve", 1000)]
    refused = 0
    for i in range(operations):
        account = accounts[i % 3]
        if i % 4 < 2:
            account.deposit(10 + i % 90)
        else:
            try:
                account.withdraw(i % 200)
            except InsufficientFunds:
                refused += 1
    deposits = sum(1 for a in accounts for t in a.history if t.kind is Kind.DEPOSIT)
    return [a.balance for a in accounts], refused, deposits


def tree(count):
    tree = Tree()
    key = 1
    for _ in range(count):
        key = (key * 1103515245 + 12345) % 2147483648
        tree.insert(key % 100_000)
    return tree.size, sum(key for i, key in enumerate(tree) if i % 10 == 0)


def main():
    return [simulate(100, 600), bank(50_000), tree(12_000)]


main()
