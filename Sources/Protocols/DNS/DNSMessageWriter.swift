/// Writes messages of a name server's protocol (RFC 1035 §4, RFC 6891).
package struct DNSMessageWriter {
    /// Of a datagram to a client that does not speak EDNS, in bytes (RFC 1035 §4.2.1).
    package static let shortestLimit = 512
    /// Of a message in a stream, in bytes.
    package static let streamLimit = 65_535

    private let limit: Int
    private var bytes: [UInt8] = []
    /// The first question's name, which records point to.
    private let questionName: DNSName?

    private static let headerLength = 12

    /// Writes a message.
    ///
    /// The records that would make it longer are left out, with all that follow them in their
    /// section and the later ones, and the truncated flag says so; the options are never left out.
    ///
    /// - Parameter byteLimit: raised to 512, and lowered to what a stream carries.
    package static func write(_ message: DNSMessage, byteLimit: Int = streamLimit) -> [UInt8] {
        var writer = DNSMessageWriter(message, byteLimit: byteLimit)
        writer.write(message)
        return writer.bytes
    }

    /// How long a datagram to the sender of a query may be, in bytes: what it says, at most what
    /// passes without fragments.
    package static func datagramLimit(for query: DNSMessage) -> Int {
        let wanted = query.options?.payloadSize ?? 0
        return max(shortestLimit, Int(min(wanted, DNSOptions.usualPayloadSize)))
    }

    private init(_ message: DNSMessage, byteLimit: Int) {
        limit = min(max(byteLimit, Self.shortestLimit), Self.streamLimit)
        // It is at the header's end, where a pointer can reach it.
        questionName = message.questions.first?.name
    }

    private mutating func write(_ message: DNSMessage) {
        bytes = [UInt8](repeating: 0, count: Self.headerLength)
        let options = message.options.map { encoded($0, code: message.code) } ?? []
        let room = limit - options.count
        var isWhole = true
        var counts: [Int] = [0, 0, 0, 0]
        for question in message.questions where isWhole {
            isWhole = append(encoded(question), room)
            counts[0] += isWhole ? 1 : 0
        }
        let sections = [message.answers, message.authorities, message.additionals]
        for (index, section) in sections.enumerated() {
            for record in section where isWhole {
                isWhole = append(encoded(record), room)
                counts[index + 1] += isWhole ? 1 : 0
            }
        }
        bytes += options
        counts[3] += options.isEmpty ? 0 : 1
        var flags = message.flags
        if !isWhole { flags.insert(.truncated) }
        let bits =
            flags.rawValue & DNSFlags.mask | UInt16(message.operation & 0x0F) << 11
            | message.code.rawValue & 0x0F
        let header = [message.id, bits] + counts.map { UInt16($0) }
        bytes.replaceSubrange(..<Self.headerLength, with: header.flatMap(number16))
    }

    /// Whether it was short enough.
    private mutating func append(_ piece: [UInt8]?, _ room: Int) -> Bool {
        guard let piece, bytes.count + piece.count <= room else { return false }
        bytes += piece
        return true
    }

    private func encoded(_ question: DNSQuestion) -> [UInt8] {
        plain(question.name) + number16(question.type.rawValue) + number16(question.recordClass)
    }

    /// `nil` if the data is longer than a record's can be.
    private func encoded(_ record: DNSRecord) -> [UInt8]? {
        let data =
            switch record.data {
            case .address(let address): address
            case .name(let name): encoded(name)
            case .service(let binding): encoded(binding)
            case .other(let bytes): bytes
            }
        guard let length = UInt16(exactly: data.count) else { return nil }
        return encoded(record.name) + number16(record.type.rawValue)
            + number16(record.recordClass) + number32(record.lifetime) + number16(length) + data
    }

    private func encoded(_ binding: DNSServiceBinding) -> [UInt8] {
        var data = number16(binding.priority) + plain(binding.target)
        for parameter in binding.parameters {
            data += number16(parameter.key) + number16(UInt16(clamping: parameter.value.count))
            data += parameter.value.prefix(Int(UInt16.max))
        }
        return data
    }

    private func encoded(_ options: DNSOptions, code: DNSResponseCode) -> [UInt8] {
        // Options that leave no room for a question are ours to have been too long.
        let raw = options.raw.count <= Self.shortestLimit / 4 ? options.raw : []
        let flags =
            UInt32(code.rawValue >> 4 & 0xFF) << 24 | UInt32(options.version) << 16
            | (options.dnssecOK ? 0x8000 : 0)
        return [0] + number16(DNSType.opt.rawValue) + number16(options.payloadSize)
            + number32(flags) + number16(UInt16(raw.count)) + raw
    }

    /// Points to the question's name if it is the same.
    private func encoded(_ name: DNSName) -> [UInt8] {
        name == questionName && name != .root ? [0xC0, UInt8(Self.headerLength)] : plain(name)
    }

    private func plain(_ name: DNSName) -> [UInt8] {
        name.labels.flatMap { [UInt8($0.count)] + $0 } + [0]
    }
}

private func number16(_ value: UInt16) -> [UInt8] {
    [UInt8(value >> 8), UInt8(value & 0xFF)]
}

private func number32(_ value: UInt32) -> [UInt8] {
    number16(UInt16(value >> 16)) + number16(UInt16(value & 0xFFFF))
}
