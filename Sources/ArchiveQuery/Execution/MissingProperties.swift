import CBOR

/// The properties without values in the visited entries, and the warnings about those that no entry has.
struct MissingProperties {
    /// Entries that are searched for similar names.
    private static let samples = 1000
    /// Maximum number of properties with a line each, because each search for a similar name compares thousands.
    private static let mostLines = 20
    let pipeline: QueryPipeline
    let unseen: [QueryProperty]

    /// A line for each property, with the most similar name that an entry has.
    func lines(of source: some QuerySource, _ options: QueryOptions) throws -> [String] {
        guard !unseen.isEmpty else { return [] }
        var missing = Array(unseen.indices)
        var known = KnownNames()
        let names = PropertyNames()
        let shape = RowShape(names: names)
        let accesses = unseen.map { shape.access(to: $0) }
        let cursor = try source.cursor(in: .storage)
        let reader = RowReader(
            cursor, names: names, now: options.now, mostBytes: options.mostOfValue)
        while !missing.isEmpty, try cursor.advance() {
            reader.next()
            try missing.removeAll { try reader.leadsSomewhere(accesses[$0]) }
            if cursor.visited <= Self.samples, let document = try? reader.document() { known.add(document) }
            guard cursor.visited % 1000 == 0, let progress = options.progress else { continue }
            let state = QueryProgress(
                visited: cursor.visited, total: cursor.count, rows: 0, bytesRead: reader.bytesRead)
            guard progress(state) else { throw QueryError.cancelled }
        }
        let lines = missing.prefix(Self.mostLines).map { line(unseen[$0], known) }
        guard missing.count > lines.count else { return lines }
        let others = missing.dropFirst(lines.count).prefix(Self.mostLines).map { "\(unseen[$0])" }
        let isWhole = missing.count <= 2 * Self.mostLines
        return lines + [
            "no entry has \(missing.count - lines.count) other properties: " + others.joined(separator: ", ")
                + (isWhole ? "" : ", …")
        ]
    }

    private func line(_ property: QueryProperty, _ known: KnownNames) -> String {
        let name = property.columnName
        var text = "no entry has the property \(property)"
        if let metadata = QueryMetadata(rawValue: name.lowercased()) {
            return text + "; did you mean @\(metadata.rawValue)?"
        }
        if let near = NameGuess.nearest(to: name, among: known.names), let known = known.properties[near] {
            return text + "; did you mean \(known)?"
        }
        if isCompared(property) { text += "; a text needs quotes: \(QueryText.quoted(name))" }
        return text
    }

    /// Whether it is to the right of a comparison, where a text may have been meant.
    private func isCompared(_ property: QueryProperty) -> Bool {
        pipeline.stages.contains { stage in
            if case .find(let predicate) = stage { predicate.compares(with: property) } else { false }
        }
    }
}

extension QueryPredicate {
    fileprivate func compares(with property: QueryProperty) -> Bool {
        switch self {
        case .and(let parts), .or(let parts): parts.contains { $0.compares(with: property) }
        case .not(let part): part.compares(with: property)
        case .relate(_, _, let other): other == property
        default: false
        }
    }
}

extension RowReader {
    /// Whether the value has the property, even as null.
    fileprivate func leadsSomewhere(_ access: RowShape.Access) throws -> Bool {
        _ = try itemIfReadable(access)
        if access.isMany { try forEachReadable(access) { _ in } }
        return switch access {
        case .property(let name, [], _): hasSeen(name: name)
        case .property(_, _, let way): hasSeen(way: way)
        case .elements(let elements):
            if case .property(_, let way) = elements.start { hasSeen(way: way) } else { true }
        case .metadata, .column, .keyColumn, .computed, .nothing: true
        }
    }
}

private struct KnownNames {
    private static let most = 2000
    private static let deepest = 3
    private static let largest = 1 << 20
    private(set) var names: [String] = []
    private(set) var properties: [String: QueryProperty] = [:]

    mutating func add(_ document: UnsafeRawBufferPointer) {
        guard document.count <= Self.largest, names.count < Self.most,
            let value = try? CBORReader.decode(Array(document))
        else { return }
        add(value, behind: nil, depth: 0)
    }

    private mutating func add(_ value: CBORValue, behind path: QueryProperty?, depth: Int) {
        guard depth < Self.deepest, names.count < Self.most else { return }
        if let elements = value.asArray {
            if let first = elements.first { add(first, behind: path?.appending(.each), depth: depth) }
            return
        }
        for entry in value.asMap ?? CBORMap() {
            guard let name = entry.key.asString else { continue }
            let property = path?.appending(.name(name)) ?? .named(name)
            let known = properties.updateValue(property, forKey: property.columnName)
            if known == nil { names.append(property.columnName) }
            add(entry.value, behind: property, depth: depth + 1)
        }
    }
}

extension QueryProperty {
    fileprivate func appending(_ step: Step) -> QueryProperty {
        if case .path(let steps) = self { .path(steps + [step]) } else { self }
    }
}
