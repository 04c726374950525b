import CBOR

/// A type whose stored values have had other forms. Its values are stored with the number of their form, and what was stored in a
/// former one is brought up to the present one where it is read.
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
/// For types whose values the library encodes as properties, and for those of ``KeyedValue`` archives. A property that is a
/// versioned type has no number of its own within an object: the number is that of the whole.
public protocol ArchiveVersioned {
    /// The forms that there have been. Best a `static let`: it is asked for once in each archive.
    static var archiveVersions: ArchiveVersions { get }
}

/// The forms that the values of a type have had, each with the way to it from the one before. Values that were stored without a
/// number are version 0, and the last step leads to the present version.
///
/// Steps must stay as they are once values were stored: who changes a type again adds one. A step sees what is stored, not the
/// type, so it goes on working whatever becomes of that.
public struct ArchiveVersions: Sendable {
    /// A step of any kind: makes the former version's properties into its own.
    private struct Step: Sendable {
        var version: Int
        var change: @Sendable (inout ArchivedProperties) throws -> Void
    }

    private var steps: [Step] = []

    /// Version 0 alone.
    public init() {}

    /// The present version; 0 without any step.
    public var current: Int { steps.last?.version ?? 0 }

    /// The same with a further step.
    ///
    /// - Parameters:
    ///   - number: the version that the step leads to, greater than those before, from 1 on.
    ///   - renaming: former names of properties, and those that they have now. A property that isn't there is none afterwards.
    ///   - adding: properties that are new, and what values have that were stored without them.
    ///   - change: what else there is to do, after that. What it throws leaves the stored value as it is: nobody finds it then.
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

    /// The same with a step that makes values of a type, the present one or another former one, of those of a former type.
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
        precondition(number > current, "version \(number) doesn't come after version \(current)")
        var versions = self
        versions.steps.append(Step(version: number, change: change))
        return versions
    }

    /// Makes the properties of a former version into those of the present one.
    func migrate(_ properties: inout ArchivedProperties, from version: Int) throws {
        for step in steps where step.version > version { try step.change(&properties) }
    }
}
