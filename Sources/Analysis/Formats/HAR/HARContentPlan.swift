internal import Base
internal import Contents
internal import HTTPCodecs
internal import HTTPModel
internal import Redaction
internal import Traffic

/// How one content goes into a file: decoded, and without secrets unless they are wanted.
struct HARContentPlan {
    /// As `content.size` is defined: of what the codings were undone of.
    private(set) var decodedSize: Int64 = 0
    /// What is written, if it is short enough to be held.
    private(set) var held: [UInt8]?
    private(set) var isText = false
    /// Why the content may not be shown, `nil` if it may.
    private(set) var claimed: String?
    private(set) var isMasked = false
    /// The codings that were undone; empty if there were none, or they cannot be undone.
    private(set) var codings: [ContentCoding] = []

    /// Whether the codings were left as they are, because far too much would come of them.
    private(set) var isLeftPacked = false

    private let exchange: Int64
    private let direction: Direction
    private let source: any TrafficSource
    private let checkpoint: () throws -> Void

    /// Of what is written.
    var writtenSize: Int64 { claimed != nil ? 0 : held.map { Int64($0.count) } ?? decodedSize }

    /// Whether the content as it was on the wire has to be kept beside what is written.
    var needsWireContent: Bool {
        (!codings.isEmpty || isLeftPacked) && !isMasked && claimed == nil
    }

    /// Reads a content once, to know how it can be written.
    ///
    /// - Parameters:
    ///   - head: that of the content, as it was recorded.
    ///   - checkpoint: called between the pieces of a content, which may take long; an error of it
    ///     ends the work.
    init(
        _ exchange: ExchangeRecord, _ direction: Direction, head: RecordedHead, withSecrets: Bool,
        in source: any TrafficSource, checkpoint: @escaping () throws -> Void
    ) throws {
        self.checkpoint = checkpoint
        self.exchange = exchange.id
        self.direction = direction
        self.source = source
        let body = direction == .request ? exchange.requestBody : exchange.responseBody
        guard body.size > 0 else { return }
        codings = head.contentCodings ?? []
        var survey = try survey()
        isLeftPacked = survey.isLimited
        if survey.isLimited || survey.isBroken && survey.size == 0 && !codings.isEmpty {
            codings = []
            survey = try self.survey()
        }
        decodedSize = survey.size
        isText = survey.isText
        held = survey.size <= Int64(Self.heldLimit) ? survey.start : nil
        if !withSecrets {
            let isWhole = !survey.isBroken && !body.isTruncated && held != nil
            mask(survey.start, head.values(named: "content-type"), isWhole: isWhole)
        }
    }

    /// Calls `visit` with what is written, in parts.
    func visit(_ visit: ([UInt8]) throws -> Void) throws {
        if claimed != nil { return }
        if let held { return try visit(held) }
        try visitDecoded { bytes, _ in try visit(bytes) }
    }

    private struct Survey {
        var size: Int64 = 0
        var start: [UInt8] = []
        var isText = true
        /// Whether the coding is, or ends before its end.
        var isBroken = false
        /// Whether more would come of it than is unpacked.
        var isLimited = false
    }

    private func survey() throws -> Survey {
        var survey = Survey()
        var text = UTF8Machine()
        try visitDecoded { bytes, outcome in
            survey.size += Int64(bytes.count)
            survey.start += bytes.prefix(Self.heldLimit - survey.start.count)
            if survey.isText { survey.isText = text.take(bytes.span) == bytes.count }
            if let outcome, outcome != .complete { survey.isBroken = true }
            if outcome == .limited { survey.isLimited = true }
        }
        survey.isText = survey.isText && text.isComplete
        return survey
    }

    /// - Parameter visit: takes what comes out, and at the end how it ended.
    private func visitDecoded(
        _ visit: ([UInt8], ContentDecoder.Outcome?) throws -> Void
    ) throws {
        let decoder = ContentDecoder(codings, limit: .recorded)
        try source.body(ofExchange: exchange, direction) { bytes in
            try decoder.decode(bytes.span) { piece in
                try checkpoint()
                try visit(piece, nil)
                return true
            }
        }
        try visit([], decoder.finish())
    }

    private mutating func mask(_ start: [UInt8], _ types: [ArraySlice<UInt8>], isWhole: Bool) {
        switch ContentRedaction.redact(start, types: types, isWhole: isWhole) {
        case .understood(let masked) where held != nil: take(masked)
        case .understood: claimed = "text that can be looked into as a whole"
        case .malformed(let claimed):
            self.claimed = claimed
            isMasked = true
        case .opaque where isText && types.contains { MediaType($0).isEventStream }:
            if held == nil {
                claimed = "event stream that can be looked into as a whole"
            } else {
                take(MessageRedaction.redact(content: start, isWhole: isWhole))
            }
        case .opaque: break
        }
    }

    private mutating func take(_ masked: [UInt8]) {
        isMasked = masked != held
        held = masked
        if isMasked { isText = String(validating: masked, as: UTF8.self) != nil }
    }

    /// In bytes: what secrets are looked for in has to be held; a longer content in which they
    /// could have names is withheld.
    private static let heldLimit = 8 << 20
}
