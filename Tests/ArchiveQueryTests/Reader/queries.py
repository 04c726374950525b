#!/usr/bin/env python3
"""Answers queries over JSON documents. Based only on the language's description; simple rather than fast.

Usage: queries.py DOCUMENTS QUERIES. Each line of the first file is a JSON document (the most recent
first; the keys are numbers from 0), each line of the second a query. Prints one JSON array per line: the keys of the
rows, or their columns.
"""

import datetime
import functools
import itertools
import json
import re
import sys
import unicodedata

TOKEN = re.compile(
    r"""\s*(?:
    (?P<date>\d{4}-\d\d-\d\d) |
    (?P<text>"(?:[^"\\]|\\.)*") |
    (?P<number>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?) |
    (?P<word>@?[A-Za-z_][A-Za-z0-9_]*) |
    (?P<sign><=|>=|!=|[=<>|()\[\],.+*/-]) )""",
    re.X,
)
MISSING = None
# The result of a calculation or conversion that isn't possible.
FAILED = object()
# A step to all elements of a list.
EACH = object()
# The first part of a conversion.
CONVERT = object()
CONVERSIONS = ("number", "date", "text", "bool")


class Date:
    def __init__(self, text=None, seconds=0):
        day = text and datetime.date.fromisoformat(text) - datetime.date(1970, 1, 1)
        self.seconds = day.days * 86400 if text else seconds


def as_date(value):
    """The value as a date, also from a text; None for others."""
    if isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", value):
        try:
            return Date(value)
        except ValueError:
            return None
    return value if isinstance(value, Date) else None


def conjunction(truths):
    truths = list(truths)
    return False if any(truth is False for truth in truths) else None if None in truths else True


def negation(truth):
    return None if truth is None else not truth


def disjunction(truths):
    return negation(conjunction(negation(truth) for truth in truths))


def unless_missing(value):
    """The result of an operator that doesn't apply to this kind of value."""
    return False if value is MISSING else None


def tokens(query):
    found, place = [], 0
    query = query.rstrip()
    while place < len(query):
        match = TOKEN.match(query, place)
        if not match:
            raise ValueError("no token in " + query[place:])
        found.append((match.lastgroup, match.group(match.lastgroup)))
        place = match.end()
    return found + [("end", "")]


