import ArchiveQuery
import Foundation
import TestSupport
import Testing

/// Texts of stored dates against Foundation's calendar and time zones.
@Suite("Stored dates") struct DateFormTests {
    private static let utc: Calendar = {
        var calendar = Calendar(identifier: .iso8601)
        calendar.timeZone = TimeZone(secondsFromGMT: 0) ?? .gmt
        return calendar
    }()

    private static let zones = [
        "UTC", "Europe/Berlin", "America/New_York", "America/St_Johns", "Asia/Kolkata", "Australia/Lord_Howe",
        "Pacific/Apia", "America/Sao_Paulo", "Africa/Cairo",
    ]

    /// The first moment at which clocks show a time, by trying all offsets of the hours near it; for a skipped time, the
    /// moment by the earlier offset.
    private static func moment(ofWall wall: Int, _ zone: TimeZone) -> Int {
        func offset(_ moment: Int) -> Int {
            zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(moment)))
        }
        let start = wall - 26 * 3600
        let offsets = Set(stride(from: start, through: wall + 26 * 3600, by: 3600).map(offset))
        return offsets.map { wall - $0 }.filter { $0 + offset($0) == wall }.min() ?? wall - offset(start)
    }

    private struct Written {
        var text: String
        /// Microseconds since 1970.
        var moment: Int
    }

    private static func padded(_ number: Int, _ digits: Int = 2) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }

    private static func random(_ zone: TimeZone, _ random: inout some RandomNumberGenerator) -> Written {
        func chance(_ share: Int) -> Bool { Int.random(in: 0..<share, using: &random) == 0 }
        // Half of them near a change of the clocks.
        var day = Date(timeIntervalSince1970: Double(Int.random(in: 3000..<24_800, using: &random)) * 86_400)
        if chance(2), let change = zone.nextDaylightSavingTimeTransition(after: day) {
            let local = change.timeIntervalSince1970 + Double(zone.secondsFromGMT(for: change))
            day = Date(timeIntervalSince1970: (local / 86_400).rounded(.down) * 86_400)
        }
        let isBasic = chance(3)
        let dash = isBasic ? "" : "-"
        let parts = utc.dateComponents(
            [.year, .month, .day, .weekOfYear, .yearForWeekOfYear, .weekday], from: day)
        let (year, ordinal) = (parts.year ?? 0, utc.ordinality(of: .day, in: .year, for: day) ?? 0)
        let isLong = !isBasic && chance(6)
        let years = isLong ? "+" + padded(year, 6) : padded(year, 4)
        var (text, isDigits) = ("", isBasic)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: text = years + dash + padded(parts.month ?? 0) + dash + padded(parts.day ?? 0)
        case 1: text = years + dash + padded(ordinal, 3)
        default:
            isDigits = false
            // Foundation counts weekdays from Sunday.
            let weekday = ((parts.weekday ?? 1) + 5) % 7 + 1
            text =
                (isLong
                    ? "+" + padded(parts.yearForWeekOfYear ?? 0, 6) : padded(parts.yearForWeekOfYear ?? 0, 4))
                + dash + "W" + padded(parts.weekOfYear ?? 0) + dash + String(weekday)
        }
        let midnight = Int(day.timeIntervalSince1970)
        if !isDigits, chance(8) {
            return Written(text: text, moment: moment(ofWall: midnight, zone) * 1_000_000)
        }
        let (hour, minute) = (Int.random(in: 0...23, using: &random), Int.random(in: 0...59, using: &random))
        let second = Int.random(in: 0...60, using: &random)
        let colon = chance(2) ? ":" : ""
        let level = Int.random(in: 0...2, using: &random)
        text += colon == ":" && level > 0 && chance(3) ? " " : chance(5) ? "t" : "T"
        var wall = midnight + hour * 3600
        var micros = 0
        if chance(20) {
            text += "24" + (level > 0 ? colon + "00" : "") + (level > 1 ? colon + "00" : "")
            wall = midnight + 86_400
        } else {
            text += padded(hour)
            if level > 0 { text += colon + padded(minute) }
            if level > 1 { text += colon + padded(second) }
            wall += (level > 0 ? minute * 60 : 0) + (level > 1 ? second : 0)
            if chance(2) {
                let digits = (0..<Int.random(in: 1...9, using: &random)).map { _ in
                    Int.random(in: 0...9, using: &random)
                }
                text += (chance(2) ? "." : ",") + digits.map(String.init).joined()
                let unit = [3_600_000_000, 60_000_000, 1_000_000][level]
                let scale = digits.reduce(1) { scale, _ in scale * 10 }
                let product = digits.reduce(0) { $0 * 10 + $1 }.multipliedFullWidth(by: unit)
                micros = scale.dividingFullWidth(product).quotient
            }
        }
        guard chance(2) else {
            let whole = wall + micros / 1_000_000
            return Written(text: text, moment: moment(ofWall: whole, zone) * 1_000_000 + micros % 1_000_000)
        }
        text += chance(4) ? " " : ""
        if chance(3) {
            text += ["Z", "z", "UTC"].randomElement(using: &random) ?? "Z"
        } else {
            let (hours, minutes) = (
                Int.random(in: 0...14, using: &random), Int.random(in: 0...59, using: &random)
            )
            let (sign, colon) = (chance(2) ? 1 : -1, chance(2) ? ":" : "")
            let hasMinutes = chance(2)
            text += (sign > 0 ? "+" : chance(4) ? "\u{2212}" : "-") + padded(hours)
            if hasMinutes { text += colon + padded(minutes) }
            wall -= sign * (hours * 3600 + (hasMinutes ? minutes * 60 : 0))
        }
        if chance(5) { text += "[Europe/Berlin][u-ca=gregory]" }
        return Written(text: text, moment: wall * 1_000_000 + micros)
    }

    @Test("a stored date is the moment that Foundation's calendar and time zones give", arguments: zones)
    func randomForms(name: String) throws {
        var generator = SeededGenerator.announced("date forms \(name)")
        let zone = try #require(TimeZone(identifier: name))
        let written = (0..<400).map { _ in Self.random(zone, &generator) }
        let source = try ListSource(json: written.map { #"{"p":"\#($0.text)"}"# })
        let own = QueryTimeZone { zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double($0))) }
        let found = try source.columns("select p - 1970-01-01Z", zone: own).map { $0.first ?? "-" }
        for (date, seconds) in zip(written, found) {
            let moment = Double(seconds).map { Int(($0 * 1_000_000).rounded()) }
            #expect(moment == date.moment, "\(date.text) in \(name)")
        }
    }

    @Test(
        "other texts are no dates",
        arguments: [
            "20250401", "2025091", "2025", "2025-04", "202504", "2025-W14", "T10:00", "10:00", "P1D",
            "2025-04-01/2025-04-02", "2025-02-29", "2025-366", "2025-000", "2025-W53-1", "2025-W00-1",
            "2025-W14-8", "2025-13-01", "2025-04-31", "2025-04-01T25:00Z", "2025-04-01T24:00:01Z",
            "2025-04-01T24:00:00.1Z", "2025-04-01T10:60Z", "2025-04-01T10:00:61Z", "2025-04-01T1000:00Z",
            "2025-04-01T10:0000Z", "2025-04-01T", "2025-04-01 10", "2025-04-01 1000",
            "2025-04-01T10:00+24:00", "2025-04-01T10:00+02:60", "2025-04-01T10:00.",
            "2025-04-01T10:00[Europe/Berlin]", "2025-04-01T10:00Z[!u-ca=gregory]", "2025-04-01T10:00Z[]",
            "2025-04-01T10:00Z[a", "2025-04-01T10:00Z x", " 2025-04-01", "2025-04-01 ", "-0000-01-01",
            "+20250401", "2025-4-1", "01.04.2025", "2025-04-01+02:00", "999999999", "2025-04-01T10:00 ",
            "+999999-01-01",
        ])
    func noDates(text: String) throws {
        let source = try ListSource(json: [#"{"p":"\#(text)"}"#])
        #expect(try source.columns("select p - 1970-01-01Z") == [["-"]])
        #expect(try source.keys("find p < 2500-01-01 or p >= 2500-01-01") == [])
    }

    @Test("stored dates cover years before 0 and after 9999") func longYears() throws {
        let texts = ["-0001-12-31T24:00Z", "0000-01-01Z", "+012026-01-31T00:00Z", "-290000-01-01"]
        let source = try ListSource(json: texts.map { #"{"p":"\#($0)"}"# })
        let found = try source.columns("select p - 1970-01-01Z").map { $0.first ?? "-" }
        #expect(found == ["-62167219200", "-62167219200", "317339337600", "-9213683299200"])
    }
}
