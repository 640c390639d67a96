internal import Base
internal import HTTPCodecs
internal import HTTPModel
internal import Sockets

/// Sends one response, pulling its content as fast as the client takes it, or as its delivery has it.
struct ResponseSender {
    private let stream: any ExchangeStream
    private let plan: ResponsePlan
    private let response: ServerResponse
    private let delivery: Delivery?
    private var pace: PaceMachine?
    private var stalls: ArraySlice<Delivery.Stall>
    private var goAway: Delivery.GoAway?
    /// Bytes of content that have gone out.
    private(set) var sent: UInt64 = 0
    /// Bytes of content that go out with the next flush.
    private var pending: UInt64 = 0
    /// Content that was pulled and may not go out yet.
    private var held: ByteBuffer?

    init(_ response: ServerResponse, _ plan: ResponsePlan, over stream: any ExchangeStream) {
        self.response = response
        self.plan = plan
        self.stream = stream
        delivery = response.delivery
        pace = response.delivery?.bodyPace.map(PaceMachine.init)
        stalls = response.delivery?.stalls[...] ?? []
        goAway = response.delivery?.goAway
    }

    mutating func send() async throws(ServerEnd) {
        if let delivery {
            if delivery.headDelay > 0 { try await wait(delivery.headDelay) }
            if let cut = delivery.cut, cut.offset == nil { throw .cut(cut.ending) }
        }
        try await stream.begin(plan, pace: delivery?.headPace)
        switch plan.framing {
        case .none: try await meetFaults()
        case .length(let length): try await send(length)
        case .chunked, .untilClose, .tunnel:
            let source = response.body.source
            while try await pull(source) > 0 { try await flush() }
            return try await stream.end(trailers: source.trailers, goodbye: nil)
        }
        let goodbye = goAway.flatMap { $0.offset <= sent ? $0 : nil }
        try await stream.end(trailers: [], goodbye: goodbye)
    }

    /// Sends exactly `length` bytes; a source that has fewer leaves the client with a message that
    /// is visibly incomplete.
    private mutating func send(_ length: UInt64) async throws(ServerEnd) {
        if delivery == nil, case .bytes(let bytes) = response.body {
            var offset = 0
            while true {
                offset += stream.content.appendFitting(bytes, from: offset)
                if offset == bytes.count { break }
                try await flush()
            }
            sent = length
            return
        }
        let source = response.body.source
        var rest = length
        while rest > 0 {
            let count = UInt64(try await pull(source))
            guard count > 0, count <= rest else { throw .interrupted(.close) }
            rest -= count
            try await flush()
        }
        try await meetFaults(isAtEnd: true)
    }

    /// Moves the next content of the source to what goes out next, no more than may go at once.
    private mutating func pull(_ source: any ResponseBodySource) async throws(ServerEnd) -> Int {
        let content = stream.content
        if content.room == 0 { try await flush() }
        guard delivery != nil else {
            let count = try await pull(source, into: content)
            pending += UInt64(count)
            return count
        }
        try await meetFaults()
        let limit = try await allowance()
        let held = self.held ?? ByteBuffer(capacity: 65_536)
        self.held = held
        if held.isEmpty, try await pull(source, into: held) == 0 { return 0 }
        if stream.content.room == 0 { try await flush() }
        let count = min(limit, held.count, content.room)
        content.append(held.readable.extracting(..<count))
        held.consume(count)
        pending += UInt64(count)
        pace?.take(count)
        return count
    }

    private mutating func pull(
        _ source: any ResponseBodySource, into buffer: ByteBuffer
    ) async throws(ServerEnd) -> Int {
        do throws(ResponseInterruption) {
            return try await source.read(into: buffer)
        } catch {
            // What came before the cut reaches the client.
            try await flush()
            throw .interrupted(error.ending)
        }
    }

    private mutating func flush() async throws(ServerEnd) {
        try await stream.flush()
        sent += pending
        pending = 0
    }

    // MARK: What is wrong on purpose

    /// Does what the delivery has for this offset.
    private mutating func meetFaults(isAtEnd: Bool = false) async throws(ServerEnd) {
        guard let delivery else { return }
        while let stall = stalls.first, stall.offset <= sent {
            stalls.removeFirst()
            try await stream.flush()
            try await wait(stall.milliseconds)
        }
        // At the end (of a length) it goes behind that of the stream: some clients read nothing behind it,
        // and where all comes at once nothing ahead of it either.
        let isBehind = isAtEnd && delivery.cut == nil && goAway?.isProcessed == true
        if let goodbye = goAway, goodbye.offset <= sent, !isBehind {
            goAway = nil
            try await stream.flush()
            try await stream.settle()
            stream.goAway(goodbye)
        }
        if let cut = delivery.cut, let offset = cut.offset, offset <= sent {
            try await stream.flush()
            try await stream.settle()
            throw .cut(cut.ending)
        }
    }

    /// Waits until something may go out.
    ///
    /// - Returns: how many bytes before the delivery has more.
    private mutating func allowance() async throws(ServerEnd) -> Int {
        guard let delivery else { return .max }
        if pace?.allowance == 0 { try await waitForSlice() }
        let next = [stalls.first?.offset, goAway?.offset, delivery.cut?.offset].compactMap { $0 }
        let distance = next.min().map { Int(clamping: $0 - min(sent, $0)) } ?? .max
        return max(1, min(distance, pace?.allowance ?? .max))
    }

    private mutating func waitForSlice() async throws(ServerEnd) {
        guard let due = pace?.nextSlice(now: stream.pause.now) else { return }
        guard await stream.pause.wait(until: due) else { throw .left }
    }

    private func wait(_ milliseconds: UInt64?) async throws(ServerEnd) {
        guard await stream.wait(milliseconds: milliseconds) else { throw .left }
    }
}
