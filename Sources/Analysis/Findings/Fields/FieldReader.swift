internal import Base
internal import Contents
internal import HTTPModel

/// Takes the values out of one message, and undoes what encodings hide them, within bounds.
struct FieldReader {
    private(set) var fields: [MessageField] = []
    /// Whether a bound was met or a content was malformed, so that values may have been missed.
    private(set) var isTruncated = false
    private var bytesLeft: Int

    /// - Parameter byteLimit: how many bytes may be decoded in all.
    init(byteLimit: Int = FieldReader.defaultByteLimit) { bytesLeft = byteLimit }

    /// Reads a content by its declared type, or by its form if none is declared.
    mutating func read(body: [UInt8], contentType: [UInt8]) {
        read(body, MediaType(contentType[...]), in: Place())
    }

    /// Reads a message of a WebSocket: JSON, also behind the digits of Socket.IO, a form, or what
    /// is binary beyond doubt.
    mutating func read(message: [UInt8]) {
        let start = message.prefix(8).firstIndex { !$0.isASCIIDigit } ?? 0
        let rest = message[start...]
        let place = Place(container: .message)
        if JSONTokenizer.mayBegin(rest) {
            readJSON(Array(rest), in: place)
        } else if Self.looksLikeForm(message) {
            readForm(message, in: place)
        } else if let proof = StructuredContent.proven(message) {
            add(proof.values, proof.form, in: place)
        }
    }

    /// Where a content stands: in a body, unless a container holds it.
    private struct Place {
        var container: Container?
        var name: [UInt8] = []
        var isInFile = false
        var depth = 0
    }

    private mutating func read(_ body: [UInt8], _ type: MediaType, in place: Place) {
        if type.isMultipart {
            guard place.depth < Self.multipartDepth else {
                isTruncated = true
                return
            }
            let parts =
                MultipartReader.parts(
                    of: body, boundary: type.boundary, limit: Self.partLimit + 1) ?? []
            // Without the boundary that was announced, none of it is read.
            if parts.count > Self.partLimit || parts.isEmpty && !body.isEmpty {
                isTruncated = true
            }
            for part in parts.prefix(Self.partLimit) { read(part, depth: place.depth + 1) }
        } else if type.isGRPC {
            add(ProtobufReader.read(calls: body), .protobuf, in: place)
        } else if type.isEventStream {
            readEvents(body)
        } else if let form = StructuredContent(type), !body.isEmpty {
            add(form.read(body), form, in: place)
        } else if type.isGraphQL {
            let field = MessageField(
                container: place.container ?? .body, name: Array("query".utf8),
                value: Array(body.prefix(MessageField.valueLimit)))
            if append(field) { expandQuery(body, of: field, depth: 0) }
        } else if type.isJSON || JSONTokenizer.mayBegin(body[...]) {
            // `curl --data` calls everything a form, and browsers send beacons as plain text.
            let isWhole = readJSON(body, in: place)
            if type.isJSON, !isWhole, !body.isEmpty { isTruncated = true }
        } else if type.isForm
            || (type.isPlain || type.isOctetStream) && Self.looksLikeForm(body)
        {
            readForm(body, in: place)
        } else if type.isXML {
            readXML(body, in: place)
        } else if type.isPlain || type.isOctetStream,
            let proof = StructuredContent.proven(body)
        {
            add(proof.values, proof.form, in: place)
        }
    }

    /// Adds a field, and what its value holds inside of encodings.
    mutating func add(_ field: MessageField) {
        guard append(field) else { return }
        expand(field, depth: 0)
    }

