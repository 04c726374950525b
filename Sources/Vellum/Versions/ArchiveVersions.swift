import CBOR

/// A type whose encoding has changed. Its values are stored with a version number, and values of former versions
/// are migrated when they are read.
///
/// ```swift
/// struct User: ArchiveCodable, ArchiveVersioned {
///     static let archiveVersions = ArchiveVersions()
///         .version(1, renaming: ["name": "userName"], adding: ["age": 18])
///         .version(2) { user in
///             user["isAdult"] = .boolean((user["age"]?.asInt64 ?? 0) >= 18)
///         }
///
///     var primaryKey: String { userName }
///     var userName: String
///     var age: Int
///     var isAdult: Bool
/// }
/// ```
///
/// For types that the library encodes as properties, and for those of ``KeyedValue`` archives. Inside an object, a
/// property of a versioned type has no version number of its own; the object's number covers the whole.
public protocol ArchiveVersioned {
    /// All versions so far. Preferably a `static let`; it is read once per archive.
    static var archiveVersions: ArchiveVersions { get }
}

/// The versions of a type's encoding, each with the migration step from the one before. Values stored without a number
/// have version 0, and the last step leads to the present version.
///
/// Don't change a step once values were stored with it: for a further change of the type, add a step. Steps work on the
/// stored properties, not on the type, so they keep working when the type changes.
public struct ArchiveVersions: Sendable {
    private struct Step: Sendable {
        var version: Int
        var change: @Sendable (inout ArchivedProperties) throws -> Void
    }

    private var steps: [Step] = []

    /// Version 0 alone.
    public init() {}

    /// The present version; 0 without any step.
    public var current: Int { steps.last?.version ?? 0 }

    /// Adds a step.
    ///
    /// - Parameters:
    ///   - number: the version that the step leads to: at least 1, and greater than those before.
    ///   - renaming: new names of properties, by their former names. Missing properties stay missing.
    ///   - adding: new properties, with the values to use where they are missing.
    ///   - change: further changes, applied last. If it throws, the stored value stays, and counts as undecodable.
    public func version(
        _ number: Int, renaming: [String: String] = [:], adding: [String: ArchivedValue] = [:],
        _ change: (@Sendable (inout ArchivedProperties) throws -> Void)? = nil
    ) -> ArchiveVersions {
        with(number) { properties in
            properties.rename(renaming)
            for (name, value) in adding where properties[name] == nil { properties[name] = value }
            try change?(&properties)
        }
    }

    /// Adds a step that converts values of a former type into those of the present or another former one.
    public func version<Old: Decodable & SendableMetatype, New: Encodable & SendableMetatype>(
        _ number: Int, from former: Old.Type, _ make: @escaping @Sendable (Old) throws -> New
    ) -> ArchiveVersions {
        with(number) { properties in
            let old = try CBORDecoder().decode(former, from: CBORValue.map(properties.map).encoded)
            properties = try ArchivedProperties(CBORReader.decode(CBOREncoder().encode(make(old))))
        }
    }

    private func with(
        _ number: Int, _ change: @escaping @Sendable (inout ArchivedProperties) throws -> Void
    ) -> ArchiveVersions {
        precondition(number > current, "version \(number) isn't greater than version \(current)")
        var versions = self
        versions.steps.append(Step(version: number, change: change))
        return versions
    }

    func migrate(_ properties: inout ArchivedProperties, from version: Int) throws {
        for step in steps where step.version > version { try step.change(&properties) }
    }
}
