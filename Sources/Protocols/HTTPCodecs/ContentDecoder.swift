/// Unpacks content as it comes, through up to a few codings (RFC 9110 §8.4).
///
/// A few bytes can unpack to any amount. So what comes out is handed over in pieces, of which one
/// for each coding is held, and there is a limit to all of it. What was handed over before anything
/// went wrong stands. Not `Sendable`: one task uses it.
package final class ContentDecoder {
    /// How the content ended.
    package enum Outcome: Sendable, Equatable {
        /// It was whole; bytes behind its end, which browsers pass over, were passed over.
        case complete
        /// It ended before its end.
        case truncated
        /// It is not in the coding, from some point on.
        case corrupt(ContentCoding)
        /// It is larger than the limit, which is what was handed over of it.
        case limited
    }

    /// How much may come out; it holds for what lies between two codings too.
    package struct Limit: Sendable {
        /// In bytes, whatever went in.
        let floor: Int
        /// In bytes for each one that went in.
        let ratio: Int

        /// Not more than this.
        package static func bytes(_ count: Int) -> Limit { Limit(floor: count, ratio: 0) }

        /// As much as a recorded content may become: the work stays in proportion to what is
        /// recorded. Deflate reaches 1:1032, which nothing but long runs does; the other codings
        /// and several in a row know no bound of their own.
        package static let recorded = Limit(floor: 64 << 20, ratio: 1100)

        func byteCount(for input: Int) -> Int {
            let (grown, overflow) = input.multipliedReportingOverflow(by: ratio)
            let (sum, tooMuch) = grown.addingReportingOverflow(max(0, floor))
            return overflow || tooMuch ? .max - 1 : min(sum, .max - 1)
        }
    }

    private struct Stage {
        let coding: ContentCoding
        let session: any DecodingSession
        /// What it returned so far, in bytes.
        var produced = 0
        /// Whether its end was passed, so that whatever follows is passed over.
        var isOver = false
    }

    /// In the order of unpacking.
    private var stages: [Stage]
    private let limit: Limit
    /// What went in, in bytes.
    private var taken = 0
    /// What was handed over without any stage, in bytes.
    private var copied = 0
    private var stopped: Outcome?
    private var isAbandoned = false
    private var sawInput = false

    /// - Parameter codings: in the order in which they were applied; none hands over what goes in.
    package init(_ codings: [ContentCoding], limit: Limit) {
        self.limit = limit
        stages = codings.reversed().map { coding in
            switch coding {
            case .gzip: Stage(coding: coding, session: InflateSession(.gzip))
            case .deflate: Stage(coding: coding, session: InflateSession(.deflate))
            case .brotli: Stage(coding: coding, session: BrotliSession())
            case .zstd: Stage(coding: coding, session: ZstdSession())
            }
        }
    }

    /// Why nothing more comes, `nil` as long as all is well.
    package var stop: Outcome? { stopped }

    /// Unpacks `bytes` and hands over what comes of them, in pieces that are not empty; nothing
    /// once it has stopped.
    ///
    /// - Parameter visit: returns whether it wants more; after false, or an error of its own,
    ///   nothing more is unpacked.
    ///
    /// - Returns: whether more is wanted and there may be more.
    @discardableResult
    package func decode(
        _ bytes: Span<UInt8>, _ visit: ([UInt8]) throws -> Bool
    ) rethrows -> Bool {
        guard stopped == nil, !isAbandoned else { return false }
        guard !bytes.isEmpty else { return true }
        sawInput = true
        taken = taken.addingReportingOverflow(bytes.count).overflow ? .max : taken + bytes.count
        do {
            if stages.isEmpty {
                try pass(bytes, visit)
            } else {
                try run(bytes, stage: 0, visit)
            }
        } catch {
            isAbandoned = true
            throw error
        }
        return stopped == nil && !isAbandoned
    }

    /// Tells how the content ended, when no more comes; content of no bytes is complete.
    package func finish() -> Outcome {
        if let stopped { return stopped }
        return !sawInput || stages.allSatisfy(\.session.isAtEnd) ? .complete : .truncated
    }

    /// Unpacks content that is there as a whole, up to `outputLimit` bytes.
    package static func decode(
        _ bytes: [UInt8], _ codings: [ContentCoding], outputLimit: Int
    ) -> (content: [UInt8], outcome: Outcome) {
        let decoder = ContentDecoder(codings, limit: .bytes(outputLimit))
        var content: [UInt8] = []
        decoder.decode(bytes.span) { piece in
            content += piece
            return true
        }
        return (content, decoder.finish())
    }

    private func hand(_ piece: [UInt8], _ visit: ([UInt8]) throws -> Bool) rethrows {
        guard !piece.isEmpty, !isAbandoned else { return }
        if !(try visit(piece)) { isAbandoned = true }
    }

    private func pass(_ bytes: Span<UInt8>, _ visit: ([UInt8]) throws -> Bool) rethrows {
        let count = min(bytes.count, limit.byteCount(for: taken) - copied)
        copied += count
        if count < bytes.count { stopped = .limited }
        let piece = unsafe bytes.extracting(0..<count).withUnsafeBufferPointer {
            unsafe [UInt8]($0)
        }
        try hand(piece, visit)
    }

    private func run(
        _ bytes: Span<UInt8>, stage index: Int, _ visit: ([UInt8]) throws -> Bool
    ) rethrows {
        var position = 0
        while stopped == nil, !isAbandoned, !stages[index].isOver {
            let rest = bytes.extracting(position..<bytes.count)
            let (step, length) = try advance(rest, stage: index, visit)
            position += step.consumed
            switch step.state {
            case .running where step.consumed == 0 && length == 0: return
            case .running: continue
            case .ended: stages[index].isOver = true
            case .corrupt: stopped = stopped ?? .corrupt(stages[index].coding)
            }
        }
    }

    /// Runs a stage once, and those behind it on what came out; returns how many bytes did.
    private func advance(
        _ bytes: Span<UInt8>, stage index: Int, _ visit: ([UInt8]) throws -> Bool
    ) rethrows -> (step: DecodingStep, length: Int) {
        // One byte over the limit tells content that is too large from content that is not.
        let room = limit.byteCount(for: taken) - stages[index].produced + 1
        var piece: [UInt8] = []
        let step = stages[index].session.decode(bytes, into: &piece, room: room)
        let length = piece.count
        stages[index].produced += length
        let isOver = length == room
        if index < stages.count - 1 {
            if length > 0 { try run(piece.span, stage: index + 1, visit) }
            if isOver { stopped = stopped ?? .limited }
        } else {
            if isOver {
                piece.removeLast()
                stopped = stopped ?? .limited
            }
            try hand(piece, visit)
        }
        return (step, length)
    }
}
