extension QueryPipeline: CustomStringConvertible {
    /// The pipeline as text in one line, which ``parse(_:)`` reads as an equal pipeline.
    public var description: String {
        var text: [String] = []
        var previous: PipelineStage?
        for stage in stages {
            text.append(stage.text(after: previous))
            previous = stage
        }
        return text.joined(separator: " | ")
    }
}

extension PipelineStage: CustomStringConvertible {
    public var description: String { text(after: nil) }

    fileprivate func text(after previous: PipelineStage?) -> String {
        switch self {
        case .find(let predicate): return "find \(predicate)"
        case .sort(let keys): return "sort " + Self.list(keys)
        case .limit(let count): return "limit \(max(0, count))"
        case .skip(let count): return "skip \(max(0, count))"
        case .select(let columns): return "select " + Self.list(columns)
        case .distinct(let columns): return "distinct " + Self.list(columns)
        case .aggregate(let figures): return Self.list(figures)
        case .group(let columns, let figures):
            let group = "group by " + Self.list(columns)
            // After another aggregate, the grouping would be parsed as part of it.
            if case .aggregate = previous { return group + " " + Self.list(figures) }
            return group + " | " + Self.list(figures)
        }
    }

    private static func list(_ parts: [some CustomStringConvertible]) -> String {
        parts.map(\.description).joined(separator: ", ")
    }
}

extension QuerySortKey: CustomStringConvertible {
    public var description: String { "\(property)" + (isDescending ? " desc" : "") }
}

extension QueryColumn: CustomStringConvertible {
    public var description: String { "\(property)" + QueryText.asName(name) }
}

extension QueryFigure: CustomStringConvertible {
    public var description: String { "\(aggregate)" + QueryText.asName(name) }
}

extension QueryAggregate: CustomStringConvertible {
    public var description: String {
        let text = name + (property.map { " \($0)" } ?? "")
        return if case .percentile(_, let percent) = self { text + " " + QueryText.percent(percent) } else {
            text
        }
    }
}

extension QueryPredicate: CustomStringConvertible {
    public var description: String {
        switch self {
        case .and(let parts): return Self.joined(parts, " and ")
        case .or(let parts): return Self.joined(parts, " or ")
        case .not(let part): return "not " + part.inParentheses
        case .compare(let property, let relation, let value):
            return "\(property) \(relation.rawValue) \(value)"
        case .relate(let property, let relation, let other):
            return "\(property) \(relation.rawValue) " + other.text(isCompared: true)
        case .count(let property, let relation, let number):
            return "count(\(property)) \(relation.rawValue) \(number)"
        case .isIn(let property, let values): return "\(property) in " + Self.list(values)
        case .between(let property, let low, let high): return "\(property) between \(low) and \(high)"
        case .contains(let property, let text, let caseSensitive):
            return "\(property) \(caseSensitive ? "contains" : "icontains") " + QueryText.quoted(text)
        case .startsWith(let property, let text): return "\(property) starts with " + QueryText.quoted(text)
        case .endsWith(let property, let text): return "\(property) ends with " + QueryText.quoted(text)
        case .like(let property, let pattern, let caseSensitive):
            return "\(property) \(caseSensitive ? "like" : "ilike") " + QueryText.quoted(pattern)
        case .matches(let property, let pattern): return "\(property) matches " + QueryText.quoted(pattern)
        case .hasAny(let property, let values): return "\(property) has any " + Self.list(values)
        case .hasAll(let property, let values):
            return "\(property) has " + (values.count == 1 ? "\(values[0])" : "all " + Self.list(values))
        case .presence(let property, let presence): return "\(property) \(presence.rawValue)"
        }
    }

    private static func list(_ values: [QueryLiteral]) -> String {
        "[" + values.map(\.description).joined(separator: ", ") + "]"
    }

    /// Writes an empty conjunction or disjunction as a test of the key with an empty list.
    private static func joined(_ parts: [QueryPredicate], _ word: String) -> String {
        switch parts.count {
        case 0: return word == " and " ? "not @key in []" : "@key in []"
        case 1: return parts[0].description
        default: return parts.map(\.inParentheses).joined(separator: word)
        }
    }

    private var inParentheses: String {
        switch self {
        case .and(let parts) where parts.count > 1: "(\(self))"
        case .or(let parts) where parts.count > 1: "(\(self))"
        case .and(let parts) where parts.count == 1: parts[0].inParentheses
        case .or(let parts) where parts.count == 1: parts[0].inParentheses
        default: description
        }
    }
}

extension QueryProperty: CustomStringConvertible {
    public var description: String { text(isCompared: false) }

