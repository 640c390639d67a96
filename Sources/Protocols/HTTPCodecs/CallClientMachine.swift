internal import Base

/// The client's side of a call whose messages are known beforehand, as gRPC has them: each is due at
/// its time, and when the origin has sent as many as it is to come behind.
///
/// Not `Sendable`: one loop drives it.
package final class CallClientMachine {
    package enum Step: Equatable {
        /// The content up to this place, in bytes from its start.
        case send(upTo: Int64)
        /// Nothing, until something comes or this time has come, in milliseconds of the clock.
        case wait(until: UInt64)
        /// Nothing more, though some is left.
        case end
    }

    private let script: CallScript
    private var timeout: UInt64 = 0
    private var reader = LengthPrefixedReader()
    private var start: UInt64 = 0
    /// When the origin last brought something that was waited for, or a message was sent.
    private var since: UInt64 = 0
    private var isOver = false
    /// Whether it went out as it was to; otherwise the content has gone out in another way.
    package private(set) var hasBegun = false
    /// Whether the origin brought too little for too long.
    package private(set) var hasGivenUp = false
    /// How many messages have gone out whole.
    package private(set) var sent = 0
    /// How many messages of the origin are whole.
    package private(set) var heard = 0

    package init(_ script: CallScript) {
        self.script = script
    }

    /// Begins, or begins anew.
    ///
    /// - Parameters:
    ///   - now: in milliseconds of the clock that the other times are of.
    ///   - timeout: how long the origin may bring no message, in milliseconds beside what it took in
    ///     the recording.
    package func begin(now: UInt64, timeout: UInt64) {
        self.timeout = timeout
        reader = LengthPrefixedReader()
        (start, since) = (now, now)
        (sent, heard) = (0, 0)
        (isOver, hasGivenUp) = (false, false)
        hasBegun = true
    }

    /// Whether all messages were sent.
    package var isWhole: Bool { sent == script.lines.count }

    /// Takes the next piece of the answer's content.
    package func receive(_ bytes: Span<UInt8>, now: UInt64) {
        reader.read(bytes) { _ in
            heard += 1
            since = now
        }
    }

    /// Takes notice that so much of the content has gone out, in bytes from its start.
    package func noteSent(_ size: Int64, now: UInt64) {
        while sent < script.lines.count, script.lines[sent].end <= size {
            sent += 1
            since = now
        }
    }

    /// Takes notice that the answer is whole, or has failed: what waits is not sent, but what is due
    /// is, as the client's direction may still be open (RFC 9113 §5.1).
    package func noteEnd() { isOver = true }

    /// What to do now; a message that is due is given again until it has gone out.
    package func next(now: UInt64) -> Step {
        guard sent < script.lines.count else { return .send(upTo: .max) }
        guard !hasGivenUp else { return .end }
        let due = script.lines[sent...].prefix { wait(for: $0, now) == nil }
        if let last = due.last {
            return .send(upTo: due.endIndex == script.lines.count ? .max : last.end)
        }
        guard !isOver else { return .end }
        let deadline = wait(for: script.lines[sent], now) ?? now
        guard heard < script.lines[sent].awaited, now >= deadline else {
            return .wait(until: deadline)
        }
        hasGivenUp = true
        return .end
    }

    /// - Returns: until when, `nil` if the message is due.
    private func wait(for line: CallScript.Line, _ now: UInt64) -> UInt64? {
        if heard < line.awaited {
            return max(since, start + line.due) + line.patience + timeout
        }
        return start + line.due > now ? start + line.due : nil
    }

    /// In words, why it gave up.
    package var silence: String {
        guard sent < script.lines.count else { return "" }
        return "sent \(heard) messages where \(script.lines[sent].awaited) were to come before"
            + " message \(sent + 1) of the \(script.lines.count) of the request"
    }
}

/// When the messages of a call's request go out.
package struct CallScript: Sendable {
    package struct Line: Sendable {
        /// Behind the message, in bytes from the start of the content.
        package let end: Int64
        /// How many messages of the origin it comes behind.
        package let awaited: Int
        /// From the start of the call, in milliseconds.
        package let due: UInt64
        /// How long the origin took, at most, to bring what was before it, in milliseconds.
        package let patience: UInt64

        package init(end: Int64, awaited: Int, due: UInt64 = 0, patience: UInt64 = 0) {
            self.end = end
            self.awaited = awaited
            self.due = due
            self.patience = patience
        }
    }

    /// By rising end.
    package var lines: [Line] = []
    /// How many messages the origin sends in all.
    package var awaited = 0

    package init() {}
}
