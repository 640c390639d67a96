internal import Base
internal import Contents

/// Takes the values out of one message, and undoes what encodings hide them, within bounds.
struct FieldReader {
    private(set) var fields: [MessageField] = []
    /// Whether a bound was met, so that values may have been missed.
    private(set) var isTruncated = false
    private var bytesLeft: Int

    /// - Parameter byteLimit: how many bytes may be decoded in all.
    init(byteLimit: Int = FieldReader.defaultByteLimit) { bytesLeft = byteLimit }

    /// Reads a content by its declared type, or by its form if none is declared.
    mutating func read(body: [UInt8], contentType: [UInt8]) {
        let type = MediaType(contentType[...])
        if type.isMultipart {
            let parts = MultipartReader.parts(
                of: body, boundary: type.boundary, limit: Self.partLimit)
            for part in parts ?? [] { read(part) }
        } else if type.isJSON || JSONTokenizer.mayBegin(body[...]) {
            // `curl --data` calls everything a form, and browsers send beacons as plain text.
            readJSON(body, container: .json)
        } else if type.isForm
            || (type.isPlain || type.isOctetStream) && Self.looksLikeForm(body)
        {
            readForm(body, as: .form)
        } else if type.isXML {
            readXML(body)
        }
    }

    /// Reads a message of a WebSocket: JSON, also behind the digits of Socket.IO, or a form.
    mutating func read(message: [UInt8]) {
        let start = message.prefix(8).firstIndex { !$0.isASCIIDigit } ?? 0
        let rest = message[start...]
        if JSONTokenizer.mayBegin(rest) {
            readJSON(Array(rest), container: .message)
        } else if Self.looksLikeForm(message) {
            readForm(message, as: .message)
        }
    }

    /// Adds a field, and what its value holds inside of encodings.
    mutating func add(_ field: MessageField) {
        guard append(field) else { return }
        expand(field, depth: 0)
    }

    private mutating func read(_ part: MultipartPart) {
        let name = Array((part.name ?? []).prefix(Self.nameLimit))
        if part.isFile {
            guard MediaType(part.type).isJSON else { return }
            readJSON(Array(part.content), container: .multipart, name: name, isInFile: true)
            return
        }
        add(
            MessageField(
                container: .multipart, name: name,
                value: Array(part.content.prefix(MessageField.valueLimit))))
    }

    private static func looksLikeForm(_ body: [UInt8]) -> Bool {
        guard let equals = body.prefix(64).firstIndex(of: 0x3D), equals > 0 else { return false }
        return body.prefix(4096).allSatisfy { $0 > 0x20 && $0 < 0x7F }
    }

    private mutating func readForm(_ body: [UInt8], as container: Container) {
        for parameter in Parameter.read(body[...], limit: Self.parameterLimit) {
            add(parameter, container: container)
        }
    }

    /// Adds a parameter of a form or a query; its own encoding is not a step worth telling.
    mutating func add(_ parameter: Parameter, container: Container) {
        add(
            MessageField(
                container: container, name: Array(parameter.name.prefix(Self.nameLimit)),
                value: Self.decoded(parameter)))
    }

    private static func decoded(_ parameter: Parameter) -> [UInt8] {
        PercentCoding.decoded(
            parameter.value.prefix(MessageField.valueLimit), plusIsSpace: true)
    }

    private mutating func readJSON(
        _ body: [UInt8], container: Container, name: [UInt8] = [], isInFile: Bool = false
    ) {
        JSONScalars.read(body) { path, token, value in
            add(
                MessageField(
                    container: container, name: name, pointer: path, value: value,
                    isScalar: !token.isWord, isInFile: isInFile))
            return !isTruncated
        }
    }

    private mutating func readXML(_ body: [UInt8]) {
        MarkupTags.read(body, isHTML: false) { tag in
            for attribute in tag.attributes {
                add(MessageField(container: .xml, name: attribute.name, value: attribute.value))
            }
            if !tag.text.isEmpty {
                add(MessageField(container: .xml, name: tag.name, value: tag.text))
            }
            return !isTruncated
        }
    }

    private mutating func append(_ field: MessageField) -> Bool {
        guard fields.count < Self.fieldLimit, bytesLeft >= field.value.count else {
            isTruncated = true
            return false
        }
        bytesLeft -= field.value.count
        fields.append(field)
        return true
    }

    /// Undoes one encoding after the other, down to a depth of four.
    private mutating func expand(_ field: MessageField, depth: Int) {
        let value = field.value
        guard depth < Self.depthLimit, value.count >= 4 else { return }
        if ValueKind.isJWT(value) { return expandJWT(field, depth: depth) }
        if JSONTokenizer.mayBegin(value[...]) {
            expandJSON(value, of: field, step: .json, depth: depth)
        }
        if value.contains(0x25) {
            let plain = PercentCoding.decoded(value[...])
            if plain != value { derive(plain, from: field, step: .percent, depth: depth) }
        }
        if depth > 0, value.contains(0x26), value.contains(0x3D), !value.contains(0x20) {
            expandForm(field, depth: depth)
        }
        guard value.count >= Self.shortestEncoded else { return }
        if value.count.isMultiple(of: 2), value.allSatisfy({ $0.hexDigitValue != nil }) {
            if let plain = bytes(fromHex: value.text), plain.isPrintableText {
                derive(plain, from: field, step: .hex, depth: depth)
            }
        } else if let plain = Base64.decode(value), plain.isPrintableText {
            derive(plain, from: field, step: .base64, depth: depth)
        }
    }

    private mutating func derive(
        _ value: [UInt8], from field: MessageField, step: DecodeStep, depth: Int
    ) {
        let derived = MessageField(
            container: field.container, name: field.name, pointer: field.pointer,
            steps: field.steps + [step], value: value, isInFile: field.isInFile)
        if append(derived) { expand(derived, depth: depth + 1) }
    }

    private mutating func expandJSON(
        _ text: [UInt8], of field: MessageField, step: DecodeStep, depth: Int
    ) {
        JSONScalars.read(text) { path, token, value in
            let pointer = (field.pointer + path).suffix(JSONScalars.depthLimit)
            let derived = MessageField(
                container: field.container, name: field.name, pointer: Array(pointer),
                steps: field.steps + [step], value: value, isScalar: !token.isWord,
                isInFile: field.isInFile)
            if append(derived) { expand(derived, depth: depth + 1) }
            return !isTruncated
        }
    }

    private mutating func expandJWT(_ field: MessageField, depth: Int) {
        for part in field.value.split(separator: 0x2E).prefix(2) {
            guard let text = Base64.decode(part) else { continue }
            expandJSON(text, of: field, step: .jwt, depth: depth)
        }
    }

    private mutating func expandForm(_ field: MessageField, depth: Int) {
        for parameter in Parameter.read(field.value[...], limit: 64) {
            let derived = MessageField(
                container: field.container, name: field.name,
                pointer: field.pointer + [parameter.name], steps: field.steps + [.form],
                value: Self.decoded(parameter), isInFile: field.isInFile)
            if append(derived) { expand(derived, depth: depth + 1) }
        }
    }

    /// How many bytes of values one message may yield.
    static let defaultByteLimit = 4 << 20
    static let fieldLimit = 4096
    static let parameterLimit = 1024
    private static let partLimit = 1024
    private static let nameLimit = 256
    private static let depthLimit = 4
    /// In bytes: shorter runs are Base64 or hexadecimal by accident.
    private static let shortestEncoded = 16
}
