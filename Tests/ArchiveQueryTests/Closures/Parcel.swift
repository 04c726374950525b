import Foundation

/// An object with lists, dictionaries, other objects and optional values.
struct Parcel: Codable {
    struct Place: Codable, Hashable {
        var city: String
        var zip: Int?
    }

    struct Stop: Codable, Hashable {
        var place: Place
        var at: Date
        var notes: [String]
    }

    enum Speed: String, Codable { case slow, fast }

    var name: String
    var isFragile: Bool?
    var weight: Double?
    var price: Decimal?
    var sent: Date?
    var speed: Speed?
    var tags: [String]
    var sizes: [Int]?
    var contents: [String: Int]
    var seal: Data?
    var sender: Place?
    var stops: [Stop]
    /// Each version of the program writes another kind.
    var mark: Mark?
}

/// The form of an earlier version: fewer properties, other names, other kinds.
struct EarlierParcel: Codable {
    var mark: Mark?
    var name: String
    var sender: Parcel.Place?
    /// Written as null; the present version omits it.
    var weight: Double?
    var tags: [String] = []
    var contents: [String: Int] = [:]
    var stops: [Parcel.Stop] = []
    var forgotten = [1, 2]

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(forgotten, forKey: .forgotten)
        try container.encode(weight, forKey: .weight)
        try container.encode(mark, forKey: .mark)
        try container.encode(sender, forKey: .sender)
        try container.encode(stops, forKey: .stops)
        try container.encode(contents, forKey: .contents)
        try container.encode(tags, forKey: .tags)
        try container.encode(name, forKey: .name)
    }
}

/// A value of one kind or another. In the order of a sort: flags, numbers, dates, texts.
enum Mark: Codable {
    case flag(Bool)
    case integer(Int)
    case fraction(Double)
    case date(Date)
    case text(String)
    case list([Int])

    /// Numbers can be read as dates, small ones as dates of 2001; dates of marks are about 1970.
    private static let lastDate = Date(timeIntervalSince1970: 365 * 86_400)

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let flag = try? container.decode(Bool.self) {
            self = .flag(flag)
        } else if let date = try? container.decode(Date.self), date < Self.lastDate {
            self = .date(date)
        } else if let number = try? container.decode(Int.self) {
            self = .integer(number)
        } else if let number = try? container.decode(Double.self) {
            self = .fraction(number)
        } else if let text = try? container.decode(String.self) {
            self = .text(text)
        } else {
            self = .list(try container.decode([Int].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .flag(let flag): try container.encode(flag)
        case .integer(let number): try container.encode(number)
        case .fraction(let number): try container.encode(number)
        case .date(let date): try container.encode(date)
        case .text(let text): try container.encode(text)
        case .list(let list): try container.encode(list)
        }
    }

    var number: Double? {
        switch self {
        case .integer(let number): Double(number)
        case .fraction(let number): number
        default: nil
        }
    }

    var count: Int? {
        switch self {
        case .text(let text): text.count
        case .list(let list): list.count
        default: nil
        }
    }

    /// The order of its kind among kinds.
    var place: Int {
        switch self {
        case .flag: 0
        case .integer, .fraction: 1
        case .date: 2
        case .text: 3
        case .list: 4
        }
    }
}

extension Mark {
    /// Whether both are equal; nil for a date and a text, which aren't comparable.
    func equals(_ other: Mark) -> Bool? {
        Set([place, other.place]) == [2, 3] ? nil : self == other
    }
}

extension Mark: Hashable {
    static func == (left: Mark, right: Mark) -> Bool {
        switch (left, right) {
        case (.flag(let a), .flag(let b)): a == b
        case (.date(let a), .date(let b)): a == b
        case (.text(let a), .text(let b)): a == b
        case (.list(let a), .list(let b)): a == b
        default: left.number != nil && left.number == right.number
        }
    }

    func hash(into hasher: inout Hasher) {
        switch self {
        case .flag(let flag): hasher.combine(flag)
        case .integer, .fraction: hasher.combine(number)
        case .date(let date): hasher.combine(date)
        case .text(let text): hasher.combine(text)
        case .list(let list): hasher.combine(list)
        }
    }
}

extension Mark: Comparable {
    /// Values of one kind by value, others by kind.
    static func < (left: Mark, right: Mark) -> Bool {
        switch (left, right) {
        case (.flag(let a), .flag(let b)): return !a && b
        case (.date(let a), .date(let b)): return a < b
        case (.text(let a), .text(let b)): return a < b
        case (.list(let a), .list(let b)): return a.lexicographicallyPrecedes(b)
        default:
            if let a = left.number, let b = right.number { return a < b }
            return left.place < right.place
        }
    }
}
