import CBOR

/// Property names of an importable file, for completion; silent about errors.
enum ImportedProperties {
    private static let records = 20

    /// From the first word that is the path of a file: the columns of a table, or the properties of the first objects.
    static func names(among words: some Sequence<String>) -> [String] {
        // Opening a pipe or device may block.
        guard let path = words.first(where: { FileKind(of: $0) == .regular }),
            let input = try? InputBuffer(path: path),
            (try? input.skipByteOrderMark()) != nil, let format = try? FileFormat.recognize(input),
            var reader = try? format.reader(of: input, isTextOnly: true)
        else { return [] }
        if let table = reader as? DelimitedReader { return table.columns }
        var names: [String] = []
        var known: Set<ExactText> = []
        var writer = CBORWriter()
        for _ in 0..<records {
            guard case .value = try? reader.next(into: &writer),
                case .map(let map) = try? CBORReader.decode(writer.bytes)
            else { break }
            for name in map.entries.compactMap(\.key.asString) where known.insert(ExactText(name)).inserted {
                names.append(name)
            }
        }
        return names
    }
}

extension CompletionKind {
    static var importedProperties: CompletionKind {
        offered { words, prefix in
            StoreCompletion.offered(ImportedProperties.names(among: words.dropFirst(2)), prefix)
        }
    }
}
