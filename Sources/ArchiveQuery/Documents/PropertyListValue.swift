import CBOR
import Foundation

/// Converts Foundation's objects of an XML property list.
enum PropertyListValue {
    static func value(_ list: Any) -> CBORValue {
        switch list {
        case let text as String: return .text(text)
        case let flag as Bool where isBoolean(list): return .boolean(flag)
        case let date as Date: return .tagged(1, .float(date.timeIntervalSince1970))
        case let data as Data: return .bytes(Array(data))
        case let number as Double where isReal(list): return .float(number)
        case let number as Int64: return number < 0 ? .negative(UInt64(~number)) : .unsigned(UInt64(number))
        case let number as UInt64: return .unsigned(number)
        case let number as Double: return .float(number)
        case let items as [Any]: return .array(items.map { value($0) })
        case let entries as [String: Any]:
            return .map(
                CBORMap(
                    entries.sorted { $0.key < $1.key }.map {
                        CBORMap.Entry(key: .text($0.key), value: value($0.value))
                    }))
        default: return .null
        }
    }

    /// A cast to an integer succeeds for whole reals too.
    private static func isReal(_ value: Any) -> Bool {
        (value as? NSNumber).map { "df".contains(String(cString: $0.objCType)) } ?? false
    }

    /// A cast to `Bool` succeeds for numbers too.
    private static func isBoolean(_ value: Any) -> Bool {
        if type(of: value) == Bool.self { return true }
        guard let number = value as? NSNumber else { return false }
        return String(cString: number.objCType) == "c" && (number == 0 || number == 1)
    }
}
