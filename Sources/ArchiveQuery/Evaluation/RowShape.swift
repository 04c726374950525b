/// The shape of a stage's input rows, which determines how to access a property.
struct RowShape {
    /// How to get at a property.
    enum Access {
        case metadata(QueryMetadata)
        /// A property of an entry's value, by its number in ``RowShape/names``, and the path from there.
        case property(Int, [QueryProperty.Step])
        /// A column, and the path from there.
        case column(Int, [QueryProperty.Step])
        case nothing
    }

    /// The names of the columns; nil if rows are whole entries.
    private(set) var columns: [QueryProperty]?
    /// Whether each row comes from a single entry.
    private(set) var hasEntry = true
    /// All properties of entries that the plan uses, so that one pass over a value finds them.
    private let names: PropertyNames

    init(names: PropertyNames) { self.names = names }

    /// The shape of rows with these columns.
    func with(columns: [QueryProperty], hasEntry: Bool) -> RowShape {
        var shape = self
        shape.columns = columns
        shape.hasEntry = self.hasEntry && hasEntry
        return shape
    }

    func access(to property: QueryProperty) -> Access {
        if let columns {
            for (index, column) in columns.enumerated() where column == property { return .column(index, []) }
            if case .path(let steps) = property {
                for (index, column) in columns.enumerated() {
                    guard case .path(let start) = column, steps.starts(with: start) else { continue }
                    return .column(index, Array(steps.dropFirst(start.count)))
                }
            }
        }
        switch property {
        case .metadata(let metadata): return hasEntry ? .metadata(metadata) : .nothing
        case .path(let steps):
            guard columns == nil, case .name(let name)? = steps.first else { return .nothing }
            return .property(names.index(of: name), Array(steps.dropFirst()))
        }
    }
}

/// Collects the names of properties while a plan is made.
final class PropertyNames {
    private(set) var all: [String] = []

    func index(of name: String) -> Int {
        // Compared by bytes, like the keys of maps.
        if let index = all.firstIndex(where: { $0.utf8.elementsEqual(name.utf8) }) { return index }
        all.append(name)
        return all.count - 1
    }
}
