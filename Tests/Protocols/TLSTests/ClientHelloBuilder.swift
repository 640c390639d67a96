/// Makes hellos that no library would send.
struct ClientHelloBuilder {
    var version: UInt16 = 0x0303
    var sessionID: [UInt8] = []
    var suites: [UInt16] = [0x1301]
    var suiteBytes: [UInt8]?
    var compression: [UInt8] = [0]
    /// `nil` leaves the extensions' length out too.
    var extensions: [(type: UInt16, content: [UInt8])]? = []
    var messageType: UInt8 = 1
    /// Added to what the message's header says.
    var lengthError = 0
    var trailing: [UInt8] = []

    var message: [UInt8] {
        var body = number(version) + [UInt8](repeating: 7, count: 32)
        body += [UInt8(sessionID.count)] + sessionID
        let suites = suiteBytes ?? suites.flatMap(number)
        body += vector(suites)
        body += [UInt8(compression.count)] + compression
        if let extensions {
            body += vector(extensions.flatMap { number($0.type) + vector($0.content) })
        }
        body += trailing
        let length = body.count + lengthError
        return [messageType, UInt8(length >> 16), UInt8(length >> 8 & 0xFF), UInt8(length & 0xFF)]
            + body
    }

    /// The message in records of at most `size` bytes.
    func records(of size: Int = 16_384) -> [UInt8] {
        Self.records(message, cutAt: Array(stride(from: size, to: message.count, by: size)))
    }

    static func records(_ message: [UInt8], cutAt cuts: [Int]) -> [UInt8] {
        zip([0] + cuts, cuts + [message.count]).flatMap { start, end in
            [22, 3, 1] + vector([UInt8](message[start..<end]))
        }
    }

    static func serverName(_ name: [UInt8], kind: UInt8 = 0) -> [UInt8] {
        vector([kind] + vector(name))
    }
}

func number(_ value: UInt16) -> [UInt8] {
    [UInt8(value >> 8), UInt8(value & 0xFF)]
}

/// The bytes behind their length in two bytes.
func vector(_ bytes: [UInt8]) -> [UInt8] {
    number(UInt16(bytes.count)) + bytes
}

/// A generator whose sequence depends on the seed only.
struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
