internal import Base

/// The structured contents that are no text.
package enum StructuredContent: String, Sendable, CaseIterable {
    case propertyList = "plist"
    case messagePack = "msgpack"
    case cbor
    case protobuf
    case dns

    package init?(_ type: MediaType) {
        if type.isProtobuf {
            self = .protobuf
        } else if type.isMessagePack {
            self = .messagePack
        } else if type.isCBOR {
            self = .cbor
        } else if type.isPropertyList {
            self = .propertyList
        } else if type.isDNS {
            self = .dns
        } else {
            return nil
        }
    }

    package func read(_ bytes: [UInt8]) -> ContentValues {
        switch self {
        case .propertyList: PropertyListReader.read(bytes)
        case .messagePack: MessagePackReader.read(bytes[...])
        case .cbor: CBORReader.read(bytes[...])
        case .protobuf: ProtobufReader.read(bytes[...])
        case .dns: DNSNames.read(bytes)
        }
    }

    /// What bytes of no declared type are beyond doubt, with their values; `nil` for others.
    ///
    /// Each form has to go to the last byte, and to name or hold letters enough that no random bytes
    /// do so by chance.
    package static func proven(
        _ bytes: [UInt8]
    ) -> (form: StructuredContent, values: ContentValues)? {
        guard bytes.count >= 12, let first = bytes.first else { return nil }
        if PropertyListReader.isBinary(bytes[...]) {
            return (.propertyList, PropertyListReader.read(bytes))
        }
        switch first {
        case 0x80...0x9F, 0xDC...0xDF:
            let found = MessagePackReader.read(bytes[...])
            if found.isProof { return (.messagePack, found) }
        case 0xA1...0xBF, 0xD9:
            let found = CBORReader.read(bytes[...])
            if found.isProof { return (.cbor, found) }
        default: break
        }
        return ProtobufReader.proven(bytes[...]).map { (.protobuf, $0) }
    }
}

extension ContentValues {
    fileprivate var isProof: Bool {
        let names = values.compactMap(\.path.first).filter { $0 != Self.element }
        guard isWhole, names.allSatisfy({ !$0.isEmpty && $0.allSatisfy { 0x20..<0x7F ~= $0 } })
        else { return false }
        return letterCount + names.map { $0.count(where: \.isASCIILetter) }.reduce(0, +) >= 8
    }

    /// How many letters the texts have.
    var letterCount: Int {
        values.filter { $0.kind == .text }.map { $0.bytes.count(where: \.isASCIILetter) }
            .reduce(0, +)
    }
}