class Parser:
    def __init__(self, query):
        self.tokens, self.place = tokens(query), 0

    def peek(self, value):
        return self.tokens[self.place][0] in ("word", "sign") and self.tokens[self.place][1] == value

    def accept(self, value):
        if self.peek(value):
            self.place += 1
            return True
        return False

    def take(self):
        self.place += 1
        return self.tokens[self.place - 1]

    def expect(self, value):
        if not self.accept(value):
            raise ValueError("expected %s at %r" % (value, self.tokens[self.place:]))

    def pipeline(self):
        stages = []
        while self.tokens[self.place][0] != "end":
            stages.append(self.stage())
            if not self.accept("|"):
                break
        joined = []
        for stage in stages:
            if joined and stage[0] == "figures" and joined[-1][0] == "group" and joined[-1][2] is None:
                joined[-1] = ("group", joined[-1][1], stage[1])
            else:
                joined.append(stage)
        return joined

    def stage(self):
        name = self.take()[1]
        if name == "find":
            return ("find", self.either())
        if name == "sort":
            keys = []
            while True:
                path = self.operand()
                keys.append((path, self.accept("desc")))
                if not self.accept(","):
                    return ("sort", keys)
        if name in ("limit", "skip"):
            return (name, int(self.take()[1]))
        if name == "select":
            return ("select", self.list(self.column))
        if name == "distinct":
            return ("distinct", self.list(self.column))
        if name == "group":
            self.expect("by")
            return ("group", self.list(self.column), None)
        self.place -= 1
        return ("figures", self.list(self.figure))

    def column(self):
        path = self.operand()
        return (path, (self.take()[1],) if self.accept("as") else path)

    def list(self, item):
        items = [item()]
        while self.accept(","):
            items.append(item())
        return items

    def figure(self):
        name = self.take()[1]
        percent, path = 50, None
        if name == "count" and self.accept("distinct"):
            name, path = "count distinct", self.operand()
        elif name != "count":
            path = self.operand()
        if name == "percentile":
            percent = self.value()
            name = "p%g" % percent
        return (name, path, percent, self.take()[1] if self.accept("as") else None)

    def operand(self):
        """A path, a number, or (sign, left, right) for a calculation with two operands."""
        left = self.product()
        while self.peek("+") or self.peek("-"):
            left = (self.take()[1], left, self.product())
        return left

    def product(self):
        left = self.part()
        while self.peek("*") or self.peek("/"):
            left = (self.take()[1], left, self.part())
        return left

    def part(self):
        if self.accept("("):
            inner = self.operand()
            self.expect(")")
            return inner
        if self.tokens[self.place][0] in ("number", "date"):
            return self.value()
        if self.tokens[self.place][1] in CONVERSIONS and self.tokens[self.place + 1][1] == "(":
            name = self.take()[1]
            self.expect("(")
            inner = self.operand()
            self.expect(")")
            return (CONVERT, name, inner)
        return self.path()

    def path(self):
        kind, name = self.take()
        steps = [json.loads(name) if kind == "text" else name]
        while True:
            if self.accept("."):
                kind, name = self.take()
                steps.append(json.loads(name) if kind == "text" else name)
            elif self.accept("["):
                steps.append(EACH if self.peek("]") else int(self.take()[1]))
                self.expect("]")
            else:
                return tuple(steps)

    def either(self):
        parts = [self.both()]
        while self.accept("or"):
            parts.append(self.both())
        return lambda row: disjunction(part(row) for part in parts)

    def both(self):
        parts = [self.one()]
        while self.accept("and"):
            parts.append(self.one())
        return lambda row: conjunction(part(row) for part in parts)

    def one(self):
        if self.accept("not"):
            inner = self.one()
            return lambda row: negation(inner(row))
        if self.peek("(") and not self.is_calculation():
            self.expect("(")
            inner = self.either()
            self.expect(")")
            return inner
        if self.peek("count") and self.tokens[self.place + 1][1] == "(":
            self.place += 2
            path = self.operand()
            self.expect(")")
            relation, number = self.take()[1], self.value()
            return lambda row: some(row, path, lambda value: counts(value, relation, number))
        return self.condition(self.operand())

    def is_calculation(self):
        """Whether the next parenthesis is a calculation, not a condition: an operator follows it."""
        place, depth = self.place, 0
        while True:
            sign = self.tokens[place][1] if self.tokens[place][0] == "sign" else ""
            depth += (sign == "(") - (sign == ")")
            place += 1
            if depth == 0:
                return self.tokens[place][1] in ("+", "-", "*", "/", "<", ">", "=", "!=", "<=", ">=")

    def condition(self, path):
        test = self.test(self.take()[1])
        return lambda row: some(row, path, lambda value: test(row, value))

    def test(self, word):
        if word in ("=", "!=", "<", "<=", ">", ">="):
            if self.tokens[self.place][0] == "word" and self.tokens[self.place][1] not in ("true", "false", "null"):
                other = self.operand()
                return lambda row, own: some(row, other, lambda value: compares(own, word, value, False))
            if self.tokens[self.place][0] in ("number", "date"):
                other = self.operand()
                return lambda row, own: compares(own, word, get(row, other), True)
            value = self.value()
            return lambda row, own: compares(own, word, value, True)
        if word == "in":
            values = self.values()
            return lambda row, own: disjunction(compares(own, "=", value, True) for value in values)
        if word == "between":
            low = self.value()
            self.expect("and")
            high = self.value()
            return lambda row, own: conjunction([compares(own, ">=", low, True), compares(own, "<=", high, True)])
        if word in ("starts", "ends"):
            self.expect("with")
            text = plain(self.value())
            return lambda row, own: edge(plain(own), text, word == "ends") if isinstance(own, str) else unless_missing(own)
        if word in ("like", "ilike"):
            fold = word == "ilike"
            pattern = "".join({"%": ".*", "_": "."}.get(c, re.escape(c)) for c in self.value())
            pattern = re.compile(pattern, re.S | (re.I if fold else 0))
            return lambda row, own: pattern.fullmatch(plain(own)) is not None if isinstance(own, str) else unless_missing(own)
        if word in ("contains", "icontains"):
            text = self.value()
            fold = word == "icontains"
            return lambda row, own: found(text, own, fold) if isinstance(own, str) else unless_missing(own)
        if word == "matches":
            pattern = self.value()
            return lambda row, own: re.search(pattern, own) is not None if isinstance(own, str) else unless_missing(own)
        if word == "has":
            if self.accept("any"):
                values = self.values()
                return lambda row, own: has(own, values, any)
            values = self.values() if self.accept("all") else [self.value()]
            return lambda row, own: has(own, values, all)
        if word == "is":
            return self.presence()
        raise ValueError("no operator: " + word)

    def presence(self):
        is_not = self.accept("not")
        if self.accept("empty"):
            return lambda row, own: unless_missing(own) if emptiness(own) is None else emptiness(own) is (not is_not)
        self.expect("null")
        if self.peek("or") and self.tokens[self.place + 1][1] == "empty":
            self.place += 2
            return lambda row, own: True if is_absent(own) else emptiness(own)
        return lambda row, own: is_absent(own) != is_not

    def value(self):
        kind, text = self.take()
        if kind == "text" or kind == "number":
            return json.loads(text)
        if kind == "date":
            return Date(text)
        return {"true": True, "false": False, "null": None}[text]

    def values(self):
        self.expect("[")
        if self.accept("]"):
            return []
        values = self.list(self.value)
        self.expect("]")
        return values


