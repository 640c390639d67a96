internal import Base
package import HTTPModel

/// What a `Content-Type` says of a content (RFC 9110 §8.3.1), malformed ones too, as far as they go.
///
/// Decides without allocating, because every recorded message asks.
package struct MediaType {
    private let field: ArraySlice<UInt8>
    /// Type and subtype, in the case that they came in, counted from the field's start.
    private let name: Range<Int>

    /// - Parameter field: the value of the field, `nil` if there is none.
    package init(_ field: ArraySlice<UInt8>?) {
        let field = field ?? []
        let bytes = field.span
        let end = bytes.firstIndex(of: UInt8(ascii: ";"), in: bytes.indices)
        name = bytes.trimmed(0..<(end ?? bytes.count))
        self.field = field
    }

    /// The parameters with the name in lower case.
    package var parameters: ParameterizedValue { ParameterizedValue(field) }
    package var boundary: [UInt8] { parameters["boundary"] ?? [] }

    package var isForm: Bool { isNamed("application/x-www-form-urlencoded") }
    package var isMultipart: Bool { starts(with: "multipart/") }
    package var isFormData: Bool { isNamed("multipart/form-data") }
    /// `+json`, `x-ndjson`, `x-amz-json-1.1`: the names differ, the grammar does not.
    package var isJSON: Bool {
        holds("json") || isNamed("application/graphql-response")
    }
    package var isXML: Bool {
        isNamed("application/xml") || isNamed("text/xml")
            || ends(with: "+xml")
    }
    package var isHTML: Bool { isNamed("text/html") || holds("xhtml") }
    package var isScript: Bool { ends(with: "javascript") || ends(with: "ecmascript") }
    package var isText: Bool { starts(with: "text/") }
    package var isEventStream: Bool { isNamed("text/event-stream") }
    /// gRPC in any of its spellings, that for the web among them.
    package var isGRPC: Bool { starts(with: "application/grpc") }
    package var isProtobuf: Bool { ends(with: "protobuf") }
    package var isMessagePack: Bool { holds("msgpack") || holds("messagepack") }
    package var isCBOR: Bool { ends(with: "cbor") || ends(with: "cbor-seq") }
    /// A message of DNS over HTTPS (RFC 8484 §6).
    package var isDNS: Bool { isNamed("application/dns-message") }
    package var isPropertyList: Bool { ends(with: "plist") }
    /// What compresses well, and is compressed by whoever sends it.
    package var isCompressible: Bool {
        (isText || isJSON || isXML || isScript) && !isEventStream
    }
    /// What pages and programs are made of, the same for all who ask for it.
    package var isAsset: Bool {
        isMedia || isScript || isNamed("text/css")
            || isNamed("image/svg+xml")
    }
    /// Pictures, sound, films and fonts, in which no values are looked for.
    package var isMedia: Bool {
        starts(with: "image/") && !isXML || starts(with: "audio/") && !isPlaylist
            || starts(with: "video/") || starts(with: "font/")
    }
    /// A playlist of HTTP Live Streaming (RFC 8216 §4), by any of the names in use.
    package var isPlaylist: Bool { ends(with: "mpegurl") }
    package var isGraphQL: Bool { isNamed("application/graphql") }
    /// Whether it says no more than that there is text, or nothing.
    package var isPlain: Bool { name.isEmpty || isNamed("text/plain") }
    package var isOctetStream: Bool { isNamed("application/octet-stream") }

    private func isNamed(_ lowercased: StaticString) -> Bool { holds(lowercased, in: name) }

    private func starts(with lowercased: StaticString) -> Bool {
        holds(lowercased, in: name.prefix(lowercased.utf8CodeUnitCount))
    }

    private func ends(with lowercased: StaticString) -> Bool {
        holds(lowercased, in: name.suffix(lowercased.utf8CodeUnitCount))
    }

    private func holds(_ lowercased: StaticString) -> Bool {
        let count = lowercased.utf8CodeUnitCount
        guard name.count >= count else { return false }
        return (name.lowerBound...name.upperBound - count).contains {
            holds(lowercased, in: $0..<$0 + count)
        }
    }

    private func holds(_ lowercased: StaticString, in range: Range<Int>) -> Bool {
        equals(field.span.extracting(range), ignoringCase: lowercased)
    }
}
