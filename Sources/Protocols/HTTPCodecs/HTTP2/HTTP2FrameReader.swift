internal import Base

/// A type of frame (RFC 9113 §6, RFC 7838 §4, RFC 8336 §2, RFC 9218 §7.1); others are kept by number.
package struct HTTP2FrameType: RawRepresentable, Sendable, Hashable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let data = HTTP2FrameType(rawValue: 0)
    package static let headers = HTTP2FrameType(rawValue: 1)
    package static let priority = HTTP2FrameType(rawValue: 2)
    package static let reset = HTTP2FrameType(rawValue: 3)
    package static let settings = HTTP2FrameType(rawValue: 4)
    package static let pushPromise = HTTP2FrameType(rawValue: 5)
    package static let ping = HTTP2FrameType(rawValue: 6)
    package static let goAway = HTTP2FrameType(rawValue: 7)
    package static let windowUpdate = HTTP2FrameType(rawValue: 8)
    package static let continuation = HTTP2FrameType(rawValue: 9)

    /// As the registry has it; a number for what is not registered.
    package var name: String {
        switch rawValue {
        case 0: "DATA"
        case 1: "HEADERS"
        case 2: "PRIORITY"
        case 3: "RST_STREAM"
        case 4: "SETTINGS"
        case 5: "PUSH_PROMISE"
        case 6: "PING"
        case 7: "GOAWAY"
        case 8: "WINDOW_UPDATE"
        case 9: "CONTINUATION"
        case 0x0A: "ALTSVC"
        case 0x0C: "ORIGIN"
        case 0x10: "PRIORITY_UPDATE"
        default: "type \(rawValue)"
        }
    }
}

/// A frame that carries no part of an exchange, such as PRIORITY_UPDATE or one of an unknown type.
package struct HTTP2SideFrame: Sendable, Equatable {
    package let type: HTTP2FrameType
    package let flags: UInt8
    package let stream: Int32
    /// In bytes, also of what was not kept.
    package let size: Int
    /// The start of the payload.
    package let payload: [UInt8]
}

/// What a peer does too much of, with how often it was seen.
package struct HTTP2Flood: Error, Sendable, Equatable {
    /// Stable, such as `h2-rapid-reset`.
    package let code: String
    package let count: Int

    /// In words for a person: `sent 1001 RST_STREAM frames`.
    package var detail: String {
        switch code {
        case "h2-header-block": "sent a header block of more than \(count) bytes"
        case "h2-continuation-flood": "sent \(count) CONTINUATION frames for one header block"
        case "h2-rapid-reset": "reset \(count) streams in a short time"
        case "h2-settings-flood": "sent \(count) SETTINGS frames"
        case "h2-ping-flood": "sent \(count) PING frames"
        case "h2-answers-flood": "asked for \(count) answers and took none"
        case "h2-empty-frames-flood": "sent \(count) DATA frames without content"
        case "h2-window-flood": "sent \(count) WINDOW_UPDATE frames"
        case "h2-stray-flood": "sent \(count) bytes on streams that were over"
        default: "sent \(count) frames that ask for nothing"
        }
    }
}

