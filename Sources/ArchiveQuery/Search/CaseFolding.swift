extension String {
    /// The text after Unicode's full case folding: equal for texts that differ only in case. Not for display.
    package var foldedCase: String {
        var folded = ""
        folded.reserveCapacity(utf8.count)
        for scalar in unicodeScalars { scalar.appendFoldedCase(to: &folded) }
        return folded
    }
}

/// The same of stored texts, without making strings of them.
enum CaseFolding {
    /// Whether bytes are in the folded text in UTF-8, if all of it consists of scalars that have one form only, before and after
    /// (`hasOneForm`), and fold into few bytes; otherwise nil. They are no closure's: threads that share them would wait for each
    /// other to count its references.
    static func isFound(_ bytes: [UInt8], inFolded text: UnsafeRawBufferPointer) -> Bool? {
        // Two bytes become three at most.
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: text.count * 3 / 2 + 3) { room in
            fold(text, into: room).map {
                ByteSearch.place(of: bytes, in: UnsafeBufferPointer(rebasing: room[..<$0]), from: 0) != nil
            }
        }
    }

    /// What the scalars of up to two bytes become: the first byte lowest, and how many bytes in the highest. 0 where that takes
    /// more than three, or where there are other forms.
    private static let short: [UInt32] = (UInt32(0)..<0x800).map { value in
        guard let scalar = Unicode.Scalar(value), scalar.hasOneForm else { return 0 }
        var folded = ""
        scalar.appendFoldedCase(to: &folded)
        guard folded.utf8.count <= 3, folded.unicodeScalars.allSatisfy(\.hasOneForm) else { return 0 }
        return folded.utf8.reversed().reduce(0) { $0 << 8 | UInt32($1) } | UInt32(folded.utf8.count) << 24
    }

    /// Eight bytes at once: letters from A to Z become small; nil where not all are ASCII.
    @inline(__always)
    private static func lowercasedASCII(_ word: UInt64) -> UInt64? {
        let high: UInt64 = 0x8080_8080_8080_8080
        guard word & high == 0 else { return nil }
        // The highest bit of each byte tells whether it is at least A, and whether it is beyond Z.
        let atLeastA = word + 0x3f3f_3f3f_3f3f_3f3f
        let beyondZ = word + 0x2525_2525_2525_2525
        return word | (atLeastA & ~beyondZ & high) >> 2
    }

    /// How many bytes it has become; nil where it has other scalars.
    private static func fold(
        _ text: UnsafeRawBufferPointer, into room: UnsafeMutableBufferPointer<UInt8>
    ) -> Int? {
        short.withUnsafeBufferPointer { short in
            var (place, end) = (0, 0)
            while place < text.count {
                if place + 8 <= text.count {
                    let word = text.loadUnaligned(fromByteOffset: place, as: UInt64.self)
                    if let small = lowercasedASCII(word) {
                        UnsafeMutableRawBufferPointer(room).storeBytes(
                            of: small, toByteOffset: end, as: UInt64.self)
                        place += 8
                        end += 8
                        continue
                    }
                }
                guard let (scalar, next) = UTF8Text.scalar(text, at: place) else { return nil }
                if scalar < 0x800 {
                    let folded = short[Int(scalar)]
                    guard folded != 0 else { return nil }
                    for byte in 0..<folded >> 24 {
                        room[end] = UInt8(truncatingIfNeeded: folded >> (8 * byte))
                        end += 1
                    }
                } else {
                    // Of the scripts with one form, only the wide Latin letters have a case there.
                    guard scalar.isOfOneForm, !(0xff01...0xff9d ~= scalar) else { return nil }
                    for byte in text[place..<next] {
                        room[end] = byte
                        end += 1
                    }
                }
                place = next
            }
            return end
        }
    }
}

extension Unicode.Scalar {
    fileprivate func appendFoldedCase(to text: inout String) {
        switch value {
        case 0x41...0x5a: text.unicodeScalars.append(Unicode.Scalar(UInt8(value) | 0x20))
        // The dotless i folds to I in Turkic languages only.
        case 0..<0x80, 0x131: text.unicodeScalars.append(self)
        default:
            // Swift has no property for case folding. Mapping to upper case is equivalent: it unifies the final
            // sigma with the others and expands "ß". "ẞ" must be mapped to lower case first.
            for small in properties.lowercaseMapping.unicodeScalars {
                for capital in small.properties.uppercaseMapping.unicodeScalars {
                    text += capital.properties.lowercaseMapping
                }
            }
        }
    }
}
