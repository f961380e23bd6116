import pyparsing as pp

integer = pp.Word(pp.nums).set_parse_action(lambda t: int(t[0]))
variable = pp.Word(pp.alphas)
expression = pp.infix_notation(integer | variable, [("-", 1, pp.opAssoc.RIGHT), (pp.one_of("* /"), 2, pp.opAssoc.LEFT), (pp.one_of("+ -"), 2, pp.opAssoc.LEFT)])
pair = variable("key") + pp.Suppress("=") + (integer | pp.QuotedString('"'))("value")
try:
    pair.parse_string("a = ", parse_all=True)
except pp.ParseException as e:
    error = [e.loc, str(e)]
[
    expression.parse_string("2*x + 3*(4 - y)").as_list(), [m.as_dict() for m in pair.search_string('a=1, b = "two", c')], error,
    pp.nested_expr().parse_string("(a (b c) d)").as_list(), pp.pyparsing_common.number.parse_string("1.5e3")[0],
]
