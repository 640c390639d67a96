/// Where the head of a response was not as RFC 9112 has it, and was read nevertheless: each is
/// something that the RFC lets a recipient take or mend.
package struct HeadLeniency: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Stands in the place of the generic one of `OptionSet`, which is not specialised in other
    /// modules: every head and body begins with a literal.
    package init(arrayLiteral elements: HeadLeniency...) {
        rawValue = elements.reduce(0) { $0 | $1.rawValue }
    }

    /// A line ends with LF alone (RFC 9112 §2.2).
    package static let bareLF = HeadLeniency(rawValue: 1)
    /// A field goes on on the next line (RFC 9112 §5.2).
    package static let obsoleteFold = HeadLeniency(rawValue: 2)
    /// White space between a field's name and its colon (RFC 9112 §5.1).
    package static let spaceBeforeColon = HeadLeniency(rawValue: 4)
    /// A minor version above 1 (RFC 9110 §2.5).
    package static let higherVersion = HeadLeniency(rawValue: 8)
    /// The same Content-Length more than once (RFC 9112 §6.3).
    package static let repeatedLength = HeadLeniency(rawValue: 16)
    /// Transfer-Encoding, which holds, and Content-Length, which does not (RFC 9112 §6.3).
    package static let bothLengths = HeadLeniency(rawValue: 32)
    /// Chunks in HTTP/1.0, which end the connection (RFC 9112 §6.1).
    package static let oldChunks = HeadLeniency(rawValue: 64)
    /// The coding `identity`, which is none (RFC 9112 appendix C.3).
    package static let identityCoding = HeadLeniency(rawValue: 128)

    /// What clients take of a response.
    package static let response: HeadLeniency = [
        .bareLF, .obsoleteFold, .spaceBeforeColon, .higherVersion, .repeatedLength, .bothLengths,
        .oldChunks, .identityCoding,
    ]

    /// A stable code and what was met, for each, for the record.
    package var notes: [(code: String, detail: String)] {
        let all: [(HeadLeniency, String, String)] = [
            (.bareLF, "lenient-bare-lf", "lines that end with LF alone"),
            (.obsoleteFold, "lenient-obs-fold", "a field that goes on on the next line"),
            (
                .spaceBeforeColon, "lenient-space-before-colon",
                "white space between a field's name and its colon"
            ),
            (.higherVersion, "lenient-version", "a version above HTTP/1.1"),
            (.repeatedLength, "lenient-repeated-length", "the same Content-Length more than once"),
            (
                .bothLengths, "lenient-both-lengths",
                "both Transfer-Encoding and Content-Length, which was left out"
            ),
            (.oldChunks, "lenient-old-chunks", "chunks in HTTP/1.0"),
            (
                .identityCoding, "lenient-identity-coding",
                "the Transfer-Encoding identity, which was left out"
            ),
        ]
        return all.compactMap { contains($0.0) ? ($0.1, $0.2) : nil }
    }
}
