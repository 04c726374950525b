import Foundation

extension ClosureProperty {
    /// A property of ordered values; `spelled` writes a value in the query language.
    init<Value: Comparable & Hashable & Encodable & SendableMetatype>(
        ordered name: String, _ value: @escaping (Row) -> Value?, samples: [Value],
        spelled: @escaping (Value) -> String
    ) {
        self.init(name, value)
        order = { left, right, isDescending in
            switch (value(left), value(right)) {
            case (nil, nil): return 0
            case (nil, _): return 1
            case (_, nil): return -1
            case (let a?, let b?): return a == b ? 0 : (a < b) == isDescending ? 1 : -1
            }
        }
        func relation(_ sign: String, _ holds: @escaping (Value?, Value) -> Bool) -> MakeCondition {
            { random in
                let other = samples.randomElement(using: &random)!
                return ClosureCondition(text: "\(name) \(sign) \(spelled(other))") { holds(value($0), other) }
            }
        }
        conditions += [
            relation("=") { $0 == $1 },
            relation("!=") { $0 != $1 },
            relation("<") { own, other in own.map { $0 < other } ?? false },
            relation("<=") { own, other in own.map { $0 <= other } ?? false },
            relation(">") { own, other in own.map { $0 > other } ?? false },
            relation(">=") { own, other in own.map { $0 >= other } ?? false },
            { random in
                let low = samples.randomElement(using: &random)!
                let high = samples.randomElement(using: &random)!
                return ClosureCondition(text: "\(name) between \(spelled(low)) and \(spelled(high))") {
                    guard let own = value($0) else { return false }
                    return low <= own && own <= high
                }
            },
            { random in
                let others = (0..<Int.random(in: 0...3, using: &random)).map { _ in
                    samples.randomElement(using: &random)!
                }
                return ClosureCondition(text: "\(name) in [\(others.map(spelled).joined(separator: ", "))]") {
                    value($0).map(others.contains) ?? false
                }
            },
            { random in
                let other = samples.randomElement(using: &random)!
                return ClosureCondition(text: "\(name) in [\(spelled(other)), null]") {
                    value($0) == nil || value($0) == other
                }
            },
        ]
    }

    /// Whole numbers.
    static func integer(_ name: String, _ value: @escaping (Row) -> Int?, samples: [Int]) -> Self {
        var property = Self(ordered: name, value, samples: samples, spelled: { String($0) })
        property.number = { value($0).map(Double.init) }
        property.conditions += notTexts(name, value)
        property.conditions.append { random in
            let other = Double(samples.randomElement(using: &random)!) + 0.5
            return ClosureCondition(text: "\(name) < \(other)") {
                value($0).map { Double($0) < other } ?? false
            }
        }
        return property
    }

    /// Fractions with exact sums.
    static func fraction(_ name: String, _ value: @escaping (Row) -> Double?, samples: [Double]) -> Self {
        var property = Self(ordered: name, value, samples: samples, spelled: { String($0) })
        property.number = value
        property.conditions += notTexts(name, value)
        property.conditions.append { random in
            let other = Int(samples.randomElement(using: &random)!)
            return ClosureCondition(text: "\(name) >= \(other)") {
                value($0).map { $0 >= Double(other) } ?? false
            }
        }
        return property
    }

    /// Quarters.
    static func decimal(_ name: String, _ value: @escaping (Row) -> Decimal?, samples: [Decimal]) -> Self {
        var property = Self(ordered: name, value, samples: samples, spelled: { "\($0)" })
        property.number = { value($0).map { NSDecimalNumber(decimal: $0).doubleValue } }
        property.conditions += notTexts(name, value)
        return property
    }

    /// Whole and half seconds.
    static func date(_ name: String, _ value: @escaping (Row) -> Date?, samples: [Date]) -> Self {
        var property = Self(ordered: name, value, samples: samples, spelled: spelling)
        property.conditions += notTexts(name, value)
        property.conditions.append { random in
            let other = samples.randomElement(using: &random)!
            let day = other.timeIntervalSince1970 / 86_400
            let start = Date(timeIntervalSince1970: day.rounded(.down) * 86_400)
            return ClosureCondition(text: "\(name) < \(String(spelling(start).prefix(10)))") {
                value($0).map { $0 < start } ?? false
            }
        }
        return property
    }

    /// `2026-01-31T12:30:00.5Z`
    private static func spelling(_ date: Date) -> String {
        date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }

    static func flag(_ name: String, _ value: @escaping (Row) -> Bool?) -> Self {
        var property = Self(name, value)
        property.order = { left, right, isDescending in
            func place(_ flag: Bool?) -> Int { flag.map { $0 == isDescending ? 0 : 1 } ?? 2 }
            return place(value(left)) - place(value(right))
        }
        property.conditions += notTexts(name, value)
        property.conditions += [
            { _ in ClosureCondition(text: "\(name) = true") { value($0) == true } },
            { _ in ClosureCondition(text: "\(name) = false") { value($0) == false } },
            { _ in ClosureCondition(text: "\(name) != true") { value($0) != true } },
            { _ in ClosureCondition(text: "\(name) in [false, null]") { value($0) != true } },
        ]
        return property
    }

    /// Conditions for texts and lists are unknown for present values of other kinds. Such values differ from a text, except dates:
    /// whether they do is unknown, too.
    static func notTexts<Value>(_ name: String, _ value: @escaping (Row) -> Value?) -> [MakeCondition] {
        func unknown(_ text: String) -> MakeCondition {
            { _ in ClosureCondition(text: text) { value($0) == nil ? false : nil } }
        }
        let isDate = Value.self == Date.self
        return [
            { _ in ClosureCondition(text: "\(name) = \"1\"") { isDate && value($0) != nil ? nil : false } },
            { _ in ClosureCondition(text: "\(name) != \"1\"") { isDate && value($0) != nil ? nil : true } },
            unknown("\(name) < \"a\""), unknown("\(name) contains \"\""), unknown("\(name) matches \"\""),
            unknown("\(name) has 1"), unknown("\(name) has all []"), unknown("count(\(name)) >= 0"),
            unknown("\(name) is empty"), unknown("\(name) is not empty"),
            { _ in ClosureCondition(text: "\(name) is null or empty") { value($0) == nil ? true : nil } },
        ]
    }
}
