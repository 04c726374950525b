import Testing
import Vellum

@Suite struct SizeTests {
    @Test func bothSpellings() {
        #expect(10.kiloByte == 10_240 && 10.kiloBytes == 10_240)
        #expect(10.megaByte == 10_485_760 && 10.megaBytes == 10_485_760)
        #expect(2.gigaByte == 2_147_483_648 && 2.gigaBytes == 2_147_483_648)
        #expect(7.bytes == 7)
        #expect(1.5.kiloBytes == 1536)
        #expect(0.3.bytes == 1)
    }

    @Test func sizesThatNothingHas() {
        #expect(Int.max.gigaBytes == .max)
        #expect(Int.min.kiloBytes == .min)
        #expect(1e300.megaBytes == .max)
        #expect((-1e300).megaBytes == .min)
        #expect(Double.infinity.bytes == .max)
        #expect(Double.nan.bytes == 0)
    }
}
