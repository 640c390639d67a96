internal import Base
internal import Contents
internal import HTTPCodecs
package import HTTPModel

/// What a content is taken for when it is compared.
package enum BodyKind: String, Sendable {
    case none
    case json
    case graphQL = "graphql"
    case form
    case multipart
    case protobuf
    case grpc
    case text
    case bytes
    /// Known by its size and SHA-256 alone.
    case digest
}

/// A piece of a content that is compared by itself.
package struct BodyField: Sendable, Hashable, Comparable {
    /// Where it stands: `$.items[0].id` in JSON, a name in a form, `3.1` in protobuf; empty for a
    /// content that has no pieces.
    package let path: String
    package let value: String

    package init(_ path: String, _ value: String) {
        self.path = path
        self.value = value
    }

    package static func < (left: BodyField, right: BodyField) -> Bool {
        left.path == right.path ? left.value < right.value : left.path < right.path
    }
}

/// A content taken apart, so that what means the same is the same: JSON without its white space,
/// a multipart content without its boundary.
package struct BodyForm: Sendable, Equatable {
    package let kind: BodyKind
    /// By rising path.
    package let fields: [BodyField]

    package init(_ kind: BodyKind, _ fields: [BodyField]) {
        self.kind = kind
        self.fields = fields.sorted()
    }

    package static let none = BodyForm(.none, [])

    /// Takes a whole content apart.
    ///
    /// - Parameters:
    ///   - fields: of the message, for its type and coding.
    ///   - messageLimit: how many messages of gRPC count; `nil` for all.
    package init(_ content: [UInt8], of fields: Fields, messageLimit: Int? = nil) {
        self.init(
            Self.decoded(content, fields), type: fields.first(.contentType) ?? [],
            messageLimit: messageLimit)
    }

    /// A content that is too long to be taken apart.
    package init(size: Int64, sha256: [UInt8]) {
        self.init(.digest, [BodyField("size", String(size)), BodyField("sha256", sha256.hex)])
    }

    /// Takes a content without coding apart.
    package init(_ content: [UInt8], type: ArraySlice<UInt8>, messageLimit: Int? = nil) {
        guard !content.isEmpty else {
            self = .none
            return
        }
        self = Self.structured(content, MediaType(type), messageLimit) ?? .plain(content)
    }

    private static func structured(
        _ content: [UInt8], _ media: MediaType, _ messageLimit: Int?
    ) -> BodyForm? {
        if media.isGRPC {
            return grpc(content, messageLimit: messageLimit)
        }
        if media.isGraphQL {
            return BodyForm(.graphQL, [BodyField("query", GraphQLText.normalized(content.text))])
        }
        if media.isForm {
            return BodyForm(.form, BodyField.parameters(content[...]))
        }
        if media.isMultipart {
            return MultipartReader.parts(of: content, boundary: media.boundary, limit: partLimit)
                .map { parts in
                    BodyForm(
                        .multipart,
                        parts.enumerated().flatMap { $0.element.bodyFields(number: $0.offset) })
                }
        }
        if media.isProtobuf {
            return protobuf(content[...]).map { BodyForm(.protobuf, $0) }
        }
        let mayBeJSON = media.isJSON || media.isPlain || media.isOctetStream
        guard mayBeJSON, let document = JSONDocument(content) else { return nil }
        return json(document)
    }

    /// `nil` if its paths are too long to be held.
    private static func json(_ document: JSONDocument) -> BodyForm? {
        var fields: [BodyField] = []
        var room = JSONDocument.pathLimit
        guard let query = graphQL(in: document) else {
            let isWhole = document.leaves(room: &room) {
                fields.append(BodyField($0, document.shown($1)))
            }
            return isWhole ? BodyForm(.json, fields) : nil
        }
        fields.append(BodyField("query", GraphQLText.normalized(query)))
        for member in document.members(of: JSONDocument.root) {
            let name = document.key(of: member.name).text
            guard name != "query" else { continue }
            let isWhole = document.leaves(of: member.value, at: name, room: &room) {
                fields.append(BodyField($0, document.shown($1)))
            }
            guard isWhole else { return nil }
        }
        return BodyForm(.graphQL, fields)
    }

    private static func graphQL(in document: JSONDocument) -> String? {
        guard let place = document.member("query", of: JSONDocument.root),
            document[place].kind == .string
        else { return nil }
        let query = document.key(of: place).text
        return GraphQLReader.isDocument(Array(query.utf8)[...]) ? query : nil
    }

    /// The fields of a message by their numbers, such as `3.1`; `nil` for what is none.
    private static func protobuf(_ bytes: ArraySlice<UInt8>) -> [BodyField]? {
        let found = ProtobufReader.readAll(bytes)
        guard found.isWhole else { return nil }
        return found.values.map { value in
            let text =
                switch value.kind {
                case .text: JSONText.string(value.bytes.text).line.text
                case .number, .word: value.bytes.text
                case .bytes: value.bytes.hex
                case .fixed: "0x" + value.bytes.hex
                }
            return BodyField(value.path.map(\.text).joined(separator: "."), text)
        }
    }

    /// `nil` for what is no sequence of whole messages, up to the limit.
    private static func grpc(_ content: [UInt8], messageLimit: Int?) -> BodyForm? {
        var fields: [BodyField] = []
        var count = 0
        var reader = LengthPrefixedReader()
        reader.read(content.span) { message in
            guard messageLimit.map({ count < $0 }) ?? true else { return }
            let start = Int(message.offset) + 5
            let bytes = content[start..<start + Int(message.size)]
            let place = "[\(count)]"
            count += 1
            let pieces = message.isCompressed ? nil : protobuf(bytes)
            guard let pieces, !pieces.isEmpty else {
                return fields.append(BodyField(place, bytes.hex))
            }
            fields += pieces.map { BodyField("\(place).\($0.path)", $0.value) }
        }
        let isCut = count > 0 && messageLimit.map { count >= $0 } ?? false
        let isWhole = reader.violationOffset == nil && reader.unfinished == nil
        return isCut || isWhole ? BodyForm(.grpc, fields) : nil
    }

    private static func plain(_ content: [UInt8]) -> BodyForm {
        let isText = content.allSatisfy { $0 >= 0x20 || [0x09, 0x0A, 0x0D].contains($0) }
        return isText
            ? BodyForm(.text, [BodyField("", content.text)])
            : BodyForm(.bytes, [BodyField("", content.hex)])
    }

    /// The content without its codings; as it is if they are not known or it is not sound.
    package static func decoded(_ content: [UInt8], _ fields: Fields) -> [UInt8] {
        let decoded = DecodedContent(
            content, ContentCoding.codings(of: fields), byteLimit: decodedLimit)
        return decoded.state == .whole ? decoded.bytes : content
    }

    private static let partLimit = 1000
    /// In bytes: what a small content may unpack to.
    private static let decodedLimit = 8 << 20
}
