internal import Base

/// How a response is delivered wrong on purpose; a plain value, whose default is faithful.
///
/// Offsets count bytes of the message's content, from its first.
package struct Delivery: Sendable, Equatable {
    /// How a connection or stream is broken off.
    package enum Ending: Sendable, Equatable {
        /// The connection ends in order, TLS with its close_notify, and the message is incomplete.
        case finish
        /// The connection ends without the close_notify of TLS (RFC 8446 §6.1).
        case truncate
        /// The connection is reset.
        case reset
        /// RST_STREAM with this code; HTTP/1 has no streams, and is reset.
        case stream(UInt32)
    }

    package struct Stall: Sendable, Equatable {
        package let offset: UInt64
        /// `nil` for ever.
        package let milliseconds: UInt64?

        package init(at offset: UInt64, milliseconds: UInt64?) {
            self.offset = offset
            self.milliseconds = milliseconds
        }
    }

    package struct Cut: Sendable, Equatable {
        /// `nil` for ahead of the head.
        package let offset: UInt64?
        package let ending: Ending

        package init(at offset: UInt64?, _ ending: Ending) {
            self.offset = offset
            self.ending = ending
        }
    }

    /// GOAWAY (RFC 9113 §6.8).
    package struct GoAway: Sendable, Equatable {
        package let offset: UInt64
        package let code: UInt32
        /// Whether the frame owns up to this stream; a client may repeat one that it does not.
        package let isProcessed: Bool
        /// What it tells about its reason.
        package let detail: [UInt8]

        package init(
            at offset: UInt64, code: UInt32 = 0, isProcessed: Bool = true, detail: [UInt8] = []
        ) {
            self.offset = offset
            self.code = code
            self.isProcessed = isProcessed
            self.detail = detail
        }
    }

    /// Ahead of the head.
    package var headDelay: UInt64 = 0
    package var headPace: Pace?
    package var bodyPace: Pace?
    /// In the order of their offsets.
    package var stalls: [Stall] = []
    package var cut: Cut?
    package var goAway: GoAway?
    /// What is added to the length that the head declares.
    package var lengthShift: Int64 = 0
    /// Whether the end of a content in chunks is left out; in HTTP/2 the stream is reset instead.
    package var omitsEnd = false
    /// In the place of Content-Length, Transfer-Encoding and Connection, as they are; the content
    /// goes out bare behind them, and the connection ends. Without a meaning in HTTP/2.
    package var framing: [ResponseField]?

    package init() {}

    /// Whether the message's framing may not be believed, so that no other may follow it.
    var breaksFraming: Bool { lengthShift != 0 || omitsEnd || framing != nil }
}

/// How fast bytes go out: so many at once, and then a pause.
package struct Pace: Sendable, Equatable {
    /// Bytes that go out at once; at least 1.
    package let slice: Int
    /// From slice to slice, in milliseconds.
    package let interval: UInt64
    /// What a slice is late at most, in milliseconds, drawn from `seed`.
    package let jitter: UInt64
    package let seed: UInt64

    package init(slice: Int, interval: UInt64, jitter: UInt64 = 0, seed: UInt64 = 0) {
        self.slice = max(1, slice)
        self.interval = min(interval, Self.limit)
        self.jitter = min(jitter, Self.limit)
        self.seed = seed
    }

    /// A rate in bytes a second, in slices of a twentieth of a second.
    package init(bytesPerSecond rate: UInt64, jitter: UInt64 = 0, seed: UInt64 = 0) {
        let rate = max(1, min(rate, 1 << 40))
        if rate < 20 {
            self.init(slice: 1, interval: 1000 / rate, jitter: jitter, seed: seed)
        } else {
            self.init(slice: Int(rate / 20), interval: 50, jitter: jitter, seed: seed)
        }
    }

    /// In milliseconds: an hour.
    private static let limit: UInt64 = 3_600_000
}

/// When the next slice of a paced response goes out.
struct PaceMachine {
    private let pace: Pace
    /// When the next slice is due; `nil` before the first.
    private var due: UInt64?
    /// Bytes that may still go out of the current slice.
    private(set) var allowance = 0
    private var drawn: UInt64 = 0

    init(_ pace: Pace) {
        self.pace = pace
    }

    /// Begins a slice, and tells when it goes out; slices are due from the first on, so that a rate
    /// holds whatever sending costs.
    mutating func nextSlice(now: UInt64) -> UInt64 {
        let due = self.due.map { max($0, now > Self.backlog ? now - Self.backlog : 0) } ?? now
        self.due = due + pace.interval
        allowance = pace.slice
        guard pace.jitter > 0 else { return due }
        drawn += 1
        return due + SplitMix.word(seed: pace.seed, drawn) % (pace.jitter + 1)
    }

    mutating func take(_ count: Int) { allowance -= count }

    /// What a client that paused may catch up on, in milliseconds.
    private static let backlog: UInt64 = 500
}