    /// - Parameter isCompared: whether it is to the right of a comparison, where quotes enclose a text.
    fileprivate func text(isCompared: Bool) -> String {
        switch self {
        case .metadata(let metadata): return "@" + metadata.rawValue
        case .converted(let conversion, let property): return "\(conversion.rawValue)(\(property))"
        case .computed(let left, let sign, let right):
            let isProduct = sign.isProduct
            return left.text(isCompared, isIn: isProduct ? .product : .sum) + " \(sign.rawValue) "
                + right.text(isCompared, isIn: isProduct ? .productRight : .sumRight)
        case .path(let steps):
            var text = ""
            for step in steps {
                switch step {
                case .name(let name) where text.isEmpty:
                    let word = QueryText.name(name)
                    text = isCompared && word.hasPrefix("\"") ? "[\(word)]" : word
                case .name(let name): text += "." + QueryText.name(name)
                case .index(let index): text += "[\(index)]"
                case .each: text += "[]"
                }
            }
            return text
        }
    }
}

extension QueryOperand {
    /// Its place in a calculation, which decides on parentheses.
    fileprivate enum Place {
        case sum, sumRight, product, productRight
    }

    fileprivate func text(_ isCompared: Bool, isIn place: Place) -> String {
        switch self {
        case .value(let value):
            let text = value.description
            let isSum = value.isDate && (text.contains(" + ") || text.contains(" - "))
            return isSum && place != .sum ? "(\(text))" : text
        case .property(let property):
            let text = property.text(isCompared: isCompared)
            guard case .computed(_, let sign, _) = property else { return text }
            let isClear =
                switch place {
                case .sum: true
                case .sumRight, .product: sign.isProduct
                case .productRight: false
                }
            return isClear ? text : "(\(text))"
        }
    }
}

extension QueryLiteral: CustomStringConvertible {
    public var description: String {
        switch self {
        case .null: return "null"
        case .boolean(let flag): return flag ? "true" : "false"
        case .integer(let number): return String(number)
        case .unsigned(let number): return String(number)
        case .number(let number): return number.description
        case .exact(let number): return number.description
        case .text(let text): return QueryText.quoted(text)
        case .duration(let microseconds): return DurationText.text(microseconds: microseconds)
        case .size(let bytes): return SizeText.text(bytes)
        case .date(let microseconds): return DateText.literal(microseconds)
        case .localDate(let date): return date.description
        }
    }
}

enum QueryText {
    /// Words with a meaning where a property may occur.
    private static let reserved: Set<String> = [
        "not", "and", "or", "count", "empty", "null", "true", "false", "asc", "desc", "by", "is", "in",
        "between", "contains", "icontains", "starts", "ends", "with", "like", "ilike", "matches", "has",
        "any",
        "all", "as", "find", "sort", "limit", "skip", "select", "sum", "avg", "min", "max", "median",
        "percentile", "group", "group-by", "distinct",
    ]

    /// A property's name, quoted unless it is a plain word.
    static func name(_ name: String) -> String {
        guard let first = name.utf8.first, first.isWordStart, name.unicodeScalars.allSatisfy(isPlain),
            !reserved.contains(name.lowercased()), QueryDate(word: name) == nil
        else { return quoted(name) }
        return name
    }

    /// Not for quotes, spaces and control characters beyond ASCII.
    static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        guard !scalar.isASCII else { return UInt8(scalar.value).isWordPart }
        let properties = scalar.properties
        return !properties.isQuotationMark && !properties.isWhitespace
            && properties.generalCategory != .control
    }

    static func asName(_ name: String?) -> String { name.map { " as " + Self.name($0) } ?? "" }

    /// 95 without a fraction, 99.9 with one.
    static func percent(_ percent: Double) -> String {
        percent == percent.rounded() ? String(Int(percent)) : percent.description
    }

    /// A quoted text with the escapes of JSON and Swift; control characters in hexadecimal.
    static func quoted(
        _ text: String,
        control: (String) -> String = { "\\u" + String(repeating: "0", count: 4 - $0.count) + $0 }
    ) -> String {
        var output = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": output += "\\" + String(scalar)
            case "\n": output += "\\n"
            case "\t": output += "\\t"
            case "\r": output += "\\r"
            case _ where scalar.value < 0x20 || (0x7f..<0xa0).contains(scalar.value):
                output += control(String(scalar.value, radix: 16))
            default: output.unicodeScalars.append(scalar)
            }
        }
        return output + "\""
    }
}

extension UInt8 {
    var isDigit: Bool { self >= 0x30 && self <= 0x39 }
    var isLetter: Bool { (self | 0x20) >= 0x61 && (self | 0x20) <= 0x7a }
    /// All non-ASCII characters may be part of a name.
    var isWordStart: Bool { isLetter || self == 0x5f || self == 0x24 || self >= 0x80 }
    var isWordPart: Bool { isWordStart || isDigit || self == 0x2d }
}
