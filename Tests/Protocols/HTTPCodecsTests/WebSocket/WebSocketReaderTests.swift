import Base
import Testing

@testable import HTTPCodecs

@Suite struct WebSocketReaderTests {
    @Test(
        arguments: WebSocketRows.examples + WebSocketRows.packedExamples + WebSocketRows.sound
            + WebSocketRows.refused)
    func reads(row: WebSocketRow) {
        let (whole, deviations) = stories(
            of: row.bytes, from: row.role, row.extensions, limits: row.limits)
        #expect(whole.entries == row.expected)
        #expect(whole.isAtBoundary == row.isAtBoundary)
        #expect(deviations == [])
    }

    @Test(arguments: WebSocketRows.refusedLater)
    func keepsWhatCameBefore(row: WebSocketRow) {
        let (whole, deviations) = stories(
            of: row.bytes, from: row.role, row.extensions, limits: row.limits)
        let expected = WebSocketStory(entries: row.expected, isAtBoundary: row.isAtBoundary)
        #expect(whole.understood == expected.understood)
        if !expected.raw.isEmpty { #expect(whole.raw == expected.raw) }
        #expect(!whole.isAtBoundary)
        #expect(deviations == [])
    }

    @Test(arguments: WebSocketRows.long)
    func readsLong(row: WebSocketRow) {
        for step in [1, 7, 1000, 69_999, 100_000] {
            let cuts = stride(from: step, to: row.bytes.count, by: step)
            for capacity in [100, 100_000] {
                let told = story(
                    of: row.bytes, from: row.role, limits: row.limits, cuts: cuts,
                    capacity: capacity)
                #expect(told.entries == row.expected)
            }
        }
    }

    @Test(arguments: [
        (0, false), (999, false), (1000, true), (1003, true), (1004, false), (1005, false),
        (1006, false), (1007, true), (1011, true), (1014, true), (1015, false), (1016, false),
        (2999, false), (3000, true), (4999, true), (5000, false), (65_535, false),
    ])
    func judgesCloseCodes(code: Int, isValid: Bool) {
        let payload = [UInt8(code >> 8), UInt8(code & 255)]
        var expected: [WebSocketStory.Entry] = [.close(UInt16(code), "")]
        if !isValid { expected.append(.violation(.invalidClosePayload, offset: 0)) }
        #expect(story(of: frame(.close, payload), from: .server).entries == expected)
    }

    @Test func boundsPieces() {
        let content = [UInt8](repeating: 0x61, count: 200_000)
        var packer = MessagePacker()
        let wire =
            frame(.text, content, from: .client)
            + frame(.text, packer.pack(content), from: .client, isCompressed: true)
        var reader = WebSocketReader(role: .client, extensions: PerMessageDeflate())
        var sizes: [Int] = []
        reader.read(wire.span, scratch: ByteBuffer(capacity: 1 << 20)) { event, bytes in
            if event == .content { sizes.append(bytes.count) }
        }
        #expect(sizes.max() == 65_536)
        #expect(sizes.reduce(0, +) == 400_000)
    }

    /// Content that is not masked is told from where it lies.
    @Test func copiesNothingUnmasked() {
        let wire = frame(.binary, [UInt8](repeating: 1, count: 5000))
        var reader = WebSocketReader(role: .server, extensions: nil)
        var sizes: [Int] = []
        reader.read(wire.span, scratch: ByteBuffer(capacity: 1)) { event, bytes in
            if event == .content { sizes.append(bytes.count) }
        }
        #expect(sizes == [5000])
    }

    @Test(arguments: [PerMessageDeflate(), resetting], [WebSocketRole.client, .server])
    func unpacks(extensions: PerMessageDeflate, role: WebSocketRole) {
        var packer = MessagePacker(resets: extensions.serverResets)
        var wire: [UInt8] = []
        var expected: [WebSocketStory.Entry] = []
        var generator = SeededGenerator(state: 5)
        for number in 0..<40 {
            let length = Int.random(in: 0...3000, using: &generator)
            let content = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* number >> 3) }
            wire += frame(.binary, packer.pack(content), from: role, isCompressed: true)
            expected += .message(.binary, content, isCompressed: true)
        }
        for step in [1, 11, 4097, 1 << 20] {
            let cuts = stride(from: step, to: wire.count, by: step)
            for capacity in [64, 72 * 1024] {
                let told = story(of: wire, from: role, extensions, cuts: cuts, capacity: capacity)
                #expect(told.entries == expected)
                #expect(told.isAtBoundary)
            }
        }
    }

    @Test func countsABomb() {
        let size = 20_000_000
        var packer = MessagePacker()
        let bomb = packer.pack([UInt8](repeating: 0x61, count: size))
        let wire = frame(.text, bomb, isCompressed: true) + hex("8101 42")
        #expect(wire.count < 25_000)
        let kept = story(
            of: wire, from: .server, PerMessageDeflate(),
            limits: WebSocketLimits(contentLimit: 100_000))
        #expect(
            kept.entries == [
                .begin(.text, isCompressed: true),
                .content([UInt8](repeating: 0x61, count: 100_000)),
                .end(UInt64(size), isTruncated: true),
            ] + .text("B"))
        let stopped = story(
            of: wire, from: .server, PerMessageDeflate(),
            limits: WebSocketLimits(contentLimit: 100, inflationLimit: 1_000_000))
        #expect(
            stopped.understood == [
                .begin(.text, isCompressed: true), .content([UInt8](repeating: 0x61, count: 100)),
                .violation(.inflatesTooFar, offset: 0),
            ])
        #expect(wire.reversed().starts(with: stopped.raw.reversed()))
    }

    /// 64 MB in one message of 256 frames, none of which is ever held: the pieces are all there is.
    @Test(arguments: [false, true])
    func holdsNothingOfALongMessage(isCompressed: Bool) {
        let size = 64 << 20
        let piece = [UInt8](repeating: 0x61, count: 1 << 18)
        let session = DeflateSession(level: 1, .raw())
        let scratch = ByteBuffer(capacity: 72 * 1024)
        // What is masked goes slowly through a build for debugging.
        let role: WebSocketRole = isCompressed ? .client : .server
        var reader = WebSocketReader(role: role, extensions: PerMessageDeflate())
        var told = 0
        var longest = 0
        var end: WebSocketMessageEnd?
        var wire: [UInt8] = []
        for number in 0..<size / piece.count {
            let isLast = number == size / piece.count - 1
            var payload = piece
            if isCompressed {
                payload = []
                session.encode(piece.span, .sync, into: &payload)
                if isLast { payload.removeLast(4) }
            }
            wire.removeAll(keepingCapacity: true)
            WebSocketWriter.write(
                number == 0 ? .binary : .continuation, payload.span, isFinal: isLast,
                isCompressed: isCompressed && number == 0,
                maskingKey: isCompressed ? 0x0102_0304 : nil, into: &wire)
            reader.read(wire.span, scratch: scratch) { event, bytes in
                if event == .content { told += bytes.count }
                if case .messageEnd(let found) = event { end = found }
                longest = max(longest, bytes.count)
            }
        }
        #expect(told == size)
        #expect(longest <= 65_536)
        #expect(end == WebSocketMessageEnd(size: UInt64(size), isTruncated: false))
        let isAtBoundary = reader.isAtBoundary
        #expect(isAtBoundary)
    }

    @Test(arguments: [WebSocketRole.client, .server])
    func neverTraps(role: WebSocketRole) {
        var generator = SeededGenerator(state: role == .client ? 1 : 2)
        for round in 0..<2500 {
            let length = Int.random(in: 0...200, using: &generator)
            var wire = (0..<length).map { _ in UInt8.random(in: 0...255, using: &generator) }
            // Random bytes seldom begin a frame.
            if round % 4 != 0 { wire = broken(role, &generator) }
            let extensions = round % 2 == 0 ? PerMessageDeflate() : nil
            let limits = WebSocketLimits(contentLimit: 50)
            let whole = story(of: wire, from: role, extensions, limits: limits)
            let pieces = story(
                of: wire, from: role, extensions, limits: limits, cuts: wire.indices, capacity: 7)
            #expect(whole.understood == pieces.understood)
            #expect(whole.isAtBoundary == pieces.isAtBoundary)
            if extensions == nil { #expect(whole.raw == pieces.raw) }
        }
    }

    /// Sound frames in a random order, some of whose bytes are changed.
    private func broken(
        _ role: WebSocketRole, _ generator: inout SeededGenerator
    ) -> [UInt8] {
        let opcodes: [WebSocketOpcode] = [.text, .binary, .continuation, .ping, .pong, .close]
        var packer = MessagePacker()
        var wire: [UInt8] = []
        for _ in 0..<Int.random(in: 1...6, using: &generator) {
            let opcode = opcodes[Int.random(in: 0..<6, using: &generator)]
            let length = Int.random(in: 0...140, using: &generator)
            let content = (0..<length).map { UInt8(truncatingIfNeeded: $0 * 7 & 0x7F) }
            let isPacked = Bool.random(using: &generator) && (opcode == .text || opcode == .binary)
            wire += frame(
                opcode, isPacked ? packer.pack(content) : content, from: role,
                isFinal: Int.random(in: 0...3, using: &generator) > 0, isCompressed: isPacked)
        }
        for _ in 0..<Int.random(in: 0...2, using: &generator) {
            let index = Int.random(in: 0..<wire.count, using: &generator)
            wire[index] = UInt8.random(in: 0...255, using: &generator)
        }
        return wire
    }
}
