import CBOR

/// A value as it is stored: number, text, list, map and so on.
public typealias ArchivedValue = CBORValue

/// The properties of a stored object by their names, as a step of ``ArchiveVersions`` gets them.
public struct ArchivedProperties: Sendable {
    private(set) var map: CBORMap

    /// - Throws: ``ArchiveError/noProperties`` if the value isn't a map.
    init(_ value: CBORValue) throws {
        guard case .map(let map) = value else { throw ArchiveError.noProperties }
        self.map = map
    }

    /// The names in the order in which they are stored.
    public var names: [String] { map.compactMap(\.key.asString) }

    /// A property's value; `nil` without it. Setting `nil` removes it.
    public subscript(name: String) -> ArchivedValue? {
        get { map[key: .text(name)] }
        set { map[key: .text(name)] = newValue }
    }

    /// Gives a property another name, in place of whatever has that; nothing happens if it isn't there.
    public mutating func rename(_ name: String, to newName: String) { rename([name: newName]) }

    /// The same for several at once, also such as change their names with each other.
    mutating func rename(_ names: [String: String]) {
        let taken = Set(names.filter { self[$0.key] != nil }.values)
        map = CBORMap(
            map.compactMap { entry in
                guard let name = entry.key.asString else { return entry }
                if let newName = names[name] { return .init(key: .text(newName), value: entry.value) }
                return taken.contains(name) ? nil : entry
            })
    }

    /// Changes the properties of a property, such as those of an address; nothing happens if it isn't there.
    /// - Throws: what `change` throws, and ``ArchiveError/noProperties`` if the property has none.
    public mutating func change(
        _ name: String, _ change: (inout ArchivedProperties) throws -> Void
    ) throws {
        guard let value = self[name], !value.isNull else { return }
        var inner = try ArchivedProperties(value)
        try change(&inner)
        self[name] = .map(inner.map)
    }
}
