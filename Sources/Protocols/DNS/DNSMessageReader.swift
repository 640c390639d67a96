/// Reads a message of a name server's protocol (RFC 1035 §4, RFC 6891, RFC 9460).
///
/// After a violation `message` holds what came before it.
package struct DNSMessageReader {
    /// Questions and records of one message; a response with more helps nobody.
    package static let recordLimit = 256

    package private(set) var message = DNSMessage()
    /// Whether the header of twelve bytes was there.
    package private(set) var hasHeader = false

    private var cursor: DNSCursor

    package init(_ bytes: Span<UInt8>) {
        var copy: [UInt8] = []
        copy.reserveCapacity(bytes.count)
        for index in bytes.indices { copy.append(bytes[index]) }
        cursor = DNSCursor(copy)
    }

    /// Reads a whole message, without the length that it has in a stream.
    package static func read(_ bytes: Span<UInt8>) throws(DNSViolation) -> DNSMessage {
        var reader = DNSMessageReader(bytes)
        try reader.read()
        return reader.message
    }

    /// Reads all of it into `message`; once only.
    package mutating func read() throws(DNSViolation) {
        message.id = try cursor.number16()
        let bits = try cursor.number16()
        var counts: [Int] = []
        for _ in 0..<4 { counts.append(Int(try cursor.number16())) }
        message.flags = DNSFlags(rawValue: bits & DNSFlags.mask)
        message.operation = UInt8(bits >> 11 & 0x0F)
        message.code = DNSResponseCode(rawValue: bits & 0x0F)
        hasHeader = true
        guard counts.reduce(0, +) <= Self.recordLimit else {
            throw .tooManyRecords(limit: Self.recordLimit)
        }
        for _ in 0..<counts[0] {
            let name = try cursor.name()
            let type = DNSType(rawValue: try cursor.number16())
            let recordClass = try cursor.number16()
            message.questions.append(DNSQuestion(name, type, recordClass: recordClass))
        }
        try readRecords(counts[1], into: \.answers)
        try readRecords(counts[2], into: \.authorities)
        try readRecords(counts[3], into: \.additionals)
        guard cursor.count == 0 else { throw .trailingBytes(cursor.count) }
    }

    private mutating func readRecords(
        _ count: Int, into section: WritableKeyPath<DNSMessage, [DNSRecord]>
    ) throws(DNSViolation) {
        for _ in 0..<count {
            let name = try cursor.name()
            let type = DNSType(rawValue: try cursor.number16())
            let recordClass = try cursor.number16()
            let lifetime = try cursor.number32()
            let length = Int(try cursor.number16())
            if type == .opt {
                guard section == \.additionals, name == .root, message.options == nil else {
                    throw .badOptions
                }
                message.options = DNSOptions(
                    payloadSize: recordClass, version: UInt8(lifetime >> 16 & 0xFF),
                    dnssecOK: lifetime & 0x8000 != 0, raw: try cursor.bytes(length))
                let upper = UInt16(lifetime >> 24) << 4
                message.code = DNSResponseCode(rawValue: upper | message.code.rawValue)
                continue
            }
            var content = try cursor.part(length, onEnd: .badRecord(type))
            let data = try readData(&content, type, recordClass)
            guard content.count == 0 else { throw .badRecord(type) }
            message[keyPath: section].append(
                DNSRecord(name, type, recordClass: recordClass, lifetime: lifetime, data))
        }
    }

    private func readData(
        _ content: inout DNSCursor, _ type: DNSType, _ recordClass: UInt16
    ) throws(DNSViolation) -> DNSRecord.Data {
        guard recordClass == DNSClass.internet else {
            return .other(try content.bytes(content.count))
        }
        switch type {
        case .a: return .address(try content.bytes(4))
        case .aaaa: return .address(try content.bytes(16))
        case .cname, .ptr: return .name(try content.name())
        case .svcb, .https: return .service(try readService(&content, type))
        default: return .other(try content.bytes(content.count))
        }
    }

    /// RFC 9460 §2.2.
    private func readService(
        _ content: inout DNSCursor, _ type: DNSType
    ) throws(DNSViolation) -> DNSServiceBinding {
        let priority = try content.number16()
        let target = try content.name(mayPoint: false)
        var binding = DNSServiceBinding(priority: priority, target: target)
        while content.count > 0 {
            let key = try content.number16()
            let value = try content.bytes(Int(content.number16()))
            // Keys ascend, so that none comes twice.
            guard key > binding.parameters.last?.key ?? 0 || binding.parameters.isEmpty else {
                throw .badRecord(type)
            }
            binding.parameters.append(.init(key: key, value: value))
        }
        return binding
    }
}
