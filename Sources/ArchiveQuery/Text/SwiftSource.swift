/// Why a pipeline can't be expressed in the typed API.
public struct SwiftSourceUnavailable: Error, Sendable, Hashable, CustomStringConvertible {
    /// The reason, in one line.
    public var description: String
}

extension QueryPipeline {
    /// The pipeline as Swift source for the typed API: an expression on `archives`, over several lines.
    /// - Throws: for an unsupported pipeline. The typed API supports `find`, `sort` and `limit`, on properties of the objects.
    public func swiftSource(archives: String = "archives") throws(SwiftSourceUnavailable) -> String {
        var lines = [archives]
        for stage in stages {
            switch stage {
            case .find(let predicate):
                lines.append("    .findWhere { archive in")
                lines.append("        " + (try SwiftSource.expression(predicate)))
                lines.append("    }")
            case .sort(let keys):
                var orders: [String] = []
                for key in keys {
                    orders.append(
                        try SwiftSource.path(key.property)
                            + (key.isDescending ? "(.descending)" : "(.ascending)"))
                }
                lines.append("    .sorted { by in")
                lines.append("        by." + orders.joined(separator: "\n            ."))
                lines.append("    }")
            case .limit(let count): lines.append("    .limitResults(by: \(max(0, count)))")
            case .skip, .select, .distinct, .aggregate, .group:
                throw SwiftSourceUnavailable(description: "the typed API has no such stage: \(stage)")
            }
        }
        // Without stages there is no query to get results from.
        return stages.isEmpty
            ? archives + ".accessAll()" : lines.joined(separator: "\n") + "\n    .getResults()"
    }
}

private enum SwiftSource {
    private static let indent = "\n            "

    /// The predicate as an expression, in parentheses if an operand needs them.
    static func expression(_ predicate: QueryPredicate, isOperand: Bool = false)
        throws(SwiftSourceUnavailable) -> String
    {
        switch predicate {
        case .not(let part): return "!" + (try expression(part, isOperand: true))
        case .and(let parts): return try joined(parts, "&&", isOperand)
        case .or(let parts) where !parts.isEmpty: return try joined(parts, "||", isOperand)
        default: return "archive." + (try conditions(predicate)).joined(separator: indent + ".")
        }
    }

    /// Adjacent conditions of a conjunction are chained without a sign.
    private static func joined(_ parts: [QueryPredicate], _ sign: String, _ isOperand: Bool)
        throws(SwiftSourceUnavailable) -> String
    {
        var terms: [String] = []
        for part in parts {
            let term = try expression(part, isOperand: true)
            if sign == "&&", let last = terms.last, last.hasPrefix("archive."), term.hasPrefix("archive.") {
                terms[terms.count - 1] = last + indent + term.dropFirst("archive".count)
            } else {
                terms.append(term)
            }
        }
        let text = terms.isEmpty ? "archive" : terms.joined(separator: "\(indent)\(sign) ")
        return isOperand && terms.count > 1 ? "(\(text))" : text
    }

    /// The conditions on one property, each with its finder.
    private static func conditions(_ predicate: QueryPredicate) throws(SwiftSourceUnavailable) -> [String] {
        switch predicate {
        case .and, .or, .not:
            throw SwiftSourceUnavailable(description: "the typed API has no such condition: \(predicate)")
        case .compare(let property, let relation, let value):
            return [try path(property) + "(.\(name(relation)) \(literal(value))))"]
        case .count(let property, let relation, let number):
            return [try path(property) + "(.\(try countName(relation)) \(number)))"]
        case .isIn(let property, let values):
            return [try path(property) + "(.isValid { \(list(values)).contains($0) })"]
        case .between(let property, let low, let high):
            let path = try path(property)
            return [
                try path + "(.greaterOrEqual(with: \(literal(low))))",
                try path + "(.lessOrEqual(with: \(literal(high))))",
            ]
        case .relate:
            throw SwiftSourceUnavailable(
                description: "the typed API compares properties with values only: \(predicate)")
        case .startsWith(let property, let text):
            return [try path(property) + "(.isValid { $0.hasPrefix(\(quoted(text))) })"]
        case .endsWith(let property, let text):
            return [try path(property) + "(.isValid { $0.hasSuffix(\(quoted(text))) })"]
        case .like(let property, let pattern, let caseSensitive):
            let expression = LikePattern(pattern, caseSensitive: caseSensitive).regularExpression
            return [try path(property) + "(.matches(regex: \(quoted(expression))))"]
        case .contains(let property, let text, let caseSensitive):
            let option = caseSensitive ? "" : ", caseSensitive: false"
            return [try path(property) + "(.contains(string: \(quoted(text))\(option)))"]
        case .matches(let property, let pattern):
            return [try path(property) + "(.matches(regex: \(quoted(pattern))))"]
        case .hasAny(let property, let values):
            return [try path(property) + "(.contains(atLeastOne: \(list(values))))"]
        case .hasAll(let property, let values):
            let argument = try values.count == 1 ? "with: \(literal(values[0]))" : "all: \(list(values))"
            return [try path(property) + "(.contains(\(argument)))"]
        case .presence(let property, let presence): return [try path(property) + "(.\(name(presence)))"]
        }
    }

