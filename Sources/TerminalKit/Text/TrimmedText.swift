extension StringProtocol where SubSequence == Substring {
    /// Without white space at its beginning and end.
    package func trimmingSpaces() -> Substring {
        var text = self[...]
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return text
    }
}
