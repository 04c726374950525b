/// A query for Vellum, SQLite and others.
struct CityQuestion {
    let name: String
    /// In Vellum's query language.
    let query: String
    /// For ``CityTables/answer(_:_:)``.
    let statement: String
    /// For DuckDB, where its SQL differs.
    var duckDB: String?
    /// For jq, without its input.
    var jq = ""
    /// Whether the order of the result is unspecified.
    var isUnordered = false

    /// The query of P9.
    static let conditions = CityQuestion(
        name: "P9 query",
        query: #"find countrycode = "ID" and population > 1000000 | sort population desc, name | limit 10"#,
        statement: """
            SELECT key FROM {} WHERE {countrycode} = 'ID' AND {population} > 1000000 \
            ORDER BY {population} DESC, {name} LIMIT 10
            """)

    /// The most frequent kinds of queries.
    static let usual = [
        CityQuestion(
            name: "find contains", query: #"find name contains "burg" | count"#,
            statement: "SELECT count(*) FROM {} WHERE instr({name}, 'burg') > 0",
            jq: #"reduce (inputs | select(.name | contains("burg"))) as $city (0; . + 1)"#),
        CityQuestion(
            name: "find icontains", query: #"find name icontains "SAN" | count"#,
            statement: "SELECT count(*) FROM {} WHERE {name} LIKE '%SAN%'",
            duckDB: "SELECT count(*) FROM {} WHERE {name} ILIKE '%SAN%'",
            jq: #"reduce (inputs | select(.name | ascii_downcase | contains("san"))) as $city (0; . + 1)"#),
        CityQuestion(
            name: "anchored pattern", query: #"find name matches "^San " | count"#,
            statement: "SELECT count(*) FROM {} WHERE {name} GLOB 'San *'",
            jq: #"reduce (inputs | select(.name | test("^San "))) as $city (0; . + 1)"#),
        CityQuestion(
            name: "list has", query: #"find alternatenames has "Djakarta" | count"#,
            statement: """
                SELECT count(*) FROM {} WHERE EXISTS \
                (SELECT 1 FROM json_each({alternatenames}) AS names WHERE names.value = 'Djakarta')
                """,
            duckDB: "SELECT count(*) FROM {} WHERE list_contains({alternatenames}, 'Djakarta')",
            jq: #"reduce (inputs | select(.alternatenames | index("Djakarta"))) as $city (0; . + 1)"#),
        CityQuestion(
            name: "top 20", query: "sort population desc | limit 20",
            statement: "SELECT key FROM {} ORDER BY {population} DESC LIMIT 20",
            jq: "[inputs | [-.population, .geonameid]] | sort | .[:20][][1]"),
        CityQuestion(
            // The identifier makes the order unique.
            name: "sort by two keys", query: "sort countrycode, population desc, geonameid | limit 100",
            statement: """
                SELECT key FROM {} ORDER BY {countrycode}, {population} DESC, {geonameid} LIMIT 100
                """,
            jq: "[inputs | [.countrycode, -.population, .geonameid]] | sort | .[:100][][2]"),
        CityQuestion(
            name: "group and average", query: "group by countrycode | count, avg population",
            statement: """
                SELECT {countrycode} AS code, count(*), avg({population}) FROM {} GROUP BY code ORDER BY code
                """,
            jq: #"""
                reduce inputs as $city ({}; .[$city.countrycode] |= [.[0] + 1, .[1] + $city.population]) \#
                | to_entries | sort_by(.key)[] | "\(.key) \(.value[0])"
                """#),
        CityQuestion(
            name: "distinct", query: "distinct timezone", statement: "SELECT DISTINCT {timezone} FROM {}",
            jq: "reduce inputs as $city ({}; .[$city.timezone] = 1) | keys[]", isUnordered: true),
        CityQuestion(
            name: "one by key", query: #"find @key = "4711""#,
            statement: "SELECT key FROM {} WHERE key = '4711'",
            jq: "inputs | select(.geonameid == 4711) | .geonameid"),
    ]
}
