internal import Base

/// Reads files of packets: pcap (draft-ietf-opsawg-pcap) and pcapng (draft-ietf-opsawg-pcapng), in
/// either order of bytes.
struct PacketFileReader {
    private var buffer: [UInt8] = []
    private var position = 0
    /// Of the buffer's start in the file.
    private var offset: Int64 = 0
    private var format: Format?
    private var isBigEndian = false
    private var interfaces: [Interface] = []

    private enum Format {
        /// With times in units of so many to a second.
        case pcap(unitsPerSecond: UInt64)
        case pcapng
    }

    private struct Interface {
        var linkType: UInt16
        var name = ""
        /// Times count so many units to a second; `nil` for a unit that no clock has.
        var unitsPerSecond: UInt64? = 1_000_000
        /// In seconds.
        var timeOffset: Int64 = 0
    }

    enum Event: Equatable {
        case packet(CaughtPacket)
        /// Text of a key log.
        case secrets([UInt8])
        /// The program that wrote the section.
        case application(String)
    }

    enum Violation: Error, Equatable {
        case notPackets
        case blockLength(Int, at: Int64)
        case packetLength(Int, at: Int64)
        case badMagic(at: Int64)
    }

    /// In bytes, of a block or packet: beyond what programs write.
    static let blockLimit = 16 << 20

