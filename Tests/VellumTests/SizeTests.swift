import Testing
import Vellum

@Suite struct SizeTests {
    @Test func bothSpellings() {
        #expect(10.kiloByte == 10_240 && 10.kiloBytes == 10_240)
        #expect(10.megaByte == 10_485_760 && 10.megaBytes == 10_485_760)
    }

    @Test func sizesThatNothingHas() {
        #expect(Int.max.megaBytes == .max)
        #expect(Int.min.kiloBytes == .min)
    }
}
