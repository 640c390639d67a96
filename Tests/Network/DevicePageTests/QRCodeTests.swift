import Base
import TLS
import Testing

@testable import DevicePage

struct QRCodeTests {
    /// One row a version: what it holds, its side, and the SHA-256 of its codes with all masks as
    /// qrcode 8 of PyPI makes them: rows of `#` and `.`, each code apart from the next by a blank
    /// line.
    static let rows: [(text: String, size: Int, digest: String)] = [
        (
            "0123456789abcd", 21,
            "0fb08867027df94533219e36d85887e5169e1607d338040e07fc5656cf39acf9"
        ),
        (
            "http://192.168.1.5:8080/", 25,
            "d63172609dafdb5c62a525584de378b33f520d2b1780fae27bdf9700d605fe8f"
        ),
        (
            String(repeating: "b", count: 42), 29,
            "451d57f26d33e995e2e83dda39fca51f0f8f78525963601fb2ac6ccc3c10e7dd"
        ),
        (
            "http://[2001:db8:1234:5678:9abc:def0:1234:5678]:65535/", 33,
            "9346148b844a7667fdfd9e533541678ea9a1af71fd7d2326d476a5b3199870f2"
        ),
        (
            String(repeating: "a", count: 84), 37,
            "57d29bda280bfd83cdb6e382b55e9a079fb7fd3500ea1ce72daeea5e12b17855"
        ),
        (
            String(repeating: "x", count: 106), 41,
            "17f97dc9af38d320b325e618941a28b4b61926ffb0d9e86121eea28d80887cde"
        ),
    ]

    @Test(arguments: rows)
    func isAsAnotherEncoderMakesIt(_ row: (text: String, size: Int, digest: String)) throws {
        let codes = try (0..<8).map { mask in
            try #require(QRCode([UInt8](row.text.utf8), mask: mask))
        }
        #expect(codes.allSatisfy { $0.size == row.size })
        let text = codes.map(\.text).joined(separator: "\n\n")
        #expect(Digests.sha256([UInt8](text.utf8)).hex == row.digest)
        // Whichever mask is chosen, it is one of these.
        let chosen = try #require(QRCode([UInt8](row.text.utf8)))
        #expect(codes.contains { $0.text == chosen.text })
    }

    @Test func lengthHasABound() {
        #expect(QRCode([UInt8](repeating: 1, count: 107)) == nil)
        #expect(QRCode([])?.size == 21)
    }

    @Test func pictureHasItsMargin() throws {
        let code = try #require(QRCode([UInt8]("a".utf8)))
        let picture = code.picture("\"<x>\"")
        #expect(picture.contains("aria-label=\"&quot;&lt;x&gt;&quot;\" viewBox=\"0 0 29 29\""))
        #expect(picture.contains("d=\"M4 4h1v1h-1z"))
        #expect(!picture.contains("M3 "))
    }
}

extension QRCode {
    fileprivate var text: String {
        (0..<size).map { row in
            (0..<size).map { self[$0, row] ? "#" : "." }.joined()
        }.joined(separator: "\n")
    }
}
