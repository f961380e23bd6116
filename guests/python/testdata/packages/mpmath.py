import mpmath
from mpmath import mp, mpf

mp.dps = 40
[
    str(mp.pi), str(mpmath.zeta(3)), str(mpmath.quad(lambda x: mpmath.exp(-x**2), [-mpmath.inf, mpmath.inf])),
    str(mpmath.findroot(lambda x: mpmath.cos(x) - x, 0.7)), str(mpmath.gamma(mpf("0.5"))), str(mpmath.besselj(1, 2.5)),
    [str(x) for x in mpmath.lu_solve(mpmath.matrix([[2, 1], [1, 3]]), mpmath.matrix([3, 5]))],
    [str(mpmath.nstr(x, 15)) for x in mpmath.polyroots([1, -6, 11, -6])], str(mpmath.nsum(lambda n: 1 / n**2, [1, mpmath.inf])),
    mpmath.identify(mpmath.sqrt(2) + 1, ["sqrt(2)"]),
]
