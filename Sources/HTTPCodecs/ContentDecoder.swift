/// Unpacks content as it comes, through up to a few codings (RFC 9110 §8.4).
///
/// What it returned before anything went wrong stands. Not `Sendable`: one task uses it.
package final class ContentDecoder {
    /// How the content ended.
    package enum Outcome: Sendable, Equatable {
        /// It was whole; bytes behind its end, which browsers pass over, were passed over.
        case complete
        /// It ended before its end.
        case truncated
        /// It is not in the coding, from some point on.
        case corrupt(ContentCoding)
        /// It is larger than the limit, which is what was returned of it.
        case limited
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
    private let outputLimit: Int
    /// What was returned without any stage, in bytes.
    private var copied = 0
    private var stopped: Outcome?
    private var sawInput = false

    /// - Parameters:
    ///   - codings: in the order in which they were applied; none returns what goes in.
    ///   - outputLimit: of the content, in bytes; it holds for what lies between two codings too.
    package init(_ codings: [ContentCoding], outputLimit: Int) {
        self.outputLimit = max(0, min(outputLimit, Int.max - 1))
        stages = codings.reversed().map { coding in
            switch coding {
            case .gzip: Stage(coding: coding, session: InflateSession(.gzip))
            case .deflate: Stage(coding: coding, session: InflateSession(.deflate))
            case .brotli: Stage(coding: coding, session: BrotliSession())
            case .zstd: Stage(coding: coding, session: ZstdSession())
            }
        }
    }

    /// Why nothing more is returned, `nil` as long as all is well.
    package var stop: Outcome? { stopped }

    /// Unpacks `bytes` and returns what comes of them; nothing once it has stopped.
    package func decode(_ bytes: Span<UInt8>) -> [UInt8] {
        guard stopped == nil, !bytes.isEmpty else { return [] }
        sawInput = true
        var output: [UInt8] = []
        if stages.isEmpty {
            take(bytes, into: &output)
        } else {
            run(bytes, stage: 0, into: &output)
        }
        return output
    }

    /// Tells how the content ended, when no more comes; content of no bytes is complete.
    package func finish() -> Outcome {
        if let stopped { return stopped }
        return !sawInput || stages.allSatisfy(\.session.isAtEnd) ? .complete : .truncated
    }

    /// Unpacks content that is there as a whole.
    package static func decode(
        _ bytes: [UInt8], _ codings: [ContentCoding], outputLimit: Int
    ) -> (content: [UInt8], outcome: Outcome) {
        let decoder = ContentDecoder(codings, outputLimit: outputLimit)
        let content = decoder.decode(bytes.span)
        return (content, decoder.finish())
    }

    private func take(_ bytes: Span<UInt8>, into output: inout [UInt8]) {
        let count = min(bytes.count, outputLimit - copied)
        unsafe bytes.extracting(0..<count).withUnsafeBufferPointer {
            unsafe output.append(contentsOf: $0)
        }
        copied += count
        if count < bytes.count { stopped = .limited }
    }

    private func run(_ bytes: Span<UInt8>, stage index: Int, into output: inout [UInt8]) {
        var position = 0
        while stopped == nil, !stages[index].isOver {
            let rest = bytes.extracting(position..<bytes.count)
            let (step, length) = advance(rest, stage: index, into: &output)
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
        _ bytes: Span<UInt8>, stage index: Int, into output: inout [UInt8]
    ) -> (step: DecodingStep, length: Int) {
        // One byte over the limit tells content that is too large from content that is not.
        let room = outputLimit - stages[index].produced + 1
        let step: DecodingStep
        let length: Int
        if index == stages.count - 1 {
            let before = output.count
            step = stages[index].session.decode(bytes, into: &output, room: room)
            length = output.count - before
            if length == room { output.removeLast() }
        } else {
            var between: [UInt8] = []
            step = stages[index].session.decode(bytes, into: &between, room: room)
            length = between.count
            if length > 0 { run(between.span, stage: index + 1, into: &output) }
        }
        stages[index].produced += length
        if length == room { stopped = stopped ?? .limited }
        return (step, length)
    }
}
