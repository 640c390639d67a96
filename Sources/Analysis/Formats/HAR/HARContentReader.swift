internal import Base
internal import Contents
internal import HTTPModel
internal import Traffic

/// Finds a content in what a HAR has of it.
struct HARContentReader {
    /// The content as far as it is there.
    private(set) var bytes: [UInt8] = []
    /// Whether its codings were undone.
    private(set) var isDecoded = true
    /// How long it was, where that is known and not all of it is there.
    private(set) var fullSize: Int64?
    /// What was lost of it.
    private(set) var losses: [LossKind] = []

    /// - Parameters:
    ///   - side: `request` or `response`.
    ///   - native: what our own export keeps of it.
    ///   - mayHaveContent: whether a missing content is a loss.
    init(side: JSONNode, _ direction: Direction, native: JSONNode?, mayHaveContent: Bool) {
        var found = direction == .request ? request(side) : text(side["content"])
        if native == nil, !mayHaveContent, side["status"]?.integer ?? 0 > 0, found?.isEmpty == false
        {
            found = []
            losses.append(.cachedContentLeftOut)
        }
        if let wire = native?["content"]?.base64 {
            bytes = wire
            isDecoded = false
        } else {
            bytes = found ?? []
        }
        if let native {
            let isWithheld = native["withheld"]?.isTrue ?? false
            if isWithheld { losses.append(.contentMissing) }
            if isWithheld || native["truncated"]?.isTrue ?? false {
                fullSize = native["size"]?.count
            }
            return
        }
        let size = max(
            side["bodySize"]?.count ?? 0,
            found == nil ? side["content"]?["size"]?.count ?? 0 : 0)
        if found == nil, size > 0, mayHaveContent {
            fullSize = size
            if losses.isEmpty { losses.append(.contentMissing) }
        }
        if direction == .response, let found, Self.differs(found, side["content"]) {
            losses.append(.contentDiffers)
        }
    }

    /// Whether a content has not the size that is told; mitmproxy tells that of the coded one.
    private static func differs(_ found: [UInt8], _ content: JSONNode?) -> Bool {
        let size = content?["size"]?.count ?? 0
        let saved = content?["compression"]?.integer ?? 0
        guard size > 0, !found.isEmpty else { return false }
        return size != found.count && size &+ saved != found.count
    }

    private mutating func request(_ side: JSONNode) -> [UInt8]? {
        if let content = side["_content"], let bytes = text(content) { return bytes }
        guard let data = side["postData"] else { return nil }
        if let bytes = text(data), !bytes.isEmpty {
            return data["encoding"] == nil ? Self.undoingLatin1(bytes, side) : bytes
        }
        let parameters = data["params"]?.elements ?? []
        guard !parameters.isEmpty else { return text(data) }
        losses.append(.contentRebuilt)
        let told = max(side["bodySize"]?.integer ?? 0, Int64(Self.length(side) ?? 0))
        return Self.content(of: parameters, type: Self.type(data, side), byteCount: told)
    }

    /// `text` of `content` or `postData`, without its base64.
    private mutating func text(_ node: JSONNode?) -> [UInt8]? {
        switch node?["text"] {
        case .string(let text):
            guard let encoding = node?["encoding"]?.text, !encoding.isEmpty else { return text }
            if encoding.lowercased() == "base64",
                let bytes = Base64.decode(text.filter { $0 > 0x20 })
            {
                return bytes
            }
            losses.append(.encodingUnreadable)
            return text
        case .excess:
            losses.append(.contentTooLong)
            return nil
        default: return nil
        }
    }

    /// A binary content that Chrome wrote as text, each byte as the character of its number: the
    /// length in the head tells it from text.
    private static func undoingLatin1(_ text: [UInt8], _ side: JSONNode) -> [UInt8] {
        guard text.contains(where: { $0 >= 0x80 }), let length = length(side), length < text.count
        else { return text }
        let characters = text.text.unicodeScalars
        let bytes = characters.compactMap { UInt8(exactly: $0.value) }
        return bytes.count == length && characters.count == length ? bytes : text
    }

    private static func length(_ side: JSONNode) -> Int? {
        HAREntryReader.fields(side["headers"], isNative: false)
            .first { $0.name.equalsIgnoringCase("content-length") }.flatMap { Int($0.value.text) }
    }

    /// The content's type with its boundary, which some have in the head only.
    private static func type(_ data: JSONNode, _ side: JSONNode) -> [UInt8] {
        let fields = HAREntryReader.fields(side["headers"], isNative: false)
        return fields.first { $0.name.equalsIgnoringCase("content-type") }?.value
            ?? data["mimeType"]?.bytes ?? []
    }

    static func pairs(_ parameters: [JSONNode]) -> [(name: [UInt8], value: [UInt8])] {
        parameters.map {
            (Array(($0["name"]?.text ?? "").utf8), Array(($0["value"]?.text ?? "").utf8))
        }
    }

    private static func content(
        of parameters: [JSONNode], type: [UInt8], byteCount: Int64
    ) -> [UInt8] {
        let type = MediaType(type[...])
        guard type.isFormData else {
            return form(pairs(parameters), byteCount: byteCount)
        }
        let parts = parameters.map { node in
            MultipartText.Part(
                name: node["name"]?.bytes ?? [], fileName: node["fileName"]?.bytes,
                contentType: node["contentType"]?.bytes, content: node["value"]?.bytes ?? [])
        }
        return MultipartText.spell(
            parts, boundary: type.parameters["boundary"] ?? Array("boundary".utf8))
    }

    /// A form, in the spelling that has the size that is told: Charles takes the whole of a content
    /// that is no form for a name.
    private static func form(
        _ pairs: [(name: [UInt8], value: [UInt8])], byteCount: Int64
    ) -> [UInt8] {
        let encoded = URLText.form(pairs)
        guard byteCount > 0, encoded.count != byteCount else { return encoded }
        let plain = pairs.map { $0.value.isEmpty ? $0.name : $0.name + [0x3D] + $0.value }
            .joined(separator: [UInt8(ascii: "&")])
        let bare = pairs.map { $0.value.isEmpty ? $0.name : URLText.form([$0]) }
            .joined(separator: [UInt8(ascii: "&")])
        return [Array(plain), Array(bare)].first { $0.count == byteCount } ?? encoded
    }
}