    private mutating func read(_ part: MultipartPart, depth: Int) {
        let name = Array((part.name ?? []).prefix(Self.nameLimit))
        let type = MediaType(part.type)
        if part.isFile || type.isMultipart {
            guard !type.isMedia else { return }
            let place = Place(
                container: .multipart, name: name, isInFile: part.isFile, depth: depth)
            return read(Array(part.content), type, in: place)
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

    private mutating func readForm(_ body: [UInt8], in place: Place) {
        for parameter in counted(Parameter.read(body[...], limit: Self.parameterLimit + 1)) {
            add(
                MessageField(
                    container: place.container ?? .form,
                    name: Array(parameter.name.prefix(Self.nameLimit)),
                    value: Self.decoded(parameter), isInFile: place.isInFile))
        }
    }

    /// Adds the parameters of a URL; their own encoding is not a step worth telling.
    mutating func add(_ parameters: [Parameter], container: Container) {
        for parameter in counted(parameters) {
            add(
                MessageField(
                    container: container, name: Array(parameter.name.prefix(Self.nameLimit)),
                    value: Self.decoded(parameter)))
        }
    }

    /// As many as are looked at.
    private mutating func counted(_ parameters: [Parameter]) -> ArraySlice<Parameter> {
        if parameters.count > Self.parameterLimit { isTruncated = true }
        return parameters.prefix(Self.parameterLimit)
    }

    static func decoded(_ parameter: Parameter) -> [UInt8] {
        PercentCoding.decoded(
            parameter.value.prefix(MessageField.valueLimit), plusIsSpace: true)
    }

    @discardableResult
    private mutating func readJSON(_ body: [UInt8], in place: Place) -> Bool {
        JSONScalars.read(body) { path, token, value in
            add(
                MessageField(
                    container: place.container ?? .json, name: place.name, pointer: path,
                    value: value, isScalar: !token.isWord, isInFile: place.isInFile))
            return !isTruncated
        }
    }

    private mutating func readXML(_ body: [UInt8], in place: Place) {
        let container = place.container ?? .xml
        if Array(body.prefix(512)).contains(run: Self.listMark) {
            return add(PropertyListReader.read(body), .propertyList, in: place)
        }
        MarkupTags.read(body, isHTML: false) { tag in
            if tag.isCut { isTruncated = true }
            for attribute in tag.attributes {
                add(
                    MessageField(
                        container: container, name: attribute.name, value: attribute.value,
                        isInFile: place.isInFile))
            }
            if !tag.text.isEmpty {
                add(
                    MessageField(
                        container: container, name: tag.name, value: tag.text,
                        isInFile: place.isInFile))
            }
            return !isTruncated
        }
    }

    /// The data of a text/event-stream, event by event (WHATWG HTML §9.2.6).
    private mutating func readEvents(_ body: [UInt8]) {
        var data: [UInt8] = []
        var rest = body[...]
        while !rest.isEmpty {
            let line = rest.prefix { $0 != 0x0A }
            rest = rest[line.endIndex...].dropFirst()
            let text = line.last == 0x0D ? line.dropLast() : line
            if text.starts(with: "data:".utf8) {
                let value = text.dropFirst(text.dropFirst(5).first == 0x20 ? 6 : 5)
                data += value.prefix(Self.eventLimit - data.count)
            } else if text.isEmpty, !data.isEmpty {
                if JSONTokenizer.mayBegin(data[...]) {
                    readJSON(data, in: Place(container: .event))
                }
                data = []
                if isTruncated { return }
            }
        }
    }

    /// Adds the values of a structured content; of those that are no text, what they hold.
    private mutating func add(
        _ found: ContentValues, _ form: StructuredContent, in place: Place
    ) {
        let steps = place.container == nil ? [] : [DecodeStep(form)]
        for value in found.values where !isTruncated {
            let field = MessageField(
                container: place.container ?? Container(form), name: place.name,
                pointer: value.path, steps: steps, value: value.bytes,
                isScalar: value.kind != .word, isInFile: place.isInFile)
            switch value.kind {
            case .text, .number, .word: add(field)
            case .bytes: expandBytes(field, depth: 0)
            case .fixed: break
            }
        }
        if !found.isWhole { isTruncated = true }
    }

    mutating func append(_ field: MessageField) -> Bool {
        guard fields.count < Self.fieldLimit, spend(field.value.count) else {
            isTruncated = true
            return false
        }
        fields.append(field)
        return true
    }

    /// - Returns: whether so many bytes more may be decoded.
    mutating func spend(_ count: Int) -> Bool {
        guard bytesLeft >= count else {
            isTruncated = true
            return false
        }
        bytesLeft -= count
        return true
    }

    /// How many bytes of values one message may yield.
    static let defaultByteLimit = 4 << 20
    static let fieldLimit = 4096
    private static let parameterLimit = 1024
    private static let partLimit = 1024
    private static let multipartDepth = 3
    private static let nameLimit = 256
    private static let eventLimit = 1 << 16
    private static let listMark = Array("<plist".utf8)
}

// What a structured content is called is the same wherever it is named.
extension Container {
    init(_ form: StructuredContent) { self = Container(rawValue: form.rawValue) ?? .body }
}

extension DecodeStep {
    init(_ form: StructuredContent) { self = DecodeStep(rawValue: form.rawValue) ?? .form }
}