def resolved(row, path):
    """The value of a column such as l[], and the rest of the path. After select, the column is a list."""
    if is_many(path):
        for name, column in row[2] or []:
            if is_many(name) and path[: len(name)] == name:
                return (None, column, None), ((EACH,) if row[0] is not None else ()) + path[len(name) :]
    return row, path


def values_of(row, path):
    """One value, or one for each element of a list: null if the element lacks it or is no object."""
    row, path = resolved(row, path)
    if not is_many(path):
        return [get(row, path)]
    place = path.index(EACH)
    elements, rest = get(row, path[:place]), path[place + 1 :]
    if not isinstance(elements, list):
        return []
    return [value for element in elements for value in (values_of((None, element, None), rest) if rest else [element])]


def is_many(path):
    return isinstance(path, tuple) and EACH in path


def has_other_than_lists(row, path):
    """Whether a path to all elements of lists leads to a present value that is no list."""
    row, path = resolved(row, path)
    if not is_many(path):
        return False
    place = path.index(EACH)
    elements, rest = get(row, path[:place]), path[place + 1 :]
    if isinstance(elements, list):
        return is_many(rest) and any(has_other_than_lists((None, element, None), rest) for element in elements)
    return elements is not MISSING


def some(row, path, test):
    """Whether the test is true for one of the values."""
    truths = [test(value) for value in values_of(row, path)]
    return disjunction(truths + ([None] if has_other_than_lists(row, path) else []))


def is_absent(value):
    return value is MISSING or value is FAILED


def shown(row, path):
    values = values_of(row, path)
    return values if is_many(resolved(row, path)[1]) else values[0]


def combinations(row, columns):
    """The different combinations of a row's values."""
    found = {}
    for values in itertools.product(*(values_of(row, path) for path, _ in columns)):
        found.setdefault(tuple(map(identity, values)), list(values))
    return found.items()


def leading(row, path, descending):
    """The value that a sort uses if there are several."""
    key = functools.cmp_to_key(lambda a, b: before(a, b, descending))
    return min(values_of(row, path), key=key, default=MISSING)


