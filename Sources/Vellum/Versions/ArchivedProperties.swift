import CBOR

/// A stored value: a number, text, array, map and so on.
public typealias ArchivedValue = CBORValue

/// The properties of a stored object by name, for steps of ``ArchiveVersions``.
public struct ArchivedProperties: Sendable {
    private(set) var map: CBORMap

    /// - Throws: ``ArchiveError/noProperties`` if the value isn't a map.
    init(_ value: CBORValue) throws {
        guard case .map(let map) = value else { throw ArchiveError.noProperties }
        self.map = map
    }

    /// The names in stored order.
    public var names: [String] { map.compactMap(\.key.asString) }

    /// A property's value; `nil` if it is missing. Setting `nil` removes it.
    public subscript(name: String) -> ArchivedValue? {
        get { map[key: .text(name)] }
        set { map[key: .text(name)] = newValue }
    }

    /// Renames a property, and replaces any property that has the new name. Does nothing if it is missing.
    public mutating func rename(_ name: String, to newName: String) { rename([name: newName]) }

    mutating func rename(_ names: [String: String]) {
        let taken = Set(names.filter { self[$0.key] != nil }.values)
        map = CBORMap(
            map.compactMap { entry in
                guard let name = entry.key.asString else { return entry }
                if let newName = names[name] { return .init(key: .text(newName), value: entry.value) }
                return taken.contains(name) ? nil : entry
            })
    }

    /// Changes the properties inside a property, such as those of an address. Does nothing if it is missing. Throws the
    /// errors of `change`, and ``ArchiveError/noProperties`` if the property has none.
    public mutating func change(_ name: String, _ change: (inout ArchivedProperties) throws -> Void) throws {
        guard let value = self[name], !value.isNull else { return }
        var inner = try ArchivedProperties(value)
        try change(&inner)
        self[name] = .map(inner.map)
    }
}
