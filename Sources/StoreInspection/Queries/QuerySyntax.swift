package enum QuerySyntax {
    package static let examples: [(query: String, meaning: String)] = [
        ("find countrycode = \"ID\"", "entries whose property equals a text"),
        ("find population > 1000000 and name is not null", "entries that meet both conditions"),
        ("find name icontains \"san\" | count", "number of names that contain a text, ignoring case"),
        ("sort population desc | limit 10", "the ten largest values"),
        ("find @idle > 1h | sort @size desc", "not accessed for an hour, largest first"),
        ("find @created >= today - 3d", "stored since midnight three days ago"),
        ("select name, population / 1000 as thousands", "only these columns"),
        ("group by countrycode | count, sum population", "count and sum for each group"),
        ("find tags has any [\"a\", \"b\"]", "lists that contain one of these"),
        ("find address.city starts with \"New\"", "a nested property"),
        ("distinct timezone", "each distinct value once"),
    ]

    package static var lines: [String] {
        var lines = [
            "A query is a list of stages separated by |. Each processes the rows of the previous one.", "",
            "Examples:",
        ]
        for example in examples { lines += ["  \(example.query)", "      \(example.meaning)"] }
        lines += ["", "Stages:"] + stages.map { "  \($0)" }
        lines += ["", "Conditions:"] + conditions.map { "  \($0)" }
        lines += ["", "Values:"] + values.map { "  \($0)" }
        lines += ["", "Properties:"] + properties.map { "  \($0)" }
        return lines
    }

    private static let stages = [
        "find CONDITION", "sort PROPERTY [desc], …", "limit N, skip N", "select PROPERTY [as NAME], …",
        "distinct PROPERTY, …", "group by PROPERTY, … | AGGREGATE, …",
        "count, sum P, avg P, min P, max P, median P, percentile P 95, count distinct P",
    ]

    private static let conditions = [
        "= != < <= > >=, in [1, 2], between 1 and 5",
        "contains, icontains, starts with, ends with, like \"a%_\", ilike, matches \"^regular expression$\"",
        "has, has any […], has all […] for lists; count(LIST) > 3",
        "is null, is empty, is not null, is null or empty", "and, or, not, ( )",
    ]

    private static let values = [
        "5, 1.5, \"text\", true, false, null", "500ms, 90s, 5m, 1h30m, 3d; 10kB, 2 MiB",
        "2026-01-31, 2026-01-31 09:05, 2026-01-31T09:05:00Z; now, today, yesterday, tomorrow; today - 3d, now - 2h",
    ]

    private static let properties = [
        "name, address.city, tags[0], items[].price, \"odd name\"",
        "@key @size @created @accessed @idle @age @ttl @expires @hits @tier @owner @rank; servers: @type @encoding",
        "calculations: price * amount, (a + b) / 2",
    ]
}
