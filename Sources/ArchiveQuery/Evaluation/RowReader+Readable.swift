import CBOR

extension RowReader {
    /// The result of `body`; nil after a fault of the row, but throws errors of its source.
    @discardableResult
    @inline(__always)
    func ifReadable<Result>(_ body: () throws(RowFault) -> Result) throws -> Result? {
        do throws(RowFault) { return try body() } catch .source(let error) {
            throw error
        } catch {
            return nil
        }
    }

    /// Like ``ifReadable(_:)``; `unreadable` if only the value can't be read, nil if the entry was removed or is damaged.
    @inline(__always)
    func ifThere<Result>(unreadable: Result, _ body: () throws(RowFault) -> Result) throws -> Result? {
        try ifReadable { () throws(RowFault) in
            do throws(RowFault) { return try body() } catch .unreadable { return unreadable }
        }
    }

    func isThere() throws -> Bool { try ifReadable { () throws(RowFault) in try isPresent() } ?? false }

    /// Like ``item(_:)``; unreadable properties are absent.
    func itemIfReadable(_ access: RowShape.Access) throws -> StoredItem {
        try ifReadable { () throws(RowFault) in try item(access) } ?? .absent
    }

    /// Like ``item(_:)`` for a sort or a group; unreadable properties are absent.
    func sortValueIfReadable(_ access: RowShape.Access) throws -> SortValue {
        try ifReadable { () throws(RowFault) in try groupKey(try item(access)) } ?? .absent
    }

    func groupKey(_ item: StoredItem) throws(RowFault) -> GroupKey {
        try checkElements(of: item)
        do throws(CBORError) { return try GroupKey(item) } catch { throw spoiled() }
    }

    /// Like ``encoded(_:)``; unreadable properties are absent.
    func encodedIfReadable(_ access: RowShape.Access) throws -> [UInt8]? {
        try ifReadable { () throws(RowFault) in try encoded(access) } ?? nil
    }

    /// The value, with an inner nil if it is unreadable; nil if its entry was removed or is damaged.
    func documentIfThere() throws -> UnsafeRawBufferPointer?? {
        try ifReadable { () throws(RowFault) in try isPresent() ? .some(try document()) : nil } ?? nil
    }

    /// A copy of the row; nil if its entry was removed or is damaged.
    func kept(_ form: KeptForm) throws -> KeptRow? {
        try ifReadable { () throws(RowFault) -> KeptRow? in
            guard try isPresent() else { return nil }
            let document: [UInt8]?
            var hasColumns = false
            switch form {
            case .columns:
                document = try self.document().map { (bytes) throws(RowFault) in try copy(bytes) }
                hasColumns = true
            // A value that is too long is left out, like an unreadable one.
            case .value: document = try self.document().flatMap { try? copy($0) }
            case .properties(let names): document = try properties(names)
            }
            return KeptRow(
                facts: try entryFacts(), document: document, hasColumns: hasColumns,
                isDamageNoted: isDamageNoted)
        } ?? nil
    }

    /// Like ``forEachItem(_:_:)``, but ends at an unreadable value instead of throwing.
    func forEachReadable(_ access: RowShape.Access, _ body: (StoredItem) throws -> Void) throws {
        guard access.isMany else { return try body(try itemIfReadable(access)) }
        var thrown: (any Error)?
        try ifReadable { () throws(RowFault) in
            try forEachItem(access) { item in
                do { try body(item) } catch { thrown = error }
                return thrown == nil
            }
        }
        if let thrown { throw thrown }
    }
}
