/// What the rows look like that a stage gets, and thus how to get at a property of them.
struct RowShape {
    /// How to get at a property.
    enum Access {
        case metadata(QueryMetadata)
        /// A property of an entry's value, by its number in ``RowShape/names``, and the way on from there, if there is one:
        /// by its number there as well.
        case property(Int, [QueryProperty.Step], way: Int)
        /// A column, and the way on from there.
        case column(Int, [QueryProperty.Step])
        /// Elements of a list in one of the two.
        case elements(Elements)
        case computed(Computation)
        case nothing

        var isMany: Bool { if case .elements = self { true } else { false } }
    }

    /// Where a way with `[]` in it begins, and how it goes on.
    struct Elements {
        enum Start {
            case property(Int, way: Int)
            case column(Int)
        }

        var start: Start
        var steps: [QueryProperty.Step]
    }

    /// What the columns are called, of rows that aren't whole entries.
    private(set) var columns: [QueryProperty]?
    /// Whether each row belongs to one entry.
    private(set) var hasEntry = true
    /// The properties of entries that anything asks for, so that one pass over a value finds them all.
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
        if let column = column(of: property) { return column }
        switch property {
        case .metadata(let metadata): return hasEntry ? .metadata(metadata) : .nothing
        case .path(let steps):
            guard columns == nil, case .name(let name)? = steps.first else { return .nothing }
            let number = names.index(of: name)
            guard steps.count > 1 else {
                names.noteWhole(number)
                return .property(number, [], way: 0)
            }
            let way = names.way(to: property)
            let rest = Array(steps.dropFirst())
            guard property.isMany else { return .property(number, rest, way: way) }
            return .elements(Elements(start: .property(number, way: way), steps: rest))
        case .computed(let left, let sign, let right):
            return .computed(Computation(side(left), sign, side(right)))
        }
    }

    private func side(_ operand: QueryOperand) -> Computation.Side {
        switch operand {
        case .property(let property): .access(access(to: property))
        case .value(let value): .constant(StoredItem(value))
        }
    }

    private func column(of property: QueryProperty) -> Access? {
        guard let columns else { return nil }
        for (index, column) in columns.enumerated() where column == property {
            // What was selected of each element is a list.
            return property.isMany
                ? .elements(Elements(start: .column(index), steps: [.each])) : .column(index, [])
        }
        guard case .path(let steps) = property else { return nil }
        for (index, column) in columns.enumerated() {
            guard case .path(let start) = column, steps.starts(with: start), !column.isMany else { continue }
            let rest = Array(steps.dropFirst(start.count))
            return property.isMany
                ? .elements(Elements(start: .column(index), steps: rest)) : .column(index, rest)
        }
        return nil
    }
}

/// Collects the names of properties while a plan is made, and the ways that go on from them.
final class PropertyNames {
    private(set) var all: [String] = []
    private(set) var ways: [QueryProperty] = []
    /// Numbers of the names that are asked for themselves.
    private(set) var wholes: Set<Int> = []

    func index(of name: String) -> Int {
        // By bytes, as maps' keys are compared.
        if let index = all.firstIndex(where: { $0.utf8.elementsEqual(name.utf8) }) { return index }
        all.append(name)
        return all.count - 1
    }

    func noteWhole(_ number: Int) { wholes.insert(number) }

    func way(to property: QueryProperty) -> Int {
        if let number = ways.firstIndex(of: property) { return number }
        ways.append(property)
        return ways.count - 1
    }
}
