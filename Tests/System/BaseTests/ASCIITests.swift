import Testing

@testable import Base

struct ASCIITests {
    @Test func classifiesEveryByte() {
        for byte in UInt8.min...UInt8.max {
            let isUpper = (0x41...0x5A).contains(byte)
            let isLower = (0x61...0x7A).contains(byte)
            #expect(byte.asciiLowercased == (isUpper ? byte + 32 : byte))
            #expect(byte.isASCIIDigit == (0x30...0x39).contains(byte))
            #expect(byte.isASCIILetter == (isUpper || isLower))
            let digit = Array("0123456789abcdef".utf8).firstIndex(of: byte.asciiLowercased)
            #expect(byte.hexDigitValue == digit.map { UInt8($0) })
        }
    }

    @Test func writesAndReadsHexadecimal() {
        let all = [UInt8](UInt8.min...UInt8.max)
        #expect(all.hex.count == 512)
        #expect(bytes(fromHex: all.hex) == all)
        #expect(bytes(fromHex: all.hex.uppercased()) == all)
        #expect([UInt8]().hex == "")
        #expect(bytes(fromHex: "") == [])
        #expect([0x00, 0x0F, 0xF0].hex == "000ff0")
    }

    @Test(arguments: ["0", "abc", "0g", "0x00", "00 ", "-1", "é0", "0\u{0}"])
    func refusesOtherText(_ text: String) {
        #expect(bytes(fromHex: text) == nil)
    }

    @Test(arguments: [
        ("Content-Length", true), ("content-length", true), ("CONTENT-LENGTH", true),
        ("content-lengt", false), ("content-lengthh", false), ("", false),
        ("content\u{0D}length", false), ("content_length", false),
    ])
    func comparesWithoutCase(_ text: String, _ isEqual: Bool) {
        #expect(Array(text.utf8).equalsIgnoringCase("content-length") == isEqual)
    }
}
