import StorageEngine

/// The shape of a stage's input rows, which determines the access to a property.
struct RowShape {
    enum Access {
        case metadata(QueryMetadata)
        /// A property of an entry's value, by its number in ``RowShape/names``; and the path from there, with its number.
        case property(Int, [QueryProperty.Step], way: Int)
        case column(Int, [QueryProperty.Step])
        /// A column of keys or owners, compared by bytes.
        case keyColumn(Int)
        /// All elements of a list.
        case elements(Elements)
        case computed(any RowFunction)
        case nothing

        var isMany: Bool { if case .elements = self { true } else { false } }

        var isKey: Bool {
            switch self {
            case .metadata(let metadata): metadata == .key || metadata == .owner
            case .keyColumn: true
            default: false
            }
        }
    }

    /// A path with `[]`: its start, and the steps from there.
    struct Elements {
        enum Start {
            case property(Int, way: Int)
            case column(Int)
        }

        var start: Start
        var steps: [QueryProperty.Step]
        var readsNumbers = false
        /// Counts values that are no list.
        var counter: KindCounts?
    }

    /// The columns as later stages write them; one with a repeated name has its numbered name. Nil if rows are whole entries.
    private(set) var columns: [QueryProperty]?
    private(set) var keyColumns: Set<Int> = []
    /// Columns of texts that never count as numbers.
    private var textColumns: Set<Int> = []
    /// Whether the source stores numbers as texts (``QueryCursor/storesNumbersAsText``).
    var storesNumbersAsText = false
    /// Counts failed calculations; nil while a query is only planned.
    var diagnostics: QueryDiagnostics?
    /// Indices of columns by name and by property; the first of equal ones.
    private var places: [QueryProperty: Int] = [:]
    /// Indices of columns such as `l[]` that have the list of all elements, as after `select`, instead of one element in each row.
    private var listColumns: Set<Int> = []
    /// Whether each row is a single entry.
    private(set) var hasEntry = true
    /// All properties of entries that the plan uses, found in one pass over a value.
    private let names: PropertyNames

    init(names: PropertyNames) { self.names = names }