    /// Whether a file that begins so is one of packets.
    static func recognizes(_ start: [UInt8]) -> Bool {
        guard start.count >= 4 else { return false }
        let magic = start[..<4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return magic == 0x0A0D_0D0A || magic == 0xA1B2_C3D4 || magic == 0xD4C3_B2A1
            || magic == 0xA1B2_3C4D || magic == 0x4D3C_B2A1
    }

    mutating func append(_ bytes: [UInt8]) {
        buffer.removeFirst(position)
        offset += Int64(position)
        position = 0
        buffer += bytes
    }

    /// How many bytes wait that make no whole block.
    var restCount: Int { buffer.count - position }

    /// The next event, `nil` if more bytes are needed.
    mutating func next() throws(Violation) -> Event? {
        while true {
            guard let format else {
                guard try readStart() else { return nil }
                continue
            }
            switch format {
            case .pcap(let units):
                return try nextPacket(units)
            case .pcapng:
                guard let (type, body) = try nextBlock() else { return nil }
                if let event = try read(type, body) { return event }
            }
        }
    }

    // MARK: pcap

    private mutating func readStart() throws(Violation) -> Bool {
        guard restCount >= 4 else { return false }
        guard Self.recognizes([UInt8](buffer[position...])) else { throw .notPackets }
        if buffer[position] == 0x0A {
            format = .pcapng
            return true
        }
        guard restCount >= 24 else { return false }
        isBigEndian = buffer[position] == 0xA1
        let units: UInt64 = number32(position) == 0xA1B2_3C4D ? 1_000_000_000 : 1_000_000
        // The upper bits tell of checksums at the end of frames.
        let linkType = UInt16(truncatingIfNeeded: number32(position + 20))
        interfaces = [Interface(linkType: linkType)]
        format = .pcap(unitsPerSecond: units)
        position += 24
        return true
    }

    private mutating func nextPacket(_ units: UInt64) throws(Violation) -> Event? {
        guard restCount >= 16 else { return nil }
        let length = Int(number32(position + 8))
        guard length <= Self.blockLimit else {
            throw .packetLength(length, at: offset + Int64(position))
        }
        guard restCount >= 16 + length else { return nil }
        let seconds = Int64(number32(position)) * 1_000_000
        let fraction = Int64(UInt64(number32(position + 4)) * 1_000_000 / units)
        let start = position + 16
        position = start + length
        return .packet(
            CaughtPacket(
                linkType: interfaces[0].linkType, interface: "",
                at: Timestamp(microseconds: seconds + fraction),
                bytes: [UInt8](buffer[start..<start + length])))
    }

    // MARK: pcapng

    private mutating func nextBlock() throws(Violation) -> (UInt32, Range<Int>)? {
        guard restCount >= 12 else { return nil }
        let place = offset + Int64(position)
        // A section's header says itself in which order its bytes are.
        if number32(position) == 0x0A0D_0D0A {
            switch Array(buffer[(position + 8)..<(position + 12)]) {
            case [0x1A, 0x2B, 0x3C, 0x4D]: isBigEndian = true
            case [0x4D, 0x3C, 0x2B, 0x1A]: isBigEndian = false
            default: throw .badMagic(at: place)
            }
        }
        let length = Int(number32(position + 4))
        guard length >= 12, length.isMultiple(of: 4), length <= Self.blockLimit else {
            throw .blockLength(length, at: place)
        }
        guard restCount >= length else { return nil }
        let type = number32(position)
        let body = (position + 8)..<(position + length - 4)
        guard Int(number32(body.upperBound)) == length else {
            throw .blockLength(length, at: place)
        }
        position += length
        return (type, body)
    }

    private mutating func read(
        _ type: UInt32, _ body: Range<Int>
    ) throws(Violation) -> Event? {
        switch type {
        case 0x0A0D_0D0A:
            interfaces = []
            guard body.count >= 16 else { return nil }
            let name = options(body.dropFirst(16)).first { $0.code == 4 }?.value.text
            return name.map { .application($0) }
        case 1: addInterface(body)
        case 3: return simplePacket(body)
        case 6: return enhancedPacket(body)
        case 0x0A:
            guard body.count >= 8, number32(body.lowerBound) == 0x544C_534B else { return nil }
            let length = min(Int(number32(body.lowerBound + 4)), body.count - 8)
            return .secrets([UInt8](buffer[body.dropFirst(8).prefix(length)]))
        default: break
        }
        return nil
    }

    private mutating func addInterface(_ body: Range<Int>) {
        guard body.count >= 8 else { return }
        var interface = Interface(linkType: number16(body.lowerBound))
        for option in options(body.dropFirst(8)) {
            switch option.code {
            case 2: interface.name = option.value.text
            case 9: interface.unitsPerSecond = option.value.first.flatMap(Self.unitsPerSecond)
            case 14 where option.value.count == 8:
                let bytes = isBigEndian ? option.value : option.value.reversed()
                let seconds = Int64(bitPattern: bytes.reduce(0) { $0 << 8 | UInt64($1) })
                // No clock is further away, and sums with it cannot overflow.
                interface.timeOffset = (-(1 << 40)...(1 << 40)).contains(seconds) ? seconds : 0
            default: break
            }
        }
        interfaces.append(interface)
    }

    private static func unitsPerSecond(_ resolution: UInt8) -> UInt64? {
        let power = UInt64(resolution & 0x7F)
        if resolution & 0x80 != 0 { return power < 63 ? 1 << power : nil }
        return power < 19 ? (0..<power).reduce(1) { result, _ in result * 10 } : nil
    }

    private func enhancedPacket(_ body: Range<Int>) -> Event? {
        guard body.count >= 20 else { return nil }
        let index = Int(number32(body.lowerBound))
        let length = Int(number32(body.lowerBound + 12))
        guard index < interfaces.count, length <= body.count - 20 else { return nil }
        let interface = interfaces[index]
        let stamp =
            UInt64(number32(body.lowerBound + 4)) << 32 | UInt64(number32(body.lowerBound + 8))
        return .packet(
            CaughtPacket(
                linkType: interface.linkType, interface: interface.name,
                at: Self.time(stamp, interface),
                bytes: [UInt8](buffer[body.dropFirst(20).prefix(length)]),
                comments: comments(body.dropFirst(20 + (length + 3) / 4 * 4))))
    }

    private func comments(_ range: Range<Int>) -> [String] {
        guard !range.isEmpty else { return [] }
        return options(range).compactMap { $0.code == 1 ? $0.value.text : nil }
    }

    private func simplePacket(_ body: Range<Int>) -> Event? {
        guard body.count >= 4, let interface = interfaces.first else { return nil }
        let length = min(Int(number32(body.lowerBound)), body.count - 4)
        return .packet(
            CaughtPacket(
                linkType: interface.linkType, interface: interface.name,
                at: Timestamp(microseconds: 0),
                bytes: [UInt8](buffer[body.dropFirst(4).prefix(length)])))
    }

    private static func time(_ stamp: UInt64, _ interface: Interface) -> Timestamp {
        guard let units = interface.unitsPerSecond else { return Timestamp(microseconds: 0) }
        let (seconds, rest) = stamp.quotientAndRemainder(dividingBy: units)
        let wide = rest.multipliedFullWidth(by: 1_000_000)
        let micros = units.dividingFullWidth(wide).quotient
        guard seconds < 1 << 40 else { return Timestamp(microseconds: 0) }
        return Timestamp(
            microseconds: (Int64(seconds) + interface.timeOffset) * 1_000_000 + Int64(micros))
    }

    private func options(_ range: Range<Int>) -> [(code: UInt16, value: [UInt8])] {
        var result: [(code: UInt16, value: [UInt8])] = []
        var rest = range
        while rest.count >= 4 {
            let code = number16(rest.lowerBound)
            let length = Int(number16(rest.lowerBound + 2))
            rest = rest.dropFirst(4)
            guard code != 0, length <= rest.count else { break }
            result.append((code, [UInt8](buffer[rest.prefix(length)])))
            rest = rest.dropFirst(min(rest.count, (length + 3) / 4 * 4))
        }
        return result
    }

    private func number16(_ place: Int) -> UInt16 {
        let (first, second) = (UInt16(buffer[place]), UInt16(buffer[place + 1]))
        return isBigEndian ? first << 8 | second : second << 8 | first
    }

    private func number32(_ place: Int) -> UInt32 {
        let value = buffer[place..<place + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return isBigEndian ? value : value.byteSwapped
    }
}

/// A packet as it was caught.
struct CaughtPacket: Equatable {
    let linkType: UInt16
    /// The interface's name, empty if it has none.
    let interface: String
    let at: Timestamp
    let bytes: [UInt8]
    /// Words that came with it.
    var comments: [String] = []
}
