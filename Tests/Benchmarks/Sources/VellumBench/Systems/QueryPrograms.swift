import CBOR
import Foundation

/// Other programs for the same queries, where they are installed: with the cities as lines of JSON, and as a table of DuckDB.
struct QueryPrograms {
    private let folder: String
    private let hasDuckDB: Bool
    private let hasJQ: Bool
    private var lines: String { folder + "/cities.ndjson" }
    private var database: String { folder + "/cities.duckdb" }

    init(in folder: String) {
        self.folder = folder
        func isInstalled(_ program: String) -> Bool {
            (try? ChildProcess.run([program, "--version"], output: "/dev/null")) != nil
        }
        hasDuckDB = isInstalled("duckdb")
        hasJQ = isInstalled("jq")
    }

    func load(_ cities: some Sequence<City>) throws {
        guard hasDuckDB || hasJQ else { return }
        guard FileManager.default.createFile(atPath: lines, contents: nil),
            let file = FileHandle(forWritingAtPath: lines)
        else { throw BenchmarkError("cannot write \(lines)") }
        var text = ""
        for city in cities {
            text += try JSONPrinter.text(of: CBOREncoder().encode(city)) + "\n"
            if text.utf8.count > 1 << 20 {
                try file.write(contentsOf: Data(text.utf8))
                text = ""
            }
        }
        try file.write(contentsOf: Data(text.utf8))
        try file.close()
        guard hasDuckDB else { return }
        _ = try duckDB(
            """
            CREATE TABLE cities AS SELECT CAST(geonameid AS VARCHAR) AS key, * FROM read_json('\(lines)', \
            format = 'newline_delimited', columns = {geonameid: 'BIGINT', name: 'VARCHAR', latitude: 'DOUBLE', \
            longitude: 'DOUBLE', countrycode: 'VARCHAR', population: 'BIGINT', timezone: 'VARCHAR', \
            admin1code: 'VARCHAR', alternatenames: 'VARCHAR[]'});
            """)
    }

    /// DuckDB's result and, for each run, its processor nanoseconds with one thread, since it reports elapsed time in whole
    /// milliseconds only. `nil`: not installed.
    func duckDB(_ question: CityQuestion, runs: Int) throws -> (rows: [String], nanoseconds: [Double])? {
        guard hasDuckDB else { return nil }
        let statement = (question.duckDB ?? question.statement).replacing("{}", with: "cities")
            .replacing(/\{(\w+)\}/) { $0.output.1 }
        let script = String(repeating: statement + ";\n", count: runs + 1)
        var rows: [String] = []
        var times: [Double] = []
        for line in try duckDB("SET threads = 1;\n.timer on\n" + script) {
            if let match = line.firstMatch(of: /^Run Time \(s\): real \S+ user (\S+) sys (\S+)/) {
                times.append(((Double(match.output.1) ?? .nan) + (Double(match.output.2) ?? .nan)) * 1e9)
            } else if times.isEmpty {
                rows.append(line.split(separator: "|").prefix(2).joined(separator: " "))
            }
        }
        guard times.count == runs + 1, times.allSatisfy(\.isFinite) else {
            throw BenchmarkError("\(question.name): DuckDB reports no times")
        }
        return (rows, Array(times.dropFirst()))
    }

    /// jq's result, and the elapsed nanoseconds of one run, in which it reads all lines. `nil`: not installed.
    func jq(_ question: CityQuestion) throws -> (rows: [String], nanoseconds: Double)? {
        guard hasJQ else { return nil }
        let output = folder + "/jq.txt"
        let time = try Clock.nanoseconds {
            try ChildProcess.run(["jq", "-n", "-r", question.jq, lines], output: output)
        }
        return (try Self.lines(of: output), time)
    }

    /// The lines that DuckDB prints.
    private func duckDB(_ script: String) throws -> [String] {
        let (input, output) = (folder + "/duckdb.sql", folder + "/duckdb.txt")
        try Data(".mode list\n.headers off\n\(script)\n".utf8).write(to: URL(fileURLWithPath: input))
        try ChildProcess.run(["duckdb", "-batch", "-bail", database, "-f", input], output: output)
        return try Self.lines(of: output)
    }

    private static func lines(of path: String) throws -> [String] {
        let text = String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
        return text.split(separator: "\n").map(String.init)
    }
}
