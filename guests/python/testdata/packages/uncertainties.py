from uncertainties import ufloat, ufloat_fromstr
from uncertainties.umath import log, sqrt

length, width = ufloat(5.0, 0.1), ufloat(3.0, 0.2)
area = length * width
[str(area), f"{area:.3uS}", str(sqrt(area)), str(log(length)), str(area - area), str(ufloat_fromstr("12.3(4)")), round((area / length).std_dev, 12), area.derivatives[length]]
