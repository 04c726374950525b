import Foundation

/// What an item is after Foundation has archived and read it.
enum ArchivedForm {
    /// Whether an item was altered on its way. `read` reads it. Objects that aren't even equal to themselves when they are read
    /// twice tell nothing, and pass.
    static func isAltered(_ item: Any, read: () throws -> Any) rethrows -> Bool {
        let first = try read()
        return try differ(item, first) && !differ(first, read())
    }

    private static func differ(_ left: Any, _ right: Any) -> Bool {
        switch (left, right) {
        case (let left as NSArray, let right as NSArray):
            return left.count != right.count
                || (0..<left.count).contains { differ(left.object(at: $0), right.object(at: $0)) }
        case (let left as NSDictionary, let right as NSDictionary):
            return left.count != right.count
                || left.allKeys.contains { key in
                    guard let a = left.object(forKey: key), let b = right.object(forKey: key) else {
                        return true
                    }
                    return differ(a, b)
                }
        case (let left as NSNumber, let right as NSNumber):
            return kind(of: left) != kind(of: right) || !left.isEqual(right)
        case (let left as AnyHashable, let right as AnyHashable) where !(type(of: left.base) is AnyClass):
            // Of what Swift has a type of its own for, some of Foundation's objects are equal to themselves alone.
            return left != right
        case (let left as NSObject, let right as NSObject): return !left.isEqual(right)
        default: return true
        }
    }

    private enum Kind { case flag, real, integer }

    /// A number equals others of other kinds.
    private static func kind(of number: NSNumber) -> Kind {
        switch String(cString: number.objCType) {
        case "c", "B": .flag
        case "f", "d": .real
        default: .integer
        }
    }
}
