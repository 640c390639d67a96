internal import Base
internal import CPlatform
internal import Glibc

/// Writes netlink messages and their attributes (linux/netlink.h), in this machine's byte order.
struct NetlinkWriter {
    private(set) var bytes: [UInt8] = []
    /// The sequence number of the last message.
    private(set) var sequence: UInt32 = 0

    /// Appends a message whose body `write` appends, with a header for each protocol of its own.
    mutating func message(
        type: UInt16, flags: UInt16, _ write: (inout NetlinkWriter) -> Void
    ) {
        let start = bytes.count
        sequence += 1
        append(UInt32(0))
        append(type)
        append(Netlink.request | flags)
        append(sequence)
        append(UInt32(0))
        write(&self)
        patch(UInt32(bytes.count - start), at: start)
    }

    /// Appends a number in the machine's order.
    mutating func append(_ number: some FixedWidthInteger) {
        unsafe withUnsafeBytes(of: number) { unsafe bytes += $0 }
    }

    mutating func append(_ more: [UInt8]) {
        bytes += more
    }

    /// Appends an attribute: length, type, value, padded to four bytes.
    mutating func attribute(_ type: UInt16, _ value: [UInt8]) {
        append(UInt16(4 + value.count))
        append(type)
        bytes += value
        pad()
    }

    mutating func attribute(_ type: UInt16, text: String) {
        attribute(type, Array(text.utf8) + [0])
    }

    /// Appends a number in network order, as netfilter has it.
    mutating func attribute(_ type: UInt16, bigEndian number: some FixedWidthInteger) {
        attribute(type, unsafe withUnsafeBytes(of: number.bigEndian) { unsafe [UInt8]($0) })
    }

    mutating func nested(_ type: UInt16, _ write: (inout NetlinkWriter) -> Void) {
        let start = bytes.count
        append(UInt16(0))
        append(type | Netlink.nestedFlag)
        write(&self)
        patch(UInt16(bytes.count - start), at: start)
    }

    private mutating func pad() {
        while bytes.count % 4 != 0 { bytes.append(0) }
    }

    private mutating func patch(_ number: some FixedWidthInteger, at place: Int) {
        unsafe withUnsafeBytes(of: number) { source in
            for index in 0..<source.count { bytes[place + index] = unsafe source[index] }
        }
    }
}

/// Takes what the kernel sends on a netlink socket apart; a length that lies ends the reading.
enum NetlinkReader {
    struct Message {
        let type: UInt16
        let sequence: UInt32
        let body: ArraySlice<UInt8>

        /// The error of an acknowledgement, 0 for success; `nil` for another message.
        var acknowledgement: Int32? {
            guard type == Netlink.error else { return nil }
            return body.native(Int32.self, at: 0).map { -$0 }
        }
    }

    static func messages(_ bytes: ArraySlice<UInt8>) -> [Message] {
        var rest = bytes
        var messages: [Message] = []
        while let length = rest.native(UInt32.self, at: 0).map(Int.init),
            length >= Netlink.headerSize, length <= rest.count,
            let type = rest.native(UInt16.self, at: 4),
            let sequence = rest.native(UInt32.self, at: 8)
        {
            let body = rest.prefix(length).dropFirst(Netlink.headerSize)
            messages.append(Message(type: type, sequence: sequence, body: body))
            rest = rest.dropFirst((length + 3) & ~3)
        }
        return messages
    }

    /// The values of attributes by their type; of two with one type, the last.
    static func attributes(_ bytes: ArraySlice<UInt8>) -> [UInt16: ArraySlice<UInt8>] {
        var rest = bytes
        var attributes: [UInt16: ArraySlice<UInt8>] = [:]
        while let length = rest.native(UInt16.self, at: 0).map(Int.init), length >= 4,
            length <= rest.count, let type = rest.native(UInt16.self, at: 2)
        {
            attributes[type & Netlink.typeMask] = rest.prefix(length).dropFirst(4)
            rest = rest.dropFirst((length + 3) & ~3)
        }
        return attributes
    }
}

extension ArraySlice<UInt8> {
    /// The number in the machine's order at an offset; `nil` past the end.
    func native<Number: FixedWidthInteger>(_: Number.Type, at offset: Int) -> Number? {
        let size = MemoryLayout<Number>.size
        guard offset >= 0, count >= offset + size else { return nil }
        return unsafe withUnsafeBytes {
            unsafe $0.loadUnaligned(fromByteOffset: offset, as: Number.self)
        }
    }

    /// The number in network order at an offset; `nil` past the end.
    func bigEndian<Number: FixedWidthInteger>(_ type: Number.Type, at offset: Int) -> Number? {
        native(type, at: offset).map(Number.init(bigEndian:))
    }
}

/// Numbers of linux/netlink.h.
enum Netlink {
    static let headerSize = 16
    static let error: UInt16 = 2
    static let request: UInt16 = 1
    static let acknowledge: UInt16 = 4
    static let exclusive: UInt16 = 0x200
    static let create: UInt16 = 0x400
    static let append: UInt16 = 0x800
    static let nestedFlag: UInt16 = 0x8000
    static let typeMask: UInt16 = 0x3FFF
    static let route: Int32 = 0
    static let socketDiagnosis: Int32 = 4
    static let netfilter: Int32 = 12
}

/// A netlink socket.
///
/// It belongs to the network namespace that it was made in, wherever it is used from.
struct NetlinkSocket {
    let descriptor: Int32

    init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    init(protocol number: Int32) throws(ConfinementError) {
        let flags = Int32(SOCK_RAW.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        descriptor = socket(AF_NETLINK, flags, number)
        guard descriptor >= 0 else { throw ConfinementError("make a netlink socket") }
    }

    func close() {
        _ = Glibc.close(descriptor)
    }

    /// Sends messages that ask for acknowledgement, and returns what else came before the last one.
    func request(_ writer: NetlinkWriter, _ what: String) throws(ConfinementError)
        -> [NetlinkReader.Message]
    {
        let sent = unsafe writer.bytes.withUnsafeBytes {
            unsafe send(descriptor, $0.baseAddress, $0.count, 0)
        }
        guard sent == writer.bytes.count else { throw ConfinementError(what) }
        var answers: [NetlinkReader.Message] = []
        while true {
            let bytes = try receive(what)
            for message in NetlinkReader.messages(bytes[...]) {
                guard let number = message.acknowledgement else {
                    answers.append(message)
                    continue
                }
                if number != 0 { throw ConfinementError(what, number) }
                if message.sequence == writer.sequence { return answers }
            }
        }
    }

    private func receive(_ what: String) throws(ConfinementError) -> [UInt8] {
        // The kernel answers a request before it returns from it: this never waits.
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&waiting, 1, 1000) == 1 else {
            throw ConfinementError(what, ETIMEDOUT)
        }
        var bytes = [UInt8](repeating: 0, count: 32 << 10)
        let count = unsafe bytes.withUnsafeMutableBytes {
            unsafe recv(descriptor, $0.baseAddress, $0.count, 0)
        }
        guard count > 0 else { throw ConfinementError(what) }
        return Array(bytes.prefix(count))
    }
}