    /// - Parameters:
    ///   - sources: the property of the input rows for each column, or nil.
    ///   - hasEntry: whether the stage makes one row of each input row.
    func with(columns: [QueryProperty], from sources: [QueryProperty?], hasEntry: Bool) -> RowShape {
        var shape = self
        let names = columns.map(\.columnName).distinct
        shape.columns = zip(columns, names).map {
            ExactText($0.columnName) == ExactText($1) ? $0 : .named($1)
        }
        func indices(where isIncluded: (QueryProperty) -> Bool) -> Set<Int> {
            Set(sources.indices.filter { sources[$0].map(isIncluded) ?? false })
        }
        shape.keyColumns = indices { access(to: $0).isKey }
        // Passing the method itself would allocate.
        shape.textColumns = indices { isText($0) }
        shape.places = Dictionary(
            Array(zip(names.map { .named($0) }, names.indices)) + zip(columns, columns.indices),
            uniquingKeysWith: { first, _ in first })
        shape.hasEntry = self.hasEntry && hasEntry
        shape.listColumns = hasEntry ? indices { access(to: $0).isMany } : []
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
            let computation = Computation(side(left), sign, side(right), counter(property))
            if case .date(let date)? = computation.constant, let moment = Microseconds.since1970(date) {
                QueryClock.note("\(property)", moment)
            }
            return .computed(computation)
        case .converted(let conversion, let source):
            return .computed(Converter(access(to: source), conversion, counter(property)))
        }
    }

    /// Whether the property is a text wherever it is present: a text of the metadata, `text(x)`, or a column of these.
    func isText(_ property: QueryProperty) -> Bool {
        switch (property, column(of: property)) {
        case (_, .column(let index, [])?), (_, .keyColumn(let index)?): textColumns.contains(index)
        case (.metadata(let metadata), _): metadata.kind == .text
        case (.converted(.text, _), _): true
        default: false
        }
    }

    /// Whether the property is a date wherever it is present: of the metadata, or `date(x)`.
    func isDate(_ property: QueryProperty) -> Bool {
        switch property {
        case .metadata(let metadata): metadata.kind == .date
        case .converted(.date, _): true
        default: false
        }
    }

    /// Whether texts that are numbers as a whole count as numbers in the property.
    func readsNumbers(in property: QueryProperty) -> Bool { storesNumbersAsText && !isText(property) }

    /// Like ``access(to:)``, but numeric texts are numbers if the source stores numbers as texts.
    func numericAccess(to property: QueryProperty) -> Access {
        let access = access(to: property)
        guard readsNumbers(in: property) else { return access }
        switch access {
        case .property, .column: return .computed(TextNumber(access))
        case .elements(var elements):
            elements.readsNumbers = true
            return .elements(elements)
        case .metadata, .keyColumn, .computed, .nothing: return access
        }
    }

    /// `access`, with a warning that counts the values without elements that the stage leaves out.
    func counting(_ access: Access, _ property: QueryProperty, stage: String) -> Access {
        guard case .elements(var elements) = access else { return access }
        elements.counter = diagnostics?.counter(property, wanting: [], "\(stage) \(property)", .excluded)
        return .elements(elements)
    }

    private func counter(_ property: QueryProperty) -> KindCounts? {
        diagnostics?.counter(property, wanting: [], property.description, .failed)
    }

    private func side(_ operand: QueryOperand) -> Computation.Side {
        switch operand {
        case .property(let property): Computation.Side(numericAccess(to: property))
        case .value(let value): .constant(StoredItem(value))
        }
    }

    private func column(of property: QueryProperty) -> Access? {
        guard columns != nil else { return nil }
        guard case .path(let steps) = property else {
            return places[property].map { keyColumns.contains($0) ? .keyColumn($0) : .column($0, []) }
        }
        // The column of the whole path, otherwise the first column whose path the property extends.
        let starts = steps.indices.compactMap { length in
            places[.path(Array(steps[..<length]))].map { (column: $0, length: length) }
        }
        guard
            let (column, length) = places[property].map({ ($0, steps.count) })
                ?? starts.min(by: { $0.column < $1.column })
        else { return nil }
        var rest = Array(steps[length...])
        if listColumns.contains(column), steps[..<length].contains(.each) { rest.insert(.each, at: 0) }
        guard !rest.contains(.each) else { return .elements(Elements(start: .column(column), steps: rest)) }
        return rest.isEmpty && keyColumns.contains(column) ? .keyColumn(column) : .column(column, rest)
    }
}

/// Names of properties in a plan, with the paths that continue from them.
final class PropertyNames {
    private(set) var all: [String] = []
    private(set) var ways: [QueryProperty] = []
    /// The numbers of names that are used without a further path.
    private(set) var wholes: Set<Int> = []
    /// Compared by bytes, like the keys of maps.
    private var numbers: [ExactText: Int] = [:]
    private var wayNumbers: [QueryProperty: Int] = [:]

    func index(of name: String) -> Int {
        if let index = numbers[ExactText(name)] { return index }
        numbers[ExactText(name)] = all.count
        all.append(name)
        return all.count - 1
    }

    func noteWhole(_ number: Int) { wholes.insert(number) }

    func way(to property: QueryProperty) -> Int {
        if let number = wayNumbers[property] { return number }
        wayNumbers[property] = ways.count
        ways.append(property)
        return ways.count - 1
    }

    func properties(seenByNoneOf readers: [RowReader]) -> [QueryProperty] {
        wholes.sorted().filter { name in !readers.contains { $0.hasSeen(name: name) } }.map {
            .named(all[$0])
        } + ways.indices.filter { way in !readers.contains { $0.hasSeen(way: way) } }.map { ways[$0] }
    }
}
