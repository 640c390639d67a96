import Base
import HTTP2Frames
import HTTPModel
import HTTPServer
import Sockets
import Synchronization
import Testing
import Transport

/// What goes on for a client ends when it has gone.
struct DepartureTests {
    enum Way: CaseIterable, Sendable { case ends, resets }

    private static var limits: ServerLimits {
        var limits = ServerLimits()
        limits.halfClosedPatience = 100
        return limits
    }

    private static func leave(
        _ laboratory: Laboratory, _ wire: Wire, _ way: Way
    ) async throws {
        let client = try await laboratory.connect()
        if wire.isHTTP2 {
            try await client.send(
                bytes: Frame.preface + Frame.headers(1, Frame.get(scheme: "http")).bytes)
        } else {
            try await client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        }
        (client.stream as? PlainStream)?.channel.close(reset: way == .resets)
    }

    /// A pause that has a time, but hours of it.
    @Test(arguments: [Wire.plain, .http2], Way.allCases)
    func pausesEnd(_ wire: Wire, _ way: Way) async throws {
        let outcomes = Outcomes()
        let answer: Answer = { _, _ in
            var response = ServerResponse(200, body: .bytes([0x61]))
            response.delivery = Delivery()
            response.delivery?.headDelay = 3_600_000
            response.onEnd = { outcomes.add($0) }
            return response
        }
        try await withServer(answer, limits: Self.limits) { laboratory in
            try await Self.leave(laboratory, wire, way)
            await outcomes.untilSome(laboratory.loop)
        }
        #expect(outcomes.all.map(\.end) == [.left])
    }

    /// Work beside the loop, which asks for its client from time to time.
    @Test(arguments: [Wire.plain, .http2], Way.allCases)
    func workEnds(_ wire: Wire, _ way: Way) async throws {
        let outcomes = Outcomes()
        let answer: Answer = { _, _ in
            let presence = ClientPresence.current
            await withTaskExecutorPreference(globalConcurrentExecutor) {
                await Self.work(for: presence)
            }
            var response = ServerResponse(200, body: .bytes([0x61]))
            response.onEnd = { outcomes.add($0) }
            return response
        }
        try await withServer(answer, limits: Self.limits) { laboratory in
            try await Self.leave(laboratory, wire, way)
            await outcomes.untilSome(laboratory.loop)
        }
        // What went to a client that has gone may be told of once more.
        #expect(outcomes.all.count { !$0.isDoubtful } == 1)
    }

    @concurrent
    private static func work(for presence: ClientPresence?) async {
        while let presence, !presence.isGone { await Task.yield() }
    }

    /// A client that has only ended its direction still gets what comes soon, and what comes bit by
    /// bit, however long that takes.
    @Test func halfClosedClientsRead() async throws {
        let answer: Answer = { _, _ in
            var response = ServerResponse(
                200, body: .stream(length: 10, BytesSource([UInt8]("0123456789".utf8))))
            response.delivery = Delivery()
            response.delivery?.headDelay = 20
            response.delivery?.bodyPace = Pace(slice: 1, interval: 30)
            return response
        }
        try await withServer(answer, limits: Self.limits) { laboratory in
            let text = try await laboratory.exchange("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(text.hasSuffix("0123456789"))
        }
    }
}
