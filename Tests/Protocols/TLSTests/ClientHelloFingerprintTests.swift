internal import Base
import Testing

@testable import TLS

@Suite struct ClientHelloFingerprintTests {
    @Test func theDigestsAreRight() {
        let text = [UInt8]("abc".utf8)
        #expect(ClientHelloDigests.md5(text).hex == "900150983cd24fb0d6963f7d28e17f72")
        #expect(
            ClientHelloDigests.sha256(text).hex
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    }

    @Test(arguments: ClientHelloSample.all)
    func realClientsHaveTheirFingerprints(_ sample: ClientHelloSample) throws {
        let hello = try #require(try ClientHelloReader.read(sample.bytes.span))
        #expect(hello.ja3(md5: ClientHelloDigests.md5) == sample.ja3)
        #expect(hello.ja4(sha256: ClientHelloDigests.sha256) == sample.ja4)
    }

    /// The two examples in the description of JA3.
    @Test(arguments: [
        (
            "769,47-53-5-10-49161-49162-49171-49172-50-56-19-4,0-10-11,23-24-25,0",
            "ada70206e40642a3e4461f35503241d5"
        ),
        ("769,4-5-10-9-100-98-3-6-19-18-99,,,", "de350869b8c85de67a350c8d186f11e6"),
    ])
    func publishedJA3(text: String, digest: String) {
        let fields = text.split(separator: ",", omittingEmptySubsequences: false).map { field in
            field.split(separator: "-").compactMap { UInt16($0) }
        }
        var hello = ClientHello()
        hello.legacyVersion = fields[0][0]
        hello.cipherSuites = [0x0A0A] + fields[1]
        hello.extensions = fields[2] + [0xFAFA]
        hello.groups = [0x3A3A] + fields[3]
        hello.pointFormats = fields[4].map { UInt8($0) }
        #expect(hello.ja3String == text)
        #expect(hello.ja3(md5: ClientHelloDigests.md5) == digest)
    }

    /// The example in the description of JA4, with reserved values added at every place.
    @Test func publishedJA4() {
        let hello = published()
        #expect(
            hello.ja4(sha256: ClientHelloDigests.sha256) == "t13d1516h2_8daaf6152771_e5627efa2ab1")
        #expect(
            hello.ja4Raw
                == "t13d1516h2_002f,0035,009c,009d,1301,1302,1303,c013,c014,c02b,c02c,c02f,c030,"
                + "cca8,cca9_0005,000a,000b,000d,0012,0015,0017,001b,0023,002b,002d,0033,4469,ff01"
                + "_0403,0804,0401,0503,0805,0501,0806,0601")
    }

    @Test func withoutAlgorithmsThereIsNoUnderscore() {
        var hello = published()
        hello.signatureAlgorithms = []
        #expect(hello.ja4(sha256: ClientHelloDigests.sha256).hasSuffix("_6d807ffa2a79"))
    }

    @Test func emptyListsAreZeros() {
        var hello = ClientHello()
        hello.legacyVersion = 0x0303
        #expect(
            hello.ja4(sha256: ClientHelloDigests.sha256) == "t12i000000_000000000000_000000000000")
        hello.extensions = [0, 16]
        #expect(
            hello.ja4(sha256: ClientHelloDigests.sha256) == "t12d000200_000000000000_000000000000")
    }

    @Test func countsStopAtNinetyNine() {
        var hello = ClientHello()
        hello.cipherSuites = (1...100).map { $0 }
        hello.extensions = (100...198).map { $0 }
        #expect(hello.ja4Raw.hasPrefix("t00i999900_"))
    }

    @Test(
        arguments: [
            ([0x68, 0x32], "h2"), ([UInt8]("http/1.1".utf8), "h1"), ([0x78], "xx"), ([], "00"),
            // The examples of the description.
            ([0xAB], "ab"), ([0xAB, 0xCD], "ad"), ([0x30, 0xAB], "3b"),
            ([0x30, 0x31, 0xAB, 0xCD], "3d"), ([0x30, 0xAB, 0xCD, 0x31], "01"),
            ([0x2F, 0x39], "29"), ([0x5B, 0x60], "50"),
        ] as [([UInt8], String)])
    func theProtocolTakesTwoCharacters(name: [UInt8], expected: String) {
        var hello = ClientHello()
        hello.protocolNames = [name, [0x7A]]
        #expect(hello.ja4Raw == "t00i0000\(expected)__")
    }

    @Test(
        arguments: [
            (0x0304, "13"), (0x0303, "12"), (0x0302, "11"), (0x0301, "10"), (0x0300, "s3"),
            (0x0002, "s2"), (0x7F1C, "00"),
        ] as [(UInt16, String)])
    func versionsAreTwoCharacters(version: UInt16, expected: String) {
        var hello = ClientHello()
        hello.legacyVersion = version
        #expect(hello.ja4Raw.hasPrefix("t\(expected)i"))
        hello.legacyVersion = 0x0303
        hello.supportedVersions = [0x0002, version, 0x8A8A]
        #expect(hello.ja4Raw.hasPrefix("t\(expected)i"))
    }

    @Test func reservedValuesAreSixteen() {
        let reserved = (0...UInt16.max).filter(\.isGREASE)
        #expect(reserved.count == 16)
        #expect(reserved.first == 0x0A0A)
        #expect(reserved.last == 0xFAFA)
    }

    private func published() -> ClientHello {
        var hello = ClientHello()
        hello.legacyVersion = 0x0303
        hello.supportedVersions = [0x6A6A, 0x0304, 0x0303]
        hello.cipherSuites = [
            0x1A1A, 0x1301, 0x1302, 0x1303, 0xC02B, 0xC02F, 0xC02C, 0xC030, 0xCCA9, 0xCCA8, 0xC013,
            0xC014, 0x009C, 0x009D, 0x002F, 0x0035,
        ]
        hello.extensions = [
            0x2A2A, 0x001B, 0x0000, 0x0033, 0x0010, 0x4469, 0x0017, 0x002D, 0x000D, 0x0005, 0x0023,
            0x0012, 0x002B, 0xFF01, 0x000B, 0x000A, 0x0015, 0x3A3A,
        ]
        hello.protocolNames = [[UInt8]("h2".utf8), [UInt8]("http/1.1".utf8)]
        hello.signatureAlgorithms = [
            0x0403, 0x0804, 0x4A4A, 0x0401, 0x0503, 0x0805, 0x0501, 0x0806, 0x0601,
        ]
        return hello
    }
}
