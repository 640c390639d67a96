import Testing

@testable import TLS

/// What OpenSSL's s_client sends, whole and cut into fragments.
@Suite struct DTLSHelloReaderTests {
    private static let version12 = unhexed(
        "16feff000000000000000000e4010000d800000000000000d8fefdc91584f0a6"
            + "f090b4659920a75dae5d9e92c6a38b5f5f24ddc0e383cf7687a2a600000038c0"
            + "2cc030009fcca9cca8ccaac02bc02f009ec024c028006bc023c0270067c00ac0"
            + "140039c009c0130033009d009c003d003c0035002f00ff010000760000001500"
            + "130000106170692e73686f702e6578616d706c65000b000403000102000a000c"
            + "000a001d0017001e001900180023000000100007000504636f61700016000000"
            + "170000000d002a0028040305030603080708080809080a080b08040805080604"
            + "0105010601030303010302040205020602")
    private static let version10 = unhexed(
        "16feff0000000000000000009a0100008e000000000000008efefff3caff4b65"
            + "8d0ef6b5e4aa9598df483f2abb7776bfc7a24a3ead347acc9ca0810000002ec0"
            + "0ac0140039003800880087c019003a0089c009c0130033003200450044c01800"
            + "34004600350084002f004100ff010000360000000e000c000009612e6578616d"
            + "706c65000b000403000102000a000c000a001d0017001e001900180023000000"
            + "16000000170000")

    @Test func readsWhole() throws {
        var reader = DTLSHelloReader()
        let hello = try #require(try reader.read(Self.version12))
        #expect(hello.serverName == "api.shop.example")
        #expect(hello.alpn == ["coap"])
        #expect(hello.highestVersion == 0xFEFD)
        #expect(hello.ja4Raw.hasPrefix("dd2d2808cp_"))
        var old = DTLSHelloReader()
        #expect(try old.read(Self.version10)?.highestVersion == 0xFEFF)
    }

    @Test(arguments: [1, 7, 100]) func readsFragments(size: Int) throws {
        var reader = DTLSHelloReader()
        let message = Self.version12.dropFirst(25)
        var hello: ClientHello?
        for start in stride(from: 0, to: message.count, by: size) {
            #expect(hello == nil)
            let content = message.dropFirst(start).prefix(size)
            let fragment =
                Self.version12[13..<19] + Self.bytes(start) + Self.bytes(content.count) + content
            let record =
                Self.version12[..<11] + [UInt8(fragment.count >> 8), UInt8(fragment.count & 255)]
                + fragment
            hello = try reader.read(Array(record))
        }
        #expect(hello?.serverName == "api.shop.example")
    }

    @Test func saysWhatIsNone() {
        var reader = DTLSHelloReader()
        #expect(throws: ClientHelloViolation.truncatedHello) {
            try reader.read(Array(Self.version12.dropLast()))
        }
        var data = Self.version12
        data[0] = 23
        #expect(throws: ClientHelloViolation.recordType(23)) { try reader.read(data) }
        data = Self.version12
        data[13] = 2
        #expect(throws: ClientHelloViolation.notAClientHello(messageType: 2)) {
            try reader.read(data)
        }
        data = Self.version12
        data[14] = 0xFF
        #expect(throws: ClientHelloViolation.helloTooLong(0xFF00D8)) { try reader.read(data) }
    }

    /// A fragment is missing: what comes behind it is not put together with what is there.
    @Test func waitsForWhatIsMissing() throws {
        var reader = DTLSHelloReader()
        var record = Self.version12
        record[21] = 9
        #expect(try reader.read(record) == nil)
    }

    private static func bytes(_ number: Int) -> [UInt8] {
        [0, UInt8(number >> 8), UInt8(number & 255)]
    }
}

private func unhexed(_ text: String) -> [UInt8] {
    let digits = text.utf8.compactMap { UInt8(String(UnicodeScalar($0)), radix: 16) }
    return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}
