from lark import Lark, Transformer, UnexpectedInput, v_args

grammar = r"""
?start: sum
?sum: product | sum "+" product -> add | sum "-" product -> sub
?product: atom | product "*" atom -> mul | product "/" atom -> div
?atom: NUMBER -> number | "-" atom -> neg | "(" sum ")"
%import common.NUMBER
%import common.WS_INLINE
%ignore WS_INLINE
"""


@v_args(inline=True)
class Calculate(Transformer):
    from operator import add, mul, neg, sub, truediv as div
    number = float


results = {}
for parser in ("lalr", "earley"):
    calculator = Lark(grammar, parser=parser)
    results[parser] = [Calculate().transform(calculator.parse(text)) for text in ("1+2*3", "-(4 - 6)/8", "2*(3+4)*5")]
try:
    Lark(grammar, parser="lalr").parse("1 + * 2")
except UnexpectedInput as e:
    results["error"] = [type(e).__name__, e.line, e.column]
results["tree"] = Lark(grammar, parser="lalr").parse("1+2").pretty()
results
