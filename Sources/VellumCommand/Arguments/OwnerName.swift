enum OwnerName {
    @Sendable static func parse(_ text: String) throws -> String {
        guard (1...255).contains(text.utf8.count) else {
            throw ValidationError("an owner must be 1 to 255 bytes, not \(text.utf8.count)")
        }
        return text
    }
}
