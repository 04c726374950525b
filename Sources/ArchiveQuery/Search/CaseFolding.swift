extension String {
    /// The text after Unicode's full case folding: canonically equivalent for texts that differ only in case (Unicode Standard,
    /// D145). Not for display. O(length).
    package var foldedCase: String {
        var folded = ""
        folded.reserveCapacity(utf8.count)
        // An iota subscript folds to a letter, which marks are not reordered across. Decomposition moves it behind them.
        let text = unicodeScalars.contains(where: \.mayHaveIotaSubscript) ? MarkOrder.decomposed(self) : self
        for scalar in text.unicodeScalars { scalar.appendFoldedCase(to: &folded) }
        return folded
    }
}

/// Case folding of stored texts, without strings.
enum CaseFolding {
    /// Whether the folded text contains bytes, if all of its scalars have only one form before and after (`hasOneForm`);
    /// otherwise nil. No closure captures the bytes: threads would wait for each other to count references.
    static func isFound(_ bytes: [UInt8], inFolded text: UnsafeRawBufferPointer) -> Bool? {
        if let isFound = isFound(bytes, inFoldedASCII: text) { return isFound }
        // Two bytes become three at most, and the last ones are stored as eight.
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: text.count * 3 / 2 + 8) { buffer in
            fold(text, into: buffer).map {
                let folded = UnsafeBufferPointer(rebasing: buffer[..<$0])
                return ByteSearch.place(of: bytes, in: UnsafeRawBufferPointer(folded)) != nil
            }
        }
    }

    /// Nil for other texts than ASCII. Folds eight bytes at a time, and compares the first two bytes first: texts are short.
    private static func isFound(_ bytes: [UInt8], inFoldedASCII text: UnsafeRawBufferPointer) -> Bool? {
        guard let first = bytes.first else { return nil }
        let firsts = UInt64(first) &* ones
        let seconds = bytes.count > 1 ? UInt64(bytes[1]) &* ones : 0
        var place = 0
        while place < text.count {
            let word = word(of: text, at: place).word
            guard word & high == 0 else { return nil }
            let folded = lowercased(word)
            var different = folded ^ firsts
            // The last byte of a word is the first of the next.
            if bytes.count > 1 { different |= (folded >> 8) ^ seconds }
            // The highest bit of each byte that is 0.
            var hits = ~(((different & ~high) + ~high) | different) & high
            while hits != 0 {
                let start = place + hits.trailingZeroBitCount / 8
                if isEqual(bytes, toFoldedASCII: text, at: start) {
                    return UTF8Text.isASCII(UnsafeRawBufferPointer(rebasing: text[start...])) ? true : nil
                }
                hits &= hits - 1
            }
            place += bytes.count > 1 ? 7 : 8
        }
        return false
    }

    private static let ones: UInt64 = 0x0101_0101_0101_0101

    private static func isEqual(
        _ bytes: [UInt8], toFoldedASCII text: UnsafeRawBufferPointer, at start: Int
    ) -> Bool {
        guard start + bytes.count <= text.count else { return false }
        for (offset, byte) in bytes.enumerated() {
            let other = text[start + offset]
            guard byte == (0x41...0x5a ~= other ? other | 0x20 : other) else { return false }
        }
        return true
    }

    /// Folded scalars of up to two bytes, lowest byte first, and the number of bytes; 0: another form or longer.
    private static let short: [UInt32] = (UInt32(0)..<0x800).map { value in
        guard let scalar = Unicode.Scalar(value), scalar.hasOneForm else { return 0 }
        var folded = ""
        scalar.appendFoldedCase(to: &folded)
        guard folded.utf8.count <= 3, folded.unicodeScalars.allSatisfy(\.hasOneForm) else { return 0 }
        return folded.utf8.reversed().reduce(0) { $0 << 8 | UInt32($1) } | UInt32(folded.utf8.count) << 24
    }

    private static let high: UInt64 = 0x8080_8080_8080_8080

    /// Lowercases A to Z in eight bytes.
    @inline(__always)
    private static func lowercased(_ word: UInt64) -> UInt64 {
        let ascii = word & ~high
        // The highest bit of each byte shows whether it is at least A, and whether it is beyond Z.
        let atLeastA = ascii + 0x3f3f_3f3f_3f3f_3f3f
        let beyondZ = ascii + 0x2525_2525_2525_2525
        return word | (atLeastA & ~beyondZ & ~word & high) >> 2
    }

    /// Up to eight bytes of a text, the first one lowest, and their number; missing bytes are 0.
    @inline(__always)
    private static func word(of text: UnsafeRawBufferPointer, at place: Int) -> (word: UInt64, count: Int) {
        let left = text.count - place
        if left >= 8 { return (text.loadUnaligned(fromByteOffset: place, as: UInt64.self).littleEndian, 8) }
        if text.count >= 8 {
            let last = text.loadUnaligned(fromByteOffset: text.count - 8, as: UInt64.self).littleEndian
            return (last >> (8 * UInt64(8 - left)), left)
        }
        var word: UInt64 = 0
        if text.count >= 4 {
            // Both halves overlap below eight bytes.
            let last = text.loadUnaligned(fromByteOffset: text.count - 4, as: UInt32.self).littleEndian
            word = UInt64(text.loadUnaligned(as: UInt32.self).littleEndian)
            word |= UInt64(last) << (8 * UInt64(text.count - 4))
        } else {
            for (offset, byte) in text.enumerated() { word |= UInt64(byte) << (8 * UInt64(offset)) }
        }
        return (word >> (8 * UInt64(place)), left)
    }

    /// Returns the number of bytes; nil for other scalars.
    private static func fold(
        _ text: UnsafeRawBufferPointer, into buffer: UnsafeMutableBufferPointer<UInt8>
    ) -> Int? {
        var (place, end) = (0, 0)
        while place < text.count {
            let (word, count) = word(of: text, at: place)
            let ascii = min(count, (word & high).trailingZeroBitCount / 8)
            if ascii > 0 {
                // Bytes after the ASCII prefix are overwritten next.
                UnsafeMutableRawBufferPointer(buffer).storeBytes(
                    of: lowercased(word).littleEndian, toByteOffset: end, as: UInt64.self)
                place += ascii
                end += ascii
                continue
            }
            guard let (scalar, next) = UTF8Text.scalar(text, at: place) else { return nil }
            if scalar < 0x800 {
                let folded = short[Int(scalar)]
                guard folded != 0 else { return nil }
                for byte in 0..<folded >> 24 {
                    buffer[end] = UInt8(truncatingIfNeeded: folded >> (8 * byte))
                    end += 1
                }
            } else {
                // Among the scripts with one form, only the wide Latin letters have a case.
                guard scalar.isOfOneForm, !(0xff01...0xff9d ~= scalar) else { return nil }
                for byte in text[place..<next] {
                    buffer[end] = byte
                    end += 1
                }
            }
            place = next
        }
        return end
    }
}

extension Unicode.Scalar {
    /// True for U+0345 and all that decompose to it, in the block of extended Greek.
    fileprivate var mayHaveIotaSubscript: Bool { value == 0x345 || 0x1f80...0x1fff ~= value }

    fileprivate func appendFoldedCase(to text: inout String) {
        switch value {
        case 0x41...0x5a: text.unicodeScalars.append(Unicode.Scalar(UInt8(value) | 0x20))
        // The dotless i folds to I in Turkic languages only.
        case 0..<0x80, 0x131: text.unicodeScalars.append(self)
        default:
            // Swift has no property for case folding. Mapping to upper case is equivalent: it unifies the final sigma with the
            // others and expands "ß". "ẞ" must be mapped to lower case first.
            for small in properties.lowercaseMapping.unicodeScalars {
                for capital in small.properties.uppercaseMapping.unicodeScalars {
                    text += capital.properties.lowercaseMapping
                }
            }
        }
    }
}
