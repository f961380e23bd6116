import sympy as sp
from sympy.parsing.latex import parse_latex
from sympy.physics import mechanics, units
from sympy.stats import E, Normal
from sympy.vector import CoordSys3D, curl, divergence

x, y, a = sp.symbols("x y a")
space = CoordSys3D("space")
field = space.x * space.y * space.i + space.z * space.j
frame, angle = mechanics.ReferenceFrame("frame"), mechanics.dynamicsymbols("angle")
turned = frame.orientnew("turned", "axis", (angle, frame.z))
[
    str(expression) for expression in (
        sp.expand((x + y) ** 3), sp.factor(x**3 - x), sp.simplify(sp.sin(x) ** 2 + sp.cos(x) ** 2), sp.diff(sp.exp(x**2) * sp.sin(x), x),
        sp.integrate(1 / (1 + x**2), x), sp.integrate(sp.exp(-x**2), (x, -sp.oo, sp.oo)), sp.limit(sp.sin(x) / x, x, 0), sp.series(sp.exp(x), x, 0, 5),
        sp.solve(x**2 - 2, x), sp.solve([x + y - 3, x - y - 1], [x, y]), sp.Matrix([[2, 1], [1, 3]]).inv(), sp.Matrix([[2, 0], [0, 3]]).eigenvals(),
        sp.latex(sp.Rational(1, 3) * sp.sqrt(x)), sp.N(sp.pi, 30), sp.sympify("2*x + 1/3").subs(x, 2), sp.factorint(360), sp.dsolve(sp.Function("f")(x).diff(x) - sp.Function("f")(x)),
        sp.lambdify(x, x**2 + 1)(3), E(Normal("N", 2, 1)), sp.nsimplify(0.75), sp.sum if False else sp.summation(x, (x, 1, 10)),
        parse_latex(r"\frac{x^2}{2} + 1", backend="lark"), units.convert_to(5 * units.km / units.hour, units.meter / units.second),
        divergence(field), curl(field), turned.ang_vel_in(frame), sp.combinatorics.Permutation([1, 2, 0]).order(),
    )
]
