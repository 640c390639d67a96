import Base
import HTTPCodecs
import HTTPModel
import Testing

@testable import HTTP2

@Suite(.timeLimit(.minutes(10))) struct HTTP2StreamTests {
    static let sizes = [0, 1, 16_384, 65_536, 1_000_000]

    @Test(arguments: sizes)
    func contentsPassBothWays(size: Int) async throws {
        let content = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        try await withLoop { loop in
            try await HTTP2Ends(loop).run { stream in
                do {
                    let got = try await stream.readAll()
                    #expect(got == content)
                    #expect(stream.trailers.slices.isEmpty && stream.hasEnded)
                    stream.respond(.response(status: 200), endsStream: false)
                    try await stream.send(got)
                    stream.end()
                } catch {
                    Issue.record(error)
                }
            } _: { ends in
                let stream = try ends.request("POST / HTTP/1.1", endsStream: false)
                try await stream.send(content)
                stream.end()
                #expect(try await stream.nextHead()?.status == 200)
                #expect(try await stream.readAll() == content)
                #expect(try await stream.nextHead() == nil)
            }
        }
    }

    @Test func whoWritesWaitsForWhoReads() async throws {
        try await withLoop { loop in
            let notes = Notes()
            try await HTTP2Ends(loop).run { stream in
                while !notes.lines.contains("full") { await Task.yield() }
                notes.note("reading")
                #expect(await stream.count() == 400_000)
                stream.respond(.response(status: 200), endsStream: true)
            } _: { ends in
                let stream = try ends.request("POST / HTTP/1.1", endsStream: false)
                try await stream.send([UInt8](repeating: 1, count: 280_000))
                notes.note("full")
                try await stream.send([UInt8](repeating: 1, count: 120_000))
                notes.note("written")
                stream.end()
                #expect(try await stream.nextHead()?.status == 200)
            }
            #expect(notes.lines == ["full", "reading", "written"])
        }
    }

    @Test func aWaitThatTimesOutMayBeRepeated() async throws {
        try await withLoop { loop in
            let notes = Notes()
            try await HTTP2Ends(loop).run { stream in
                while notes.lines.isEmpty { await Task.yield() }
                stream.respond(.response(status: 200), endsStream: true)
            } _: { ends in
                let stream = try ends.request()
                stream.readDeadline = 0
                async let failure = stream.headFailure()
                for _ in 0..<20 {
                    await Task.yield()
                    ends.client.sweep()
                }
                #expect(await failure == .silent)
                stream.readDeadline = .max
                notes.note("swept")
                #expect(try await stream.nextHead()?.status == 200)
                #expect(!stream.isGivenUp)
            }
        }
    }

    @Test func aWriteThatTimesOutEndsTheStream() async throws {
        try await withLoop { loop in
            try await HTTP2Ends(loop).run { stream in
                _ = await stream.headFailure()
            } _: { ends in
                let stream = try ends.request("POST / HTTP/1.1", endsStream: false)
                stream.writeDeadline = 0
                async let failure = stream.writeFailure([UInt8](repeating: 1, count: 1_000_000))
                for _ in 0..<100 {
                    await Task.yield()
                    ends.client.sweep()
                }
                #expect(await failure == .timedOut)
                // Whoever waits again after a silence would wait without end.
                #expect(await stream.headFailure() == .timedOut)
                stream.reset(HTTP2ErrorCode.cancel)
            }
        }
    }

    @Test func aResetWakesBothSides() async throws {
        try await withLoop { loop in
            let notes = Notes()
            try await HTTP2Ends(loop).run { stream in
                stream.onBreak = { notes.note("broken") }
                #expect(await stream.readFailure() == .reset(HTTP2ErrorCode.cancel))
                #expect(stream.isGivenUp)
                #expect(stream.lostClient == .reset(HTTP2ErrorCode.cancel))
                // Nothing that is said now goes anywhere, or is kept.
                stream.respond(.response(status: 200), endsStream: false)
                stream.answer([UInt8](repeating: 1, count: 1000))
                notes.note("served")
            } _: { ends in
                let stream = try ends.request("POST / HTTP/1.1", endsStream: false)
                try await stream.send([1])
                while ends.server.streamCount == 0 { await Task.yield() }
                stream.reset(HTTP2ErrorCode.cancel)
                while !notes.lines.contains("served") { await Task.yield() }
                #expect(await stream.headFailure() == .reset(HTTP2ErrorCode.cancel))
            }
            #expect(notes.lines == ["broken", "served"])
        }
    }

    @Test func interruptedReadingGoesOn() async throws {
        try await withLoop { loop in
            try await HTTP2Ends(loop).run { stream in
                stream.interruptReading()
                #expect(await stream.readFailure() == .stopped)
                stream.resumeReading()
                #expect(await stream.count() == 5)
                stream.respond(.response(status: 200), endsStream: true)
            } _: { ends in
                let stream = try ends.request("POST / HTTP/1.1", endsStream: false)
                while ends.server.streamCount == 0 { await Task.yield() }
                try await stream.send([1, 2, 3, 4, 5])
                stream.end()
                #expect(try await stream.nextHead()?.status == 200)
            }
        }
    }

    @Test func stoppedWritersGoOn() async throws {
        try await withLoop { loop in
            try await HTTP2Ends(loop).run { stream in
                _ = await stream.headFailure()
            } _: { ends in
                let stream = try ends.request("POST / HTTP/1.1", endsStream: false)
                async let failure = stream.writeFailure([UInt8](repeating: 1, count: 1_000_000))
                for _ in 0..<10 { await Task.yield() }
                stream.stopWriting()
                #expect(await failure == .stopped)
                #expect(await stream.writeFailure([1]) == .stopped)
                stream.reset(HTTP2ErrorCode.cancel)
            }
        }
    }

    /// What a served stream leaves unread must not keep the connection's window shut.
    @Test func unreadContentsGiveTheirWindowBack() async throws {
        try await withLoop { loop in
            try await HTTP2Ends(loop).run { stream in
                while !stream.waitingContent.isWhole { await Task.yield() }
                stream.respond(.response(status: 200), endsStream: true)
            } _: { ends in
                for _ in 0..<20 {
                    let stream = try ends.request("POST / HTTP/1.1", endsStream: false)
                    try await stream.send([UInt8](repeating: 1, count: 200_000))
                    stream.end()
                    #expect(try await stream.nextHead()?.status == 200)
                }
            }
        }
    }

    @Test func whoStopsReadingTellsThePeer() async throws {
        try await withLoop { loop in
            try await HTTP2Ends(loop).run { stream in
                stream.stopReading()
                stream.respond(.response(status: 413), endsStream: false)
                stream.answer([1, 2])
            } _: { ends in
                let stream = try ends.request("POST / HTTP/1.1", endsStream: false)
                async let failure = stream.writeFailure([UInt8](repeating: 1, count: 3_000_000))
                #expect(try await stream.nextHead()?.status == 413)
                #expect(try await stream.readAll() == [1, 2])
                for _ in 0..<3 { ends.server.sweep() }
                // The answer was whole; what was still written went nowhere.
                #expect(await failure == .reset(HTTP2ErrorCode.noError))
            }
        }
    }

    /// As a socket that is closed sends what it holds: a peer that is given up gets what was said.
    @Test(arguments: [1, 60_000])
    func whatWasSaidGoesAheadOfTheReset(_ count: Int) async throws {
        try await withLoop { loop in
            try await HTTP2Ends(loop).run { stream in
                stream.respond(.response(status: 200), endsStream: false)
                #expect(await stream.writeFailure([UInt8](repeating: 7, count: count)) == nil)
                stream.breakOff(HTTP2ErrorCode.internalError)
            } _: { ends in
                let stream = try ends.request("GET / HTTP/1.1", endsStream: true)
                #expect(try await stream.nextHead()?.status == 200)
                var failure: HTTP2StreamFailure?
                var got = 0
                let buffer = ByteBuffer(capacity: 16384)
                do throws(HTTP2StreamFailure) {
                    while try await stream.read(into: buffer) > 0 {
                        got += buffer.count
                        buffer.removeAll()
                    }
                } catch {
                    failure = error
                }
                #expect(got == count)
                #expect(failure == .reset(HTTP2ErrorCode.internalError))
            }
        }
    }

    /// A client that has said all and wants no more may call that no error.
    @Test func aResetWithoutAnErrorIsHeard() async throws {
        try await withLoop { loop in
            try await HTTP2Ends(loop).run { stream in
                stream.respond(.response(status: 200), endsStream: false)
                let failure = await stream.writeFailure([UInt8](repeating: 7, count: 9_000_000))
                #expect(failure == .reset(HTTP2ErrorCode.noError))
                #expect(stream.isGivenUp)
            } _: { ends in
                let stream = try ends.request("GET / HTTP/1.1", endsStream: true)
                #expect(try await stream.nextHead()?.status == 200)
                stream.reset(HTTP2ErrorCode.noError)
            }
        }
    }
}
