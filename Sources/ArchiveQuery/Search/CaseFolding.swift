extension String {
    /// The text after Unicode's full case folding: equal for texts that differ only in case. Not for display.
    package var foldedCase: String {
        var folded = ""
        folded.reserveCapacity(utf8.count)
        for scalar in unicodeScalars { scalar.appendFoldedCase(to: &folded) }
        return folded
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