/// Walks over the frames of one direction, ahead of whoever understands them: counts them, stops
/// floods, and keeps those that others pass over.
///
/// Costs a few instructions a frame; payloads are skipped.
package struct HTTP2FrameReader: Sendable {
    private var prefaceLeft: Int
    private var header = InlineArray<9, UInt8>(repeating: 0)
    private var headerCount = 0
    private var payloadLeft = 0
    private var keptType: HTTP2FrameType?
    private var kept: [UInt8] = []
    private var keptSize = 0
    private var blockSize = 0
    private var continuationCount = 0
    private var resets = Allowance(burst: 1_000, perSecond: 33)
    private var settings = Allowance(burst: 100, perSecond: 10)
    private var pings = Allowance(burst: 500, perSecond: 50)
    private var emptyFrames = Allowance(burst: 1_000, perSecond: 100)
    private var idleFrames = Allowance(burst: 2_000, perSecond: 1_000)
    private var windowUpdates = Allowance(burst: 2_000, perSecond: 1_000)
    /// Window updates that were earned by content and do not count.
    private var windowCredit = 0
    /// Streams that are open, where an origin's are told; `nil` where they are not.
    private var open: Set<Int32>?
    /// How much may still come for streams that are over, in bytes: what was under way.
    private var strayCredit = strayStart
    private var strayCount = 0
    /// Whether the next byte tells how much of a DATA frame is padding.
    private var awaitsPadLength = false
    /// Frames seen, by type; unknown ones at 15.
    package private(set) var counts = InlineArray<16, Int>(repeating: 0)
    /// Frames that carry no part of an exchange, until they are taken.
    package private(set) var sideFrames: [HTTP2SideFrame] = []
    /// How much of the last bytes came before the frame that was one too many.
    private(set) var soundCount = 0

    /// How many of the last bytes are the start of a frame's head whose rest has not come.
    var headCount: Int { headerCount }

    /// Of a compressed header block, in bytes: far beyond what clients send (RFC 9113 §10.5.1).
    package static let blockLimit = 128 << 10
    /// For one header block.
    package static let continuationLimit = 32
    /// Of the payload of a side frame, in bytes.
    package static let keptLimit = 512
    private static let sideFrameLimit = 64
    /// Window updates for one DATA frame: one of the stream and one of the connection, twice.
    private static let updatesForData = 4
    private static let windowCreditLimit = 100_000
    /// In bytes.
    private static let strayStart = 64 << 10
    private static let strayCreditLimit = 16 << 20

    /// - Parameters:
    ///   - skippingPreface: whether the client's preface (RFC 9113 §3.4) comes first.
    ///   - countsStrays: whether streams are told by `noteOpened` and `noteClosed`, and what comes for
    ///     others counts. Nothing but that stops an origin whose stream is over.
    package init(skippingPreface: Bool, countsStrays: Bool = false) {
        prefaceLeft = skippingPreface ? 24 : 0
        open = countsStrays ? [] : nil
    }

    mutating func noteOpened(_ stream: Int32) { open?.insert(stream) }

    mutating func noteClosed(_ stream: Int32) { open?.remove(stream) }

    /// Notes a reset of ours: so much was under way at most.
    mutating func noteReset(window: Int) {
        strayCredit = min(strayCredit + window + Self.blockLimit, Self.strayCreditLimit)
    }

    /// Looks at bytes that come next.
    ///
    /// - Parameter now: in milliseconds of any clock that rises.
    package mutating func read(_ bytes: Span<UInt8>, now: UInt64) throws(HTTP2Flood) {
        var index = min(prefaceLeft, bytes.count)
        prefaceLeft -= index
        soundCount = bytes.count
        while index < bytes.count {
            if payloadLeft > 0 {
                if awaitsPadLength { try takePadLength(bytes[index], now) }
                let count = min(payloadLeft, bytes.count - index)
                if keptType != nil { keep(bytes.extracting(index..<index + count)) }
                payloadLeft -= count
                index += count
                if payloadLeft == 0 { endFrame() }
                continue
            }
            header[headerCount] = bytes[index]
            headerCount += 1
            index += 1
            if headerCount == 9 {
                headerCount = 0
                soundCount = max(0, index - 9)
                try beginFrame(now)
                soundCount = bytes.count
                if payloadLeft == 0 { endFrame() }
            }
        }
    }

    /// Hands over the frames that were kept.
    package mutating func takeSideFrames() -> [HTTP2SideFrame] {
        defer { sideFrames = [] }
        return sideFrames
    }

    /// Notes a DATA frame that was sent to the peer, which it may open its windows for.
    mutating func noteSentData() {
        windowCredit = min(windowCredit + Self.updatesForData, Self.windowCreditLimit)
    }

    /// Counts a reset of ours that the peer has provoked as one of its own: both cost the same
    /// (CVE-2025-8671).
    mutating func noteProvokedReset(now: UInt64) throws(HTTP2Flood) {
        try resets.take("h2-rapid-reset", now)
    }

    /// A frame of padding alone is as empty as one of nothing.
    private mutating func takePadLength(_ length: UInt8, _ now: UInt64) throws(HTTP2Flood) {
        awaitsPadLength = false
        if payloadLeft == Int(length) + 1 { try emptyFrames.take("h2-empty-frames-flood", now) }
    }

    private mutating func takeWindowUpdate(_ now: UInt64) throws(HTTP2Flood) {
        if windowCredit > 0 {
            windowCredit -= 1
        } else {
            try windowUpdates.take("h2-window-flood", now)
        }
    }

    private mutating func beginFrame(_ now: UInt64) throws(HTTP2Flood) {
        let size = Int(header[0]) << 16 | Int(header[1]) << 8 | Int(header[2])
        let type = HTTP2FrameType(rawValue: header[3])
        payloadLeft = size
        counts[min(15, Int(type.rawValue))] += 1
        if open != nil, type == .data || type == .headers || type == .continuation {
            try countStray(size)
        }
        switch type {
        case .data:
            guard header[4] & 1 == 0 else { break }
            if size == 0 { try emptyFrames.take("h2-empty-frames-flood", now) }
            awaitsPadLength = size > 0 && header[4] & 8 != 0
        case .headers, .pushPromise:
            continuationCount = 0
            blockSize = 0
            try addToBlock(size)
        case .continuation:
            continuationCount += 1
            guard continuationCount <= Self.continuationLimit else {
                throw HTTP2Flood(code: "h2-continuation-flood", count: continuationCount)
            }
            try addToBlock(size)
        case .reset: try resets.take("h2-rapid-reset", now)
        case .settings: try settings.take("h2-settings-flood", now)
        case .ping: try pings.take("h2-ping-flood", now)
        case .windowUpdate: try takeWindowUpdate(now)
        case .goAway: try idleFrames.take("h2-idle-frames-flood", now)
        default:
            try idleFrames.take("h2-idle-frames-flood", now)
            if type != .priority { beginKeeping(type, size) }
        }
    }

    private mutating func countStray(_ size: Int) throws(HTTP2Flood) {
        guard let open, !open.contains(stream) else { return }
        strayCount += size + 9
        strayCredit -= size + 9
        guard strayCredit >= 0 else { throw HTTP2Flood(code: "h2-stray-flood", count: strayCount) }
    }

    /// The stream of the frame whose head has come.
    private var stream: Int32 {
        Int32(header[5] & 0x7F) << 24 | Int32(header[6]) << 16 | Int32(header[7]) << 8
            | Int32(header[8])
    }

    private mutating func addToBlock(_ size: Int) throws(HTTP2Flood) {
        blockSize += size
        guard blockSize <= Self.blockLimit else {
            throw HTTP2Flood(code: "h2-header-block", count: Self.blockLimit)
        }
    }

    private mutating func beginKeeping(_ type: HTTP2FrameType, _ size: Int) {
        guard sideFrames.count < Self.sideFrameLimit else { return }
        keptType = type
        keptSize = size
        kept = []
    }

    private mutating func keep(_ bytes: Span<UInt8>) {
        for index in 0..<min(bytes.count, Self.keptLimit - kept.count) {
            kept.append(bytes[index])
        }
    }

    private mutating func endFrame() {
        guard let type = keptType else { return }
        keptType = nil
        sideFrames.append(
            HTTP2SideFrame(
                type: type, flags: header[4], stream: stream, size: keptSize, payload: kept))
    }
}

extension Allowance {
    /// Takes one, or tells the flood.
    fileprivate mutating func take(_ code: String, _ now: UInt64) throws(HTTP2Flood) {
        guard take(now: now) else { throw HTTP2Flood(code: code, count: count) }
    }
}
