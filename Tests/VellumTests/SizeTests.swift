import Testing
import Vellum

@Suite struct SizeTests {
    @Test("sizes have a singular and a plural") func bothSpellings() {
        #expect(10.kiloByte == 10_240 && 10.kiloBytes == 10_240)
        #expect(10.megaByte == 10_485_760 && 10.megaBytes == 10_485_760)
    }

    @Test("bytes and gigabytes are sizes, too") func otherUnits() {
        #expect(10.bytes == 10 && 3.gigaByte == 3_221_225_472 && 3.gigaBytes == 3_221_225_472)
    }

    @Test("sizes that overflow are clamped") func overflow() {
        #expect(Int.max.megaBytes == .max)
        #expect(Int.min.kiloBytes == .min)
    }
}
