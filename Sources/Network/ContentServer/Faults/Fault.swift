internal import Base
package import HTTPServer

/// One thing that is wrong on purpose with an exchange.
package enum Fault: Sendable, Equatable {
    // How the response is delivered
    case cut(FaultOffset, Delivery.Ending)
    case stall(FaultOffset, milliseconds: UInt64?)
    case delay(milliseconds: UInt64)
    case slowHead(bytesPerSecond: UInt64)
    case rate(bytesPerSecond: UInt64)
    case slowBody(milliseconds: UInt64)
    case drip(slice: Int, milliseconds: UInt64)
    case jitter(milliseconds: UInt64)
    case length(Int64)
    case noLastChunk
    case untilClose
    case goAway(FaultOffset, code: UInt32, isProcessed: Bool)
    case withhold(FaultOffset, milliseconds: UInt64?)

    // How an upload is taken
    case uploadCut(FaultOffset, Delivery.Ending)
    case uploadOffset(Int64)
    case noInterim

    // What it says
    case flip(FaultOffset, bit: Int?)
    case duplicate(String, String?)
    case status(Int, RetryAfter?)
    case redirect(Int)
    case loop
    case downgrade(port: UInt16?)
    case digest(DigestField)

    // How it answers a request for a range
    case range(RangeFault)
    case unsatisfiable(length: UInt64?)
    case version(AssetVersion)

    package enum RetryAfter: Sendable, Equatable {
        case seconds(UInt64)
        case date(UInt64)
    }

    package enum DigestField: String, Sendable, CaseIterable {
        case representation = "repr"
        case content
        /// RFC 3230, which RFC 9530 has replaced.
        case legacy
    }

    package enum RangeFault: Sendable, Equatable {
        /// The part begins so many bytes later, or earlier, and says so.
        case shifted(Int64)
        /// The same, but it says that it is what was asked for.
        case mislabelled(Int64)
        /// The part ends so many bytes later, or earlier, and says so.
        case resized(Int64)
        case unlabelled
        case unknownTotal
        case wrongTotal(Int64)
        case ignored
        case gzip
        /// A page to log in, with this status.
        case page(Int)
    }

    /// Whether it only means something when a part is asked for.
    var isOfRanges: Bool {
        switch self {
        case .range, .unsatisfiable: true
        default: false
        }
    }
}

/// Where in a content something happens.
package enum FaultOffset: Sendable, Equatable {
    /// Ahead of the head.
    case head
    case byte(UInt64)
    /// In thousandths of the content's length.
    case share(UInt64)
    /// Somewhere in the content, drawn.
    case drawn

    /// - Parameter length: of the content, in bytes; `nil` if it is not known.
    func resolved(length: UInt64?, _ draws: inout FaultDraws) -> UInt64 {
        let length = length ?? Self.assumedLength
        switch self {
        case .head: return 0
        case .byte(let offset): return offset
        case .share(let thousandths):
            return (length / 1000) * thousandths + (length % 1000) * thousandths / 1000
        case .drawn: return draws.below(length)
        }
    }

    /// Of a content whose length nobody knows, in bytes.
    private static let assumedLength: UInt64 = 65_536
}

/// What is drawn for one request, from its own stream: the seed, the rule, the client and the ordinal
/// of the request decide it, and nothing else.
package struct FaultDraws: Sendable {
    private let seed: UInt64
    private var drawn: UInt64 = 0

    package init(seed: UInt64, rule: String, client: String, ordinal: UInt64) {
        var state = SplitMix.mix(seed &+ SplitMix.step)
        for text in [rule, client] {
            // The length keeps two texts apart from others with the same bytes.
            state = SplitMix.mix(state ^ UInt64(text.utf8.count) &+ SplitMix.step)
            for byte in text.utf8 { state = SplitMix.mix(state ^ UInt64(byte)) }
        }
        self.seed = SplitMix.mix(state ^ ordinal &* SplitMix.step)
    }

    mutating func next() -> UInt64 {
        defer { drawn += 1 }
        return SplitMix.word(seed: seed, drawn)
    }

    /// A number below `limit`; 0 for nothing to choose from.
    mutating func below(_ limit: UInt64) -> UInt64 {
        let word = next()
        return limit == 0 ? 0 : word.multipliedFullWidth(by: limit).high
    }
}
