internal import Base
internal import Contents
internal import HTTPCodecs

extension FieldReader {
    /// Undoes one encoding after the other, down to a depth of four.
    mutating func expand(_ field: MessageField, depth: Int) {
        let value = field.value
        guard depth < Self.depthLimit, value.count >= 4 else { return }
        if TokenForm.isJWT(value) { return expandJWT(field, depth: depth) }
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
        if field.key == Self.queryName, GraphQLReader.isDocument(value[...]) {
            return expandQuery(value, of: field, depth: depth)
        }
        if value.count.isMultiple(of: 2), value.allSatisfy({ $0.hexDigitValue != nil }) {
            guard let plain = bytes(fromHex: value.text) else { return }
            expand(plain, of: field, step: .hex, depth: depth)
        } else if let plain = Base64.decode(value) {
            expand(plain, of: field, step: .base64, depth: depth)
        }
    }

    /// Looks into what an encoding of bytes held, if it is text or something that is known.
    private mutating func expand(
        _ plain: [UInt8], of field: MessageField, step: DecodeStep, depth: Int
    ) {
        if plain.isPrintableText {
            derive(plain, from: field, step: step, depth: depth)
        } else if Packing(plain) != nil || PropertyListReader.isBinary(plain[...]) {
            expandBytes(field.derived(plain, step), depth: depth + 1)
        } else if field.key == Self.dnsName {
            let names = StructuredContent.dns.read(plain)
            if names.isWhole {
                expandValues(names, of: field.derived(plain, step), step: .dns, depth: depth)
            }
        }
    }

    /// Looks into bytes that are packed or a binary property list.
    mutating func expandBytes(_ field: MessageField, depth: Int) {
        guard depth < Self.depthLimit else { return }
        if let packing = Packing(field.value) {
            let plain = DecodedContent(
                field.value, [packing.coding], byteLimit: Self.packedLimit)
            guard plain.state != .undecodable, spend(plain.bytes.count) else { return }
            if JSONTokenizer.mayBegin(plain.bytes[...]) {
                expandJSON(plain.bytes, of: field, step: .inflate, depth: depth)
            } else if plain.bytes.isPrintableText {
                let start = Array(plain.bytes.prefix(MessageField.valueLimit))
                derive(start, from: field, step: .inflate, depth: depth)
            } else {
                expandBytes(field.derived(plain.bytes, .inflate), depth: depth + 1)
            }
        } else if PropertyListReader.isBinary(field.value[...]) {
            expandValues(
                PropertyListReader.read(field.value), of: field, step: .propertyList, depth: depth)
        }
    }

    /// The literals of a document of GraphQL.
    mutating func expandQuery(_ text: [UInt8], of field: MessageField, depth: Int) {
        expandValues(GraphQLReader.read(text[...]), of: field, step: .graphQL, depth: depth)
    }

    private mutating func expandValues(
        _ found: ContentValues, of field: MessageField, step: DecodeStep, depth: Int
    ) {
        for value in found.values where value.kind == .text || value.kind == .number {
            let derived = field.derived(value.bytes, step, below: value.path)
            guard append(derived) else { return }
            expand(derived, depth: depth + 1)
        }
    }

    private mutating func derive(
        _ value: [UInt8], from field: MessageField, step: DecodeStep, depth: Int
    ) {
        let derived = field.derived(value, step)
        if append(derived) { expand(derived, depth: depth + 1) }
    }

    private mutating func expandJSON(
        _ text: [UInt8], of field: MessageField, step: DecodeStep, depth: Int
    ) {
        JSONScalars.read(text) { path, token, value in
            var derived = field.derived(value, step, below: path)
            derived.isScalar = !token.isWord
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
            let derived = field.derived(Self.decoded(parameter), .form, below: [parameter.name])
            if append(derived) { expand(derived, depth: depth + 1) }
        }
    }

    private static let depthLimit = 4
    /// In bytes: shorter runs are Base64 or hexadecimal by accident.
    private static let shortestEncoded = 16
    /// What one packed value may become, in bytes.
    private static let packedLimit = 1 << 18
    /// A parameter of DNS over HTTPS (RFC 8484 §4.1).
    private static let dnsName = Array("dns".utf8)
    private static let queryName = Array("query".utf8)
}

extension MessageField {
    /// What one more step showed of it.
    fileprivate func derived(
        _ value: [UInt8], _ step: DecodeStep, below path: [[UInt8]] = []
    ) -> MessageField {
        MessageField(
            container: container, name: name,
            pointer: Array((pointer + path).suffix(JSONScalars.depthLimit)), steps: steps + [step],
            value: value, isInFile: isInFile)
    }
}

/// What packed bytes begin with.
private enum Packing {
    case gzip, zlib

    init?(_ bytes: [UInt8]) {
        if bytes.starts(with: [0x1F, 0x8B, 8]) {
            self = .gzip
        } else if bytes.count >= 8, bytes[0] == 0x78, [0x01, 0x5E, 0x9C, 0xDA].contains(bytes[1]) {
            self = .zlib
        } else {
            return nil
        }
    }

    var coding: ContentCoding { self == .gzip ? .gzip : .deflate }
}
