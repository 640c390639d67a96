internal import Base
internal import HTTPCodecs
internal import HTTPModel

/// The answer to one live request: it collects the request, finds what was recorded for it, and
/// gives that piece by piece.
///
/// Not `Sendable`: one loop drives it.
package final class ReplayExchange {
    private enum Phase {
        case asking
        case missed(ReplayMiss)
        case interims(Int)
        case head
        case content
        case over
    }

    private let recording: ReplayRecording
    private var facts: RequestFacts
    private let clock: ReplayClock
    private let isHead: Bool
    private var phase = Phase.asking
    private var content: RequestContent
    private var messages = LengthPrefixedReader()
    private var messageCount = 0
    private var isWhole = false
    private var answer: RecordedResponse?
    private var substitution: Substitution?
    private var offset: Int64 = 0
    private var cut = 0
    /// A content that is not as it was recorded.
    private var rewritten: [UInt8]?

    /// - Parameter facts: of the request, whose content comes piece by piece.
    package init(_ recording: ReplayRecording, _ facts: RequestFacts) {
        self.recording = recording
        self.facts = facts
        clock = ReplayClock(recording.options)
        isHead = facts.method == "HEAD"
        content = RequestContent(limit: recording.options.contentLimit, recording.digests)
    }

    // MARK: The request

    package func receive(_ bytes: Span<UInt8>) {
        content.append(bytes)
        guard facts.isGRPC else { return }
        let before = messageCount
        messages.read(bytes) { _ in messageCount += 1 }
        guard case .asking = phase, messageCount > before, !content.isLong else { return }
        // A client that waits for an answer may not have ended its request.
        for count in before + 1...messageCount where answer == nil {
            facts.body = content.form(facts.fields, messageLimit: count)
            if case .answer(let found) = recording.find(facts) { take(found) }
        }
    }

    package func noteEnd() {
        isWhole = true
        guard case .asking = phase else { return }
        facts.body = content.form(facts.fields)
        switch recording.find(facts) {
        case .answer(let found): take(found)
        case .exhausted: phase = .missed(recording.miss(facts, reason: .exhausted))
        case .unknown: phase = .missed(recording.miss(facts, reason: .unknown))
        }
    }

    private func take(_ found: RecordedResponse) {
        answer = found
        phase = .interims(0)
        let rules = recording.options.rules.at([facts.place])
        guard !rules.of(.substitute).isEmpty, let recorded = recording.request(of: found.exchange)
        else {
            return
        }
        let made = Substitution(recorded: recorded, live: facts, rules)
        if !made.isEmpty { substitution = made }
    }

    // MARK: The response

    package func next() -> ReplayStep {
        switch phase {
        case .asking: return .needMore
        case .missed(let miss):
            phase = .over
            return .miss(miss)
        case .over: return .broken
        default: break
        }
        guard let answer else { return .broken }
        switch phase {
        case .interims(let index) where index < answer.interims.count:
            phase = .interims(index + 1)
            return .interim(answer.interims[index])
        case .interims, .head:
            phase = .head
            if let time = clock.wait(until: answer.firstByte) { return .pause(time) }
            return head(of: answer)
        default: return nextContent(of: answer)
        }
    }

    private func head(of answer: RecordedResponse) -> ReplayStep {
        if answer.isSwitch || facts.opensWebSocket && answer.head.status / 100 == 2 {
            phase = .over
            return switching(answer)
        }
        phase = .content
        let head = edited(answer)
        let isAll = isHead || answer.size == 0 && answer.trailers.slices.isEmpty && !answer.isBroken
        if isAll { phase = .over }
        return .head(head, isAll: isAll)
    }

    private func edited(_ answer: RecordedResponse) -> ResponseHead {
        var head = answer.head
        if recording.options.refreshesDates {
            let shift = Timestamp.now().microseconds(since: answer.startedAt) / 1_000_000
            head = HeadEdit.refreshed(head, by: shift)
        }
        guard let substitution else { return head }
        let content = whole(answer)
        rewritten = substitution.apply(to: BodyForm.decoded(content, head.fields))
        let size = [UInt8](String(rewritten?.count ?? 0).utf8)
        return HeadEdit.rewritten(head) { name, value in
            switch name {
            case "content-length": .value(isHead ? Array(value) : size)
            case "content-encoding": isHead ? .keep : .drop
            default: .value(substitution.apply(to: Array(value)))
            }
        }
    }

    private func whole(_ answer: RecordedResponse) -> [UInt8] {
        if let content = answer.content { return content }
        var content: [UInt8] = []
        while content.count < recording.options.scriptLimit {
            let piece = recording.piece(of: answer.exchange, from: Int64(content.count))
            if piece.isEmpty { break }
            content += piece
        }
        return content
    }

    private func switching(_ answer: RecordedResponse) -> ReplayStep {
        let script = recording.script(of: answer)
        guard facts.opensWebSocket else {
            let place = facts.place
            return .switching(
                answer.head,
                SegmentDialogue(
                    script, with: place.authority, path: place.path, recording.options))
        }
        let head = WebSocketHead.answering(facts.fields, answer.head, sha1: recording.digests.sha1)
        return .switching(head, WebSocketDialogue(script, recording.options))
    }

    // MARK: The content

    private func nextContent(of answer: RecordedResponse) -> ReplayStep {
        if let rewritten {
            self.rewritten = []
            return rewritten.isEmpty ? end(of: answer) : .content(rewritten)
        }
        if cut < answer.cuts.count {
            let next = answer.cuts[cut]
            if next.clientMessages > messageCount, !isWhole { return .needMore }
            if let time = clock.wait(until: next.due) { return .pause(time) }
            let piece = piece(of: answer, upTo: next.end)
            if offset >= next.end || piece.isEmpty { cut += 1 }
            return piece.isEmpty ? nextContent(of: answer) : .content(piece)
        }
        let limit = recording.options.timing > 0 ? offset + Self.timedPiece : .max
        if let time = clock.wait(until: due(answer)) { return .pause(time) }
        let piece = piece(of: answer, upTo: limit)
        return piece.isEmpty ? end(of: answer) : .content(piece)
    }

    /// In bytes: how much is sent at once of a content whose times are kept.
    private static let timedPiece: Int64 = 16 << 10

    /// When the content is due from here on: it is taken to have come evenly.
    private func due(_ answer: RecordedResponse) -> Int64 {
        guard answer.size > 0, answer.cuts.isEmpty else { return answer.duration }
        // More may be there than is told, or less.
        let share = min(1, Double(offset) / Double(answer.size))
        let rest = answer.duration.subtractingReportingOverflow(answer.firstByte).partialValue
        return answer.firstByte.addingSaturated(Int64(Double(max(0, rest)) * share))
    }

    private func piece(of answer: RecordedResponse, upTo end: Int64) -> [UInt8] {
        let piece: [UInt8]
        if let content = answer.content {
            let from = Int(min(offset, Int64(content.count)))
            let to = Int(min(max(end, offset), Int64(content.count)))
            piece = from == 0 && to == content.count ? content : Array(content[from..<to])
        } else {
            let room = end - offset
            let read = recording.piece(of: answer.exchange, from: offset)
            piece = Int64(read.count) > room ? Array(read[..<Int(room)]) : read
        }
        offset += Int64(piece.count)
        return piece
    }

    private func end(of answer: RecordedResponse) -> ReplayStep {
        // Who streams may be answered and still have something to say.
        if answer.waitsForRequest, !isWhole { return .needMore }
        phase = .over
        return answer.isBroken ? .broken : .end(trailers: answer.trailers)
    }
}
