import CBOR
import StorageEngine

/// A sort value. Total order: booleans, numbers, dates, texts, bytes, lists, maps, other kinds, NaN, absent values.
package enum SortValue: Sendable, Hashable {
    case absent
    case nan
    case boolean(Bool)
    case number(NumberValue)
    case date(Double)
    case text(String)
    case key(ExactText)
    /// Bytes, a list, a map, or a value of another kind.
    case collection(GroupKey)

    init(_ item: StoredItem) throws(CBORError) {
        if let key = GroupKey(scalar: item) { self.init(key) } else { self = .collection(try GroupKey(item)) }
    }

    package init(item: [UInt8]) {
        self =
            item.withUnsafeBytes { bytes in
                try? SortValue(StoredItem.read(bytes, at: 0))
            } ?? .absent
    }

    init(_ key: GroupKey) {
        switch key {
        case .absent: self = .absent
        case .nan: self = .nan
        case .boolean(let flag): self = .boolean(flag)
        case .integer(let number): self = .number(.integer(number))
        case .float(let number): self = .number(.float(number))
        case .decimal(let number): self = .number(.decimal(number))
        case .date(let date): self = .date(date)
        case .text(let text): self = .text(text)
        case .key(let text): self = .key(text)
        case .bytes, .list, .map, .other: self = .collection(key)
        }
    }

    var kind: KindSet {
        switch self {
        case .absent: []
        case .nan: .nan
        case .boolean: .boolean
        case .number: .number
        case .date: .date
        case .text, .key: .text
        case .collection(let key): [.bytes, .list, .map, .other][key.rank]
        }
    }

    /// The kind in a remark on a sort: NaN is a number.
    var sortedKind: KindSet { kind == .nan ? .number : kind }

    private var rank: Int {
        switch self {
        case .boolean: 0
        case .number: 1
        case .date: 2
        case .text, .key: 3
        case .collection(let key): 4 + key.rank
        case .nan: 8
        case .absent: 9
        }
    }

    /// Negative if `left` is first, positive if `right` is. NaN and absent values are last in both directions.
    package static func compare(_ left: SortValue, _ right: SortValue, isDescending: Bool) -> Int {
        let (first, second) = (left.rank, right.rank)
        if first >= 8 || second >= 8 { return first - second }
        let order = first == second ? compareAlike(left, right) : first - second
        return isDescending ? -order : order
    }

    private static func compareAlike(_ left: SortValue, _ right: SortValue) -> Int {
        switch (left, right) {
        case (.number(let a), .number(let b)): NumberValue.compare(a, b) ?? 0
        case (.text(let a), .text(let b)): TextOrder.compare(a, b)
        case (.key(let a), .key(let b)): a == b ? 0 : ExactText.precedes(a, b) ? -1 : 1
        case (.date(let a), .date(let b)): a < b ? -1 : a > b ? 1 : 0
        case (.boolean(let a), .boolean(let b)): (a ? 1 : 0) - (b ? 1 : 0)
        case (.collection(let a), .collection(let b)): GroupKey.compare(a, b)
        default: 0
        }
    }

    /// Approximate memory beyond the value itself.
    var bytes: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .key(let key): key.text.utf8.count
        case .collection(let key): key.bytes
        case .absent, .nan, .boolean, .number, .date: 0
        }
    }
}
