# Linear regression of the temperature on time and hour of the day, exact first
# (fractions), and with errors of what comes out.
import math
import statistics
from uncertainties import ufloat
from mpmath import matrix, lu_solve, mp

results = {}
for name in ("hill", "harbour"):
    points = [(row["hour"], row["celsius"]) for row in stations if row["station"] == name]
    x, y = zip(*points)
    line = statistics.linear_regression(x, y)
    mean = statistics.fmean(x)
    spread = sum((v - mean) ** 2 for v in x)
    error = math.sqrt(sum((b - line.slope * a - line.intercept) ** 2 for a, b in points) / (len(points) - 2) / spread)
    slope = ufloat(line.slope, error)
    # The same with a second variable, by the normal equations.
    mp.dps = 30
    columns = [[1.0] * len(x), [a / 24 for a in x], [((a % 24) / 24 - 0.5) ** 2 for a in x]]
    normal = matrix([[math.fsum(p * q for p, q in zip(a, b)) for b in columns] for a in columns])
    solved = lu_solve(normal, matrix([math.fsum(p * q for p, q in zip(a, y)) for a in columns]))
    results[name] = {
        "n": len(points), "slope": line.slope, "intercept": line.intercept, "correlation": statistics.correlation(x, y),
        "per week": str(slope * 168), "terms": [mp.nstr(v, 12) for v in solved],
    }
results
