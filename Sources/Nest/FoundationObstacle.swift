import Foundation

/// Detects items for which Foundation's archiving crashes or never ends, as far as the collections' content can be read.
enum FoundationObstacle {
    /// Most levels of nesting. On Linux, each level doubles the time, because Foundation copies a collection at each access.
    #if canImport(Darwin)
    private static let deepest = KeyedArchive.deepest
    #else
    private static let deepest = 20
    #endif
    /// Most parts, counted once for each occurrence; a part two levels deeper counts twice as much.
    private static let most = 1 << 22

    /// The reason why Foundation can't archive the item; `nil` if it can.
    static func find(in item: Any) -> String? {
        var waiting: [(part: Any, level: Int)] = [(item, 0)]
        var effort = 0
        while let (part, level) = waiting.popLast() {
            guard level <= deepest else { return "has more than \(deepest) levels" }
            effort += 1 << (level / 2)
            guard effort <= most else { return "has too many parts" }
            if type(of: part) is AnyClass, let object = part as? NSObject,
                FoundationParts.hasCollectionToFind(object)
            {
                return "\(ItemProblem.collectionToFind)"
            }
            if let parts = type(of: part) is AnyClass ? parts(ofObject: part) : parts(ofValue: part) {
                guard parts.count <= most else { return "has too many parts" }
                waiting += parts.map { ($0, level + 1) }
            } else if let reason = reason(against: part), level == 0 || !isNil(part) {
                return level == 0 ? "is \(reason)" : "has a part that is \(reason): \(type(of: part))"
            }
        }
        return nil
    }

    /// The parts of a collection. Doesn't hash them, because hashing some Foundation objects crashes.
    private static func parts(ofObject object: Any) -> [Any]? {
        switch object {
        case let pairs as NSDictionary:
            (FoundationParts.parts(of: pairs) ?? []) + FoundationParts.values(of: pairs)
        case let text as NSAttributedString: attributes(of: text)
        default: (object as? NSObject).flatMap(FoundationParts.parts)
        }
    }

    private static func parts(ofValue value: Any) -> [Any]? {
        switch value {
        case let list as [Any]: list
        case let pairs as [AnyHashable: Any]: pairs.flatMap { [$0.key.base, $0.value] }
        case let set as Set<AnyHashable>: set.map(\.base)
        default: nil
        }
    }

    private static func attributes(of text: NSAttributedString) -> [Any] {
        var found: [Any] = []
        text.enumerateAttributes(in: NSRange(location: 0, length: text.length)) { attributes, _, _ in
            found += attributes.values
        }
        return found
    }

    /// Absent parts of a collection are archived as `NSNull`.
    private static func isNil(_ part: Any) -> Bool {
        let mirror = Mirror(reflecting: part)
        return mirror.displayStyle == .optional && mirror.children.isEmpty
    }

    /// Why a part that isn't a collection can't be archived.
    private static func reason(against part: Any) -> String? {
        #if !canImport(Darwin)
        switch part {
        case is NSDecimalNumber, is Decimal: return "a number that Foundation can't archive on this system"
        case is NSError: return "an error, which Foundation can't archive on this system"
        // A subclass of NSObject may also be an error.
        case is any Error where !(type(of: part) is NSObject.Type):
            return "an error, which Foundation can't archive on this system"
        default: break
        }
        #endif
        guard let object = part as? NSObject as? any NSSecureCoding, type(of: object).supportsSecureCoding
        else { return "neither Codable nor NSSecureCoding" }
        guard canName(type(of: object as AnyObject)) else {
            return
                "of a class that Foundation can't name; declare it outside of types and functions, not private, not generic"
        }
        return nil
    }

    /// Whether `NSStringFromClass` gives a name; on Linux it ends the process for classes inside others.
    static func canName(_ type: AnyClass) -> Bool {
        #if canImport(Darwin)
        return true
        #else
        let name = String(reflecting: type).utf8
        return name.count { $0 == UInt8(ascii: ".") } == 1
            && !name.contains { $0 == UInt8(ascii: "<") || $0 == UInt8(ascii: "(") }
        #endif
    }
}
