internal import Base

/// Writes blocks of a pcapng file (draft-ietf-opsawg-pcapng) in one section, little-endian.
struct PacketFileWriter {
    private let output: (([UInt8]) throws -> Void)
    private var pending: [UInt8] = []

    /// In bytes.
    private static let batchSize = 256 << 10

    /// - Parameter output: takes the file, piece by piece.
    init(_ output: @escaping ([UInt8]) throws -> Void) {
        self.output = output
    }

    /// The section's header: the first block of a file.
    mutating func beginSection(application: String) throws {
        var body = UInt32(0x1A2B_3C4D).littleEndianBytes
        body += UInt16(1).littleEndianBytes + UInt16(0).littleEndianBytes
        body += Int64(-1).littleEndianBytes
        try write(0x0A0D_0D0A, body, options: [.userApplication(application)])
    }

    /// An interface of packets that begin with their IP header; they are counted from 0.
    mutating func addInterface(_ name: String, _ description: String) throws {
        let body = UInt16(101).littleEndianBytes + [0, 0] + UInt32(0).littleEndianBytes
        try write(
            1, body, options: [.name(name), .description(description), .nanoseconds])
    }

    /// Secrets for the packets that follow, as text of a key log.
    mutating func addSecrets(_ text: [UInt8]) throws {
        let body =
            UInt32(0x544C_534B).littleEndianBytes + UInt32(text.count).littleEndianBytes
            + text.padded()
        try write(0x0A, body, options: [])
    }

    /// Names of addresses.
    mutating func addNames(_ names: [(address: [UInt8], name: String)]) throws {
        var body: [UInt8] = []
        for entry in names {
            let value = entry.address + [UInt8](entry.name.utf8) + [0]
            body += UInt16(entry.address.count == 4 ? 1 : 2).littleEndianBytes
            body += UInt16(truncatingIfNeeded: value.count).littleEndianBytes
            body += value.padded()
        }
        try write(4, body + [0, 0, 0, 0], options: [])
    }

    mutating func addPacket(
        interface: UInt32, at time: Timestamp, _ bytes: [UInt8], options: [PacketOption]
    ) throws {
        let (nanoseconds, overflow) = UInt64(max(0, time.microseconds))
            .multipliedReportingOverflow(by: 1000)
        let stamp = overflow ? 0 : nanoseconds
        var body = interface.littleEndianBytes
        body += UInt32(truncatingIfNeeded: stamp >> 32).littleEndianBytes
        body += UInt32(truncatingIfNeeded: stamp).littleEndianBytes
        let count = UInt32(bytes.count).littleEndianBytes
        body += count + count
        body += bytes.padded()
        try write(6, body, options: options)
    }

    mutating func flush() throws {
        guard !pending.isEmpty else { return }
        try output(pending)
        pending.removeAll(keepingCapacity: true)
    }

    private mutating func write(
        _ type: UInt32, _ body: [UInt8], options: [PacketOption]
    ) throws {
        var listed: [UInt8] = []
        for option in options { option.append(to: &listed) }
        // Writers must end the list; one without options needs none.
        if !options.isEmpty { listed += [0, 0, 0, 0] }
        let length = UInt32(12 + body.count + listed.count).littleEndianBytes
        pending += type.littleEndianBytes
        pending += length
        pending += body
        pending += listed
        pending += length
        if pending.count >= Self.batchSize { try flush() }
    }
}

/// An option of a block.
struct PacketOption {
    let code: UInt16
    let value: [UInt8]

    /// Words for a person.
    static func comment(_ text: String) -> PacketOption { text16(1, text) }
    /// Tells packets of one flow on several interfaces (epb_packetid).
    static func flow(_ id: Int64) -> PacketOption {
        PacketOption(code: 5, value: id.littleEndianBytes)
    }
    static func name(_ text: String) -> PacketOption { text16(2, text) }
    static func description(_ text: String) -> PacketOption { text16(3, text) }
    static func userApplication(_ text: String) -> PacketOption { text16(4, text) }
    /// The unit of times (if_tsresol): ten to the minus ninth of a second.
    static let nanoseconds = PacketOption(code: 9, value: [9])

    private static func text16(_ code: UInt16, _ text: String) -> PacketOption {
        PacketOption(code: code, value: [UInt8](text.utf8.prefix(60_000)))
    }

    func append(to output: inout [UInt8]) {
        output += code.littleEndianBytes
        output += UInt16(truncatingIfNeeded: value.count).littleEndianBytes
        output += value.padded()
    }
}

extension [UInt8] {
    /// With zeros to a multiple of four.
    fileprivate func padded() -> [UInt8] {
        self + [UInt8](repeating: 0, count: (4 - count % 4) % 4)
    }
}
