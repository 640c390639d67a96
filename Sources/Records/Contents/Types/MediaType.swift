package import HTTPModel

/// What a `Content-Type` says of a content (RFC 9110 §8.3.1), malformed ones too, as far as they go.
///
/// Decides without allocating, because every recorded message asks.
package struct MediaType {
    private let field: ArraySlice<UInt8>
    /// Type and subtype, in the case that they came in.
    private let name: ArraySlice<UInt8>

    /// - Parameter field: the value of the field, `nil` if there is none.
    package init(_ field: ArraySlice<UInt8>?) {
        self.field = field ?? []
        name = self.field.prefix { $0 != UInt8(ascii: ";") }.trimmingWhitespace
    }

    /// The parameters with the name in lower case.
    package var parameters: ParameterizedValue { ParameterizedValue(field) }
    package var boundary: [UInt8] { parameters["boundary"] ?? [] }

    package var isForm: Bool { name.equalsIgnoringCase("application/x-www-form-urlencoded") }
    package var isMultipart: Bool { starts(with: "multipart/") }
    package var isFormData: Bool { name.equalsIgnoringCase("multipart/form-data") }
    /// `+json`, `x-ndjson`, `x-amz-json-1.1`: the names differ, the grammar does not.
    package var isJSON: Bool {
        holds("json") || name.equalsIgnoringCase("application/graphql-response")
    }
    package var isXML: Bool {
        name.equalsIgnoringCase("application/xml") || name.equalsIgnoringCase("text/xml")
            || ends(with: "+xml")
    }
    package var isHTML: Bool { name.equalsIgnoringCase("text/html") || holds("xhtml") }
    package var isScript: Bool { ends(with: "javascript") || ends(with: "ecmascript") }
    package var isText: Bool { starts(with: "text/") }
    package var isEventStream: Bool { name.equalsIgnoringCase("text/event-stream") }
    /// gRPC in any of its spellings, that for the web among them.
    package var isGRPC: Bool { starts(with: "application/grpc") }
    package var isProtobuf: Bool { ends(with: "protobuf") }
    package var isMessagePack: Bool { holds("msgpack") || holds("messagepack") }
    package var isCBOR: Bool { ends(with: "cbor") || ends(with: "cbor-seq") }
    /// A message of DNS over HTTPS (RFC 8484 §6).
    package var isDNS: Bool { name.equalsIgnoringCase("application/dns-message") }
    package var isPropertyList: Bool { ends(with: "plist") }
    /// What compresses well, and is compressed by whoever sends it.
    package var isCompressible: Bool {
        (isText || isJSON || isXML || isScript) && !isEventStream
    }
    /// What pages and programs are made of, the same for all who ask for it.
    package var isAsset: Bool {
        isMedia || isScript || name.equalsIgnoringCase("text/css")
            || name.equalsIgnoringCase("image/svg+xml")
    }
    /// Pictures, sound, films and fonts, in which no values are looked for.
    package var isMedia: Bool {
        starts(with: "image/") && !isXML || starts(with: "audio/") && !isPlaylist
            || starts(with: "video/") || starts(with: "font/")
    }
    /// A playlist of HTTP Live Streaming (RFC 8216 §4), by any of the names in use.
    package var isPlaylist: Bool { ends(with: "mpegurl") }
    package var isGraphQL: Bool { name.equalsIgnoringCase("application/graphql") }
    /// Whether it says no more than that there is text, or nothing.
    package var isPlain: Bool { name.isEmpty || name.equalsIgnoringCase("text/plain") }
    package var isOctetStream: Bool { name.equalsIgnoringCase("application/octet-stream") }

    private func starts(with lowercased: StaticString) -> Bool {
        name.prefix(lowercased.utf8CodeUnitCount).equalsIgnoringCase(lowercased)
    }

    private func ends(with lowercased: StaticString) -> Bool {
        name.suffix(lowercased.utf8CodeUnitCount).equalsIgnoringCase(lowercased)
    }

    private func holds(_ lowercased: StaticString) -> Bool {
        let count = lowercased.utf8CodeUnitCount
        guard name.count >= count else { return false }
        return (name.startIndex...name.endIndex - count).contains {
            name[$0..<$0 + count].equalsIgnoringCase(lowercased)
        }
    }
}
