import Foundation
import TOMLKit

/// A parsed settings file: assignments with line numbers, and problems.
struct ConfigurationFile: Sendable {
    struct Item: Sendable {
        var name: String
        var line: Int
        /// The texts of the value; one for a single text, nil if it is neither a text nor a list of texts.
        var texts: [String]?
    }

    let path: String
    private(set) var exists = false
    private(set) var items: [Item] = []
    private(set) var tables: [String: (line: Int, items: [Item])] = [:]
    /// One line each: file, line, key and problem.
    private(set) var problems: [String] = []

    private static let mostBytes = 256 << 10

    init(path: String) {
        self.path = path
        let file = StateFile(path: path)
        exists = file.exists
        do throws(SourceError) {
            let data = try file.read(limit: Self.mostBytes)
            if let text = String(validating: data, as: UTF8.self) {
                read(text)
            } else {
                problems.append("\(path) isn't UTF-8")
            }
        } catch {
            problems.append(error.description)
        }
    }

    mutating func object(line: Int, _ key: String, _ reason: String) {
        problems.append("\(path):\(line): \(key): \(reason)")
    }

    private mutating func read(_ text: String) {
        do {
            let document = try TOMLTable(string: text)
            let lines = AssignedLines(text)
            items = Self.items(of: document, in: "", lines).filter { document[$0.name]?.table == nil }
            for (name, value) in document {
                guard let table = value.table else { continue }
                tables[name] = (lines.line(name, in: ""), Self.items(of: table, in: name, lines))
            }
        } catch let error as TOMLParseError {
            problems.append(
                "\(path):\(error.source.begin.line): \(error.description); no setting of this file is used")
        } catch {
            problems.append("\(path): \(error)")
        }
    }

    private static func items(of table: TOMLTable, in name: String, _ lines: AssignedLines) -> [Item] {
        table.map { key, value in
            let list = value.array.map { $0.map { $0.string } }
            return Item(
                name: key, line: lines.line(key, in: name),
                texts: value.string.map { [$0] }
                    ?? list.flatMap { $0.contains(nil) ? nil : $0.compactMap(\.self) })
        }
        .sorted { ($0.line, $0.name) < ($1.line, $1.name) }
    }
}

/// Line numbers of the keys of a valid TOML document, which the parser reports only in errors. A dotted key has the line of its
/// first part.
private struct AssignedLines: Sendable {
    /// Line numbers by path: table and key, or table and nil for the table itself.
    private var lines: [[String?]: Int] = [:]

    init(_ text: String) {
        var table = ""
        for (number, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            .enumerated()
        {
            let line = line.drop { $0 == " " || $0 == "\t" }
            if line.first == "[" {
                table = Self.name(line.drop { $0 == "[" })
                note([table, nil], number + 1)
            } else if line.contains("=") {
                note([table, Self.name(line)], number + 1)
            }
        }
    }

    private mutating func note(_ path: [String?], _ line: Int) { lines[path] = lines[path] ?? line }

    private static func name(_ text: Substring) -> String {
        let text = text.drop { $0 == " " || $0 == "\t" }
        if let quote = text.first, quote == "\"" || quote == "'" {
            return String(text.dropFirst().prefix { $0 != quote })
        }
        return String(text.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "-" })
    }

    /// The line of a key; also of a table, with its name as `key` and an empty `table`.
    func line(_ key: String, in table: String) -> Int {
        lines[[table, key]] ?? lines[[key, nil]] ?? lines[["", table]] ?? lines[[table, nil]] ?? 1
    }
}
