extension StringProtocol where SubSequence == Substring {
    package func trimmingSpaces() -> Substring {
        var text = self[...]
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return text
    }
}
