/// What comes before the payload of a frame (RFC 9113 §4.1).
package struct HTTP2FrameHead {
    /// Of the payload, in bytes.
    package let size: Int
    package let type: HTTP2FrameType
    private let flags: UInt8
    package let stream: Int32

    /// In bytes.
    package static let length = 9

    /// - Parameter bytes: nine or more.
    package init(_ bytes: ArraySlice<UInt8>) {
        let start = bytes.startIndex
        size = Int(bytes.number32 >> 8)
        type = HTTP2FrameType(rawValue: bytes[start + 3])
        flags = bytes[start + 4]
        stream = Int32(bytes.dropFirst(5).number32 & 0x7FFF_FFFF)
    }

    var endsStream: Bool { flags & 0x01 != 0 }
    var acknowledges: Bool { flags & 0x01 != 0 }
    var endsHeaders: Bool { flags & 0x04 != 0 }
    var isPadded: Bool { flags & 0x08 != 0 }
    var hasPriority: Bool { flags & 0x20 != 0 }

    /// Whether it concerns a stream, and never the connection.
    var isOfStream: Bool {
        switch type {
        case .data, .headers, .priority, .reset, .pushPromise, .continuation: true
        default: false
        }
    }

    /// Whether the payload is as long as its type has it.
    var hasFittingSize: Bool {
        switch type {
        case .priority: size == 5
        case .reset, .windowUpdate: size == 4
        case .settings: size % 6 == 0
        case .ping: size == 8
        case .goAway: size >= 8
        default: true
        }
    }

    /// Whether a connection whose start was not seen may go on with it: what is sent in practice.
    package var isPlausible: Bool {
        size <= 1 << 14 && type.rawValue <= HTTP2FrameType.continuation.rawValue && hasFittingSize
            && (isOfStream == (stream != 0) || type == .windowUpdate)
    }
}

extension ArraySlice<UInt8> {
    /// The first four bytes, most significant first.
    var number32: UInt32 { prefix(4).reduce(0) { $0 << 8 | UInt32($1) } }
}
