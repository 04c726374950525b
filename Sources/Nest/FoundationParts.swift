import Foundation

/// The parts of Foundation's collections, without reading nested ones: on Linux that copies each level, and may crash.
enum FoundationParts {
    static func isCollection(_ object: AnyObject) -> Bool {
        object is NSArray || object is NSDictionary || object is NSSet || object is NSOrderedSet
    }

    static func parts(of collection: NSObject) -> [Any]? {
        let parts: [Any]
        switch collection {
        case let list as NSArray:
            parts = shown(in: list, list.count) ?? (0..<list.count).map { list.object(at: $0) }
        case let pairs as NSDictionary: parts = pairs.allKeys
        case let set as NSSet: parts = shown(in: set, set.count) ?? set.allObjects
        case let set as NSOrderedSet:
            parts = shown(in: set, set.count) ?? (0..<set.count).map { set.object(at: $0) }
        default: return nil
        }
        return parts.map(bridged)
    }

    /// The values, in the order of the keys.
    static func values(of pairs: NSDictionary) -> [Any] { pairs.allValues.map(bridged) }

    /// Whether a collection finds collections by hash, such as keys of a dictionary. The hash of a Foundation collection is its
    /// size, so many are equal, and comparing two visits their whole content, several times for each level.
    static func hasCollectionToFind(_ collection: NSObject) -> Bool {
        guard !(collection is NSArray), let parts = parts(of: collection) else { return false }
        return parts.contains { type(of: $0) is AnyClass && isCollection($0 as AnyObject) }
    }

    /// The objects that a mirror shows; nil for subclasses that hold them in other fields.
    private static func shown(in collection: NSObject, _ count: Int) -> [Any]? {
        let shown = Mirror(reflecting: collection).children.map(\.value)
        return shown.count == count ? shown : nil
    }

    /// The part, bridged to a Swift type if it is immutable.
    private static func bridged(_ part: Any) -> Any {
        guard type(of: part) is AnyClass, !isCollection(part as AnyObject), !(part is NSMutableString),
            !(part is NSMutableData)
        else { return part }
        return NSArray(object: part).object(at: 0)
    }
}
