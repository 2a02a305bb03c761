"""Transcendental functions to 60 digits, from their series."""
from decimal import Decimal, getcontext
from fractions import Fraction

getcontext().prec = 70
PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803")
LN2 = Decimal(2).ln()


def decimal(x):
    return Decimal(x.numerator) / Decimal(x.denominator)


def exp2(x):
    return Fraction((decimal(x) * LN2).exp())


def log2(x):
    return Fraction(decimal(x).ln() / LN2)


def sine(x, quarter=0):
    """sin(x + quarter * pi / 2)"""
    angle = (decimal(x) + PI / 2 * quarter).remainder_near(2 * PI)
    term, total, n = angle, angle, 1
    while abs(term) > Decimal(10) ** -66:
        term = -term * angle * angle / ((n + 1) * (n + 2))
        total, n = total + term, n + 2
    return Fraction(total)


def tanh(x):
    if abs(x) < Fraction(1, 10 ** 12):
        return x - x ** 3 / 3
    e = (2 * decimal(x)).exp()
    return Fraction((e - 1) / (e + 1))
