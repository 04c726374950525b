import CBOR
import Foundation

/// Arrays and dictionaries of Swift's with plain values, as programs make them of JSON. They are stored as CBOR, in which queries
/// find what they contain, and numbers keep their kinds: in Foundation's archives equal ones become one, so that on Linux 1 and
/// 1.0 come back as `true` after a `true`.
enum PlainItem {
    private static let deepest = KeyedArchive.deepest

    /// `nil` if there is anything else in it, which is left to Foundation.
    static func value(of item: Any) -> CBORValue? {
        guard item is [Any] || item is [String: Any] else { return nil }
        return value(of: item, level: 0)
    }

    private static func value(of part: Any, level: Int) -> CBORValue? {
        guard level <= deepest else { return nil }
        if let optional = part as? any OptionalPart {
            guard let content = optional.content else { return .null }
            return value(of: content, level: level)
        }
        // Foundation's objects can be compared and changed as these, so they must come back as these.
        guard !(type(of: part) is AnyClass) else { return part is NSNull ? .null : nil }
        switch part {
        case let flag as Bool: return .boolean(flag)
        case let number as Int: return CBORValue(integer: Int64(number))
        case let number as Double: return .float(number)
        case let text as String: return .text(text)
        case let bytes as Data: return .bytes(Array(bytes))
        case let date as Date:
            let seconds = date.timeIntervalSince1970
            return Date(timeIntervalSince1970: seconds) == date ? .tagged(1, .float(seconds)) : nil
        case let list as [Any]:
            var items: [CBORValue] = []
            for part in list {
                guard let item = value(of: part, level: level + 1) else { return nil }
                items.append(item)
            }
            return .array(items)
        case let pairs as [String: Any]:
            var entries: [CBORMap.Entry] = []
            for (key, part) in pairs.sorted(by: { $0.key < $1.key }) {
                guard let item = value(of: part, level: level + 1) else { return nil }
                entries.append(CBORMap.Entry(key: .text(key), value: item))
            }
            return .map(CBORMap(entries))
        default: return nil
        }
    }

    /// What was stored; `nil` if that is none. Absent values come back as `NSNull`, as from Foundation's archives.
    static func item(of value: CBORValue) -> Any? {
        switch value {
        case .boolean(let flag): return flag
        case .unsigned, .negative: return value.asInt64.flatMap { Int(exactly: $0) }
        case .float(let number): return number
        case .text(let text): return text
        case .bytes(let bytes): return Data(bytes)
        case .tagged(1, .float(let seconds)): return Date(timeIntervalSince1970: seconds)
        case .null: return NSNull()
        case .array(let values):
            var list: [Any] = []
            for value in values {
                guard let part = item(of: value) else { return nil }
                list.append(part)
            }
            return list
        case .map(let map):
            var pairs: [String: Any] = [:]
            for entry in map.entries {
                guard let key = entry.key.asString, let part = item(of: entry.value) else { return nil }
                pairs[key] = part
            }
            return pairs
        default: return nil
        }
    }
}

private protocol OptionalPart { var content: Any? { get } }

extension Optional: OptionalPart {
    fileprivate var content: Any? { self }
}
