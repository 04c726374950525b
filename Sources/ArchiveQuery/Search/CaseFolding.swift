extension String {
    /// The text with the case of its letters folded away, as Unicode's full case folding does: equal for texts that
    /// differ in case only. It is not for showing.
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
        // The dotless i has a capital letter, but only in Turkic languages is it the same letter as that.
        case 0..<0x80, 0x131: text.unicodeScalars.append(self)
        default:
            // The folding itself is no property that Swift knows. By way of the capital letters is the same: they
            // join the final sigma with the others and take "ß" apart. "ẞ" has to be made small for that first.
            for small in properties.lowercaseMapping.unicodeScalars {
                for capital in small.properties.uppercaseMapping.unicodeScalars {
                    text += capital.properties.lowercaseMapping
                }
            }
        }
    }
}
