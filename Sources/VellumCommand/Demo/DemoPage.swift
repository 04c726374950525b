enum DemoPage {
    static func key(_ data: DemoData, _ place: Int) -> String {
        let path = data.keys[place].dropFirst("city".count).map { character in
            character == ":"
                ? "/" : character == " " ? "-" : Character(character.lowercased().prefix(1).description)
        }
        return "page:" + String(path)
    }

    static func text(_ data: DemoData, _ place: Int) -> String {
        let name = data.text("name", of: place) ?? "?"
        let facts = ["countrycode", "population", "timezone", "admin1code"].compactMap { property in
            data.text(property, of: place).map { "  <tr><th>\(property)</th><td>\($0)</td></tr>\n" }
        }
        // Pages differ in length.
        let neighbors = (1...3 + place % 40).compactMap { step in
            data.text("name", of: (place + step) % data.keys.count).map { "  <li>\($0)</li>\n" }
        }
        return """
            <!DOCTYPE html>
            <title>\(name)</title>
            <h1>\(name)</h1>
            <table>
            \(facts.joined())</table>
            <ul>
            \(neighbors.joined())</ul>

            """
    }
}