    static func path(_ property: QueryProperty) throws(SwiftSourceUnavailable) -> String {
        if case .computed = property {
            throw SwiftSourceUnavailable(description: "the typed API does not calculate: \(property)")
        }
        if case .converted = property {
            throw SwiftSourceUnavailable(description: "the typed API does not convert: \(property)")
        }
        guard case .path(let steps) = property else {
            throw SwiftSourceUnavailable(
                description: "the typed API queries properties of objects only, not \(property)")
        }
        var names: [String] = []
        for step in steps {
            guard case .name(let name) = step, name.utf8.first?.isWordStart == true,
                name.utf8.allSatisfy({ $0.isWordPart && $0 != 0x2d })
            else { throw SwiftSourceUnavailable(description: "Swift has no property \(property)") }
            names.append(keywords.contains(name) ? "`\(name)`" : name)
        }
        return names.joined(separator: ".")
    }

    /// Keywords that need backquotes even after a dot.
    private static let keywords: Set<String> = ["init", "self", "Type", "Protocol"]

    private static func name(_ relation: QueryRelation) -> String {
        switch relation {
        case .equal: "isEqual(with:"
        case .notEqual: "isNotEqual(with:"
        case .less: "less(than:"
        case .lessOrEqual: "lessOrEqual(with:"
        case .greater: "greater(than:"
        case .greaterOrEqual: "greaterOrEqual(with:"
        }
    }

    private static func countName(_ relation: QueryRelation) throws(SwiftSourceUnavailable) -> String {
        switch relation {
        case .equal: return "countEqual(with:"
        case .notEqual: throw SwiftSourceUnavailable(description: "the typed API has no != for counts")
        case .less: return "countLess(than:"
        case .lessOrEqual: return "countLessOrEqual(with:"
        case .greater: return "countGreater(than:"
        case .greaterOrEqual: return "countGreaterOrEqual(with:"
        }
    }

    private static func name(_ presence: QueryPresence) -> String {
        switch presence {
        case .null: "isNil"
        case .notNull: "isNotNil"
        case .empty: "isEmpty"
        case .notEmpty: "isNotEmpty"
        case .nullOrEmpty: "isNilOrEmpty"
        }
    }

    private static func list(_ values: [QueryLiteral]) throws(SwiftSourceUnavailable) -> String {
        let literals = try values.map(literal)
        return "[" + literals.joined(separator: ", ") + "]"
    }

    private static func literal(_ value: QueryLiteral) throws(SwiftSourceUnavailable) -> String {
        switch value {
        case .null: return "nil"
        case .boolean(let flag): return flag ? "true" : "false"
        case .integer(let number): return String(number)
        case .unsigned(let number): return String(number)
        case .number(let number): return number.description
        case .exact(let number):
            throw SwiftSourceUnavailable(description: "the typed API has no number that is \(number)")
        case .text(let text): return quoted(text)
        case .duration(let microseconds):
            return microseconds % 1_000_000 == 0
                ? String(microseconds / 1_000_000) : (Double(microseconds) / 1_000_000).description
        case .size(let bytes): return String(bytes)
        case .date(let microseconds):
            return "Date(timeIntervalSince1970: \(Double(microseconds) / 1_000_000))"
        case .localDate(let date): return try source(date)
        }
    }

    /// Relative dates stay relative: they depend on each run, and on the time zone of the program.
    private static func source(_ date: QueryDate) throws(SwiftSourceUnavailable) -> String {
        var start = "Date()"
        var isDay = false
        switch date.base {
        case .now: break
        case .written: return try literal(.date(microseconds: QueryClock.moment(of: date)))
        case .day(let distance):
            isDay = true
            start = "Calendar.current.startOfDay(for: Date())"
            let days = distance + date.parts(isDay: true).days
            if days != 0 { start = "Calendar.current.date(byAdding: .day, value: \(days), to: \(start))!" }
        }
        let seconds = Double(date.parts(isDay: isDay).microseconds) / 1_000_000
        return seconds == 0 ? start : "\(start).addingTimeInterval(\(seconds))"
    }

    private static func quoted(_ text: String) -> String { QueryText.quoted(text) { "\\u{\($0)}" } }
}