def converted(name, value):
    if is_absent(value):
        return value
    if isinstance(value, (list, dict)):
        return FAILED
    if name == "number":
        if isinstance(value, bool):
            return int(value)
        if isinstance(value, Date):
            return value.seconds
        if isinstance(value, str):
            is_number = re.fullmatch(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?", value)
            return json.loads(value) if is_number else FAILED
        return value
    if name == "date":
        return as_date(value) or FAILED
    if name == "bool":
        known = {"true": True, "false": False, 0: False, 1: True}
        return FAILED if isinstance(value, Date) else known.get(value, FAILED)
    if isinstance(value, bool):
        return "true" if value else "false"
    if kind(value) == "number":
        return json.dumps(int(value) if value == int(value) else value)
    return value


def calculated(sign, a, b):
    a, b = as_date(a) or a, as_date(b) or b
    if a is FAILED or b is FAILED:
        return FAILED
    if a is MISSING or b is MISSING:
        return MISSING
    if isinstance(a, Date) and isinstance(b, Date) and sign == "-":
        return a.seconds - b.seconds
    if isinstance(a, Date) and kind(b) == "number" and sign in "+-":
        return Date(seconds=a.seconds + (b if sign == "+" else -b))
    if isinstance(b, Date) and kind(a) == "number" and sign == "+":
        return Date(seconds=b.seconds + a)
    if kind(a) != "number" or kind(b) != "number" or sign == "/" and b == 0:
        return FAILED
    if sign == "/":
        return a // b if isinstance(a, int) and isinstance(b, int) and a % b == 0 else a / b
    return {"+": a + b, "-": a - b, "*": a * b}[sign]


def get(row, path):
    if not isinstance(path, tuple):
        return path
    if path == ():
        return row[1]
    if path[0] is CONVERT:
        return converted(path[1], get(row, path[2]))
    if path[0] in ("+", "-", "*", "/"):
        return calculated(path[0], get(row, path[1]), get(row, path[2]))
    key, value, columns = row
    if columns is not None:
        for name, column in columns:
            if path[: len(name)] == name:
                return follow(column, path[len(name) :])
            if path == name:
                return column
    if path == ("@key",):
        return key
    return follow(value, path) if columns is None else MISSING


def follow(value, path):
    for step in path:
        if isinstance(step, int):
            if not isinstance(value, list) or step >= len(value):
                return MISSING
            value = value[step]
        else:
            if not isinstance(value, dict) or step not in value:
                return MISSING
            value = value[step]
    return value


def kind(value):
    if isinstance(value, Date):
        return "date"
    if is_absent(value):
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number"
    return {str: "text", list: "list", dict: "map"}[type(value)]


def plain(value):
    return unicodedata.normalize("NFC", value) if isinstance(value, str) else value


def compares(stored, relation, value, is_literal):
    if stored is FAILED or value is FAILED:
        return relation == "=" if is_literal and value is None and relation in ("=", "!=") else None
    if kind(stored) == "null" or kind(value) == "null":
        same = kind(stored) == kind(value)
        return same if relation == "=" else relation == "!=" and not same
    if {kind(stored), kind(value)} == {"date", "text"}:
        stored, value = as_date(stored), as_date(value)
        if stored is None or value is None:
            return None
    if relation in ("=", "!="):
        return (identity(stored) == identity(value)) == (relation == "=")
    if kind(stored) != kind(value) or kind(stored) not in ("number", "text", "date"):
        return None
    order = before(stored, value, False)
    return {"<": order < 0, "<=": order <= 0, ">": order > 0, ">=": order >= 0}[relation]


def has(stored, values, which):
    if not isinstance(stored, list):
        return unless_missing(stored)
    return which(any(compares(element, "=", value, True) is True for element in stored) for value in values)


def found(text, stored, fold):
    text, stored = plain(text), plain(stored)
    if fold:
        # Canonical caseless matching.
        text, stored = (plain(unicodedata.normalize("NFD", one).casefold()) for one in (text, stored))
    place = stored.find(text)
    while place >= 0:
        end = place + len(text)
        # A part of a character is no match.
        if not text or end == len(stored) or not unicodedata.category(stored[end]).startswith("M"):
            return True
        place = stored.find(text, place + 1)
    return False


def edge(stored, text, at_end):
    if at_end:
        # A mark belongs to the character before it, so a text that begins with a mark matches no end.
        return stored.endswith(text) and not unicodedata.category(text[:1] or "a").startswith("M")
    rest = stored[len(text):]
    return stored.startswith(text) and not unicodedata.category(rest[:1] or "a").startswith("M")


def emptiness(value):
    return len(value) == 0 if isinstance(value, (str, list, dict)) else None


def counts(value, relation, number):
    if value is MISSING:
        return relation == "!="
    return compares(len(plain(value)), relation, number, True) if isinstance(value, (str, list, dict)) else None


KINDS = ("boolean", "number", "date", "text", "list", "map", "null")


def before(a, b, descending):
    """Negative if a is first. Absent values are last in both directions."""
    ranks = (KINDS.index(kind(a)), KINDS.index(kind(b)))
    if 6 in ranks:
        return ranks[0] - ranks[1]
    order = ranks[0] - ranks[1] or alike(a, b)
    return -order if descending else order


def alike(a, b):
    """The order of two values of the same kind."""
    if isinstance(a, list):
        return next(filter(None, (before(x, y, False) for x, y in zip(a, b))), len(a) - len(b))
    if isinstance(a, dict):
        pairs = zip(sorted(a.items(), key=key_bytes), sorted(b.items(), key=key_bytes))
        for (left, x), (right, y) in pairs:
            left, right = left.encode(), right.encode()
            order = (left > right) - (left < right) or before(x, y, False)
            if order:
                return order
        return len(a) - len(b)
    a, b = (a.seconds, b.seconds) if isinstance(a, Date) else (plain(a), plain(b))
    return (a > b) - (a < b)


def key_bytes(entry):
    return entry[0].encode()


def identity(value):
    """A representation that is equal for equal values of any kind."""
    if isinstance(value, list):
        return ("list", tuple(map(identity, value)))
    if isinstance(value, dict):
        return ("map", tuple((key.encode(), identity(part)) for key, part in sorted(value.items(), key=key_bytes)))
    return (kind(value), value.seconds if isinstance(value, Date) else None if is_absent(value) else plain(value))


def figures_of(figures, rows):
    row = []
    for name, path, percent, _ in figures:
        values = [] if path is None else [value for each in rows for value in values_of(each, path)]
        numbers = [value for value in values if kind(value) == "number"]
        preferred = [[v for v in values if kind(v) == one] for one in ("number", "date", "text", "boolean")]
        ordered = next(filter(None, preferred), [])
        key = functools.cmp_to_key(lambda a, b: before(a, b, False))
        if name == "count":
            row.append(len(rows))
        elif name == "sum":
            row.append(sum(numbers))
        elif name == "count distinct":
            row.append(len({identity(value) for value in values if not is_absent(value)}))
        elif name == "median" or name[0] == "p":
            row.append(percentile(sorted(numbers), percent))
        elif name == "avg":
            row.append(sum(numbers) / len(numbers) if numbers else None)
        elif name == "min":
            row.append(min(ordered, key=key) if ordered else None)
        else:
            row.append(max(ordered, key=key) if ordered else None)
    return row


def percentile(numbers, percent):
    if not numbers:
        return None
    hundredths = percent * (len(numbers) - 1)
    lower = int(hundredths // 100)
    part = (hundredths - 100 * lower) / 100
    if part == 0:
        return numbers[lower]
    return numbers[lower] + (numbers[lower + 1] - numbers[lower]) * part


def names_of(figures):
    names = []
    for name, path, _, called in figures:
        alone = sum(other[0] == name for other in figures) == 1
        names.append((called,) if called else (name if alone else name + " " + ".".join(map(str, path)) if path else name,))
    return names


def run(stages, rows):
    for stage in stages:
        if stage[0] == "find":
            rows = [row for row in rows if stage[1](row) is True]
        elif stage[0] == "sort":

            def order(a, b):
                for path, descending in stage[1]:
                    result = before(leading(a, path, descending), leading(b, path, descending), descending)
                    if result:
                        return result
                return 0

            rows = sorted(rows, key=functools.cmp_to_key(order))
        elif stage[0] == "limit":
            rows = rows[: stage[1]]
        elif stage[0] == "skip":
            rows = rows[stage[1] :]
        elif stage[0] == "select":
            rows = [(row[0], None, [(name, shown(row, path)) for path, name in stage[1]]) for row in rows]
        elif stage[0] == "distinct":
            seen = {}
            for row in rows:
                for key, values in combinations(row, stage[1]):
                    seen.setdefault(key, values)
            rows = [(None, None, list(zip([name for _, name in stage[1]], values))) for values in seen.values()]
        elif stage[0] == "figures":
            rows = [(None, None, list(zip(names_of(stage[1]), figures_of(stage[1], rows))))]
        else:
            figures = stage[2] or [("count", None, 0, None)]
            groups = {}
            for row in rows:
                for key, values in combinations(row, stage[1]):
                    groups.setdefault(key, (values, []))[1].append(row)

            def group_order(a, b):
                for left, right in zip(a[0], b[0]):
                    result = before(left, right, False)
                    if result:
                        return result
                return 0

            names = [name for _, name in stage[1]] + names_of(figures)
            rows = [
                (None, None, list(zip(names, values + figures_of(figures, members))))
                for values, members in sorted(groups.values(), key=functools.cmp_to_key(group_order))
            ]
    return rows


def shown_part(value):
    """The value with all texts in the same normal form."""
    if isinstance(value, list):
        return list(map(shown_part, value))
    if isinstance(value, dict):
        return {key: shown_part(part) for key, part in value.items()}
    return None if is_absent(value) else plain(value)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        documents = [(str(number), json.loads(line), None) for number, line in enumerate(file)]
    with open(sys.argv[2], encoding="utf-8") as file:
        for line in file:
            rows = run(Parser(line.rstrip("\n")).pipeline(), documents)
            print(json.dumps([row[0] if row[2] is None else [shown_part(value) for _, value in row[2]] for row in rows]))


main()
