import Foundation

/// Property lists that Foundation writes; empty if it can't.
enum PropertyLists {
    static let binary = list(["a": 1], .binary)
    static let xml = list(["a": 1], .xml)

    static let keyedArchive: [UInt8] = {
        let data = try? NSKeyedArchiver.archivedData(
            withRootObject: NSArray(array: ["one", 2]), requiringSecureCoding: false)
        return Array(data ?? Data())
    }()

    private static func list(_ value: Any, _ format: PropertyListSerialization.PropertyListFormat) -> [UInt8]
    {
        let data = try? PropertyListSerialization.data(fromPropertyList: value, format: format, options: 0)
        return Array(data ?? Data())
    }
}
