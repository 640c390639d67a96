import Base
import HTTP2Frames
import HTTPCodecs
import Sockets
import Testing
import Transport

@testable import HTTP2

@Suite(.timeLimit(.minutes(10))) struct HTTP2ConnectionTests {
    @Test func endsInOrder() async throws {
        try await withLoop { loop in
            let notes = Notes()
            let ends = try HTTP2Ends(loop)
            ends.server.onGoingAway = { notes.note("server going away") }
            ends.server.onQuiet = { notes.note("server quiet") }
            ends.client.onSettings = { notes.note("settings \($0.concurrentStreamLimit)") }
            try await ends.run { stream in
                stream.respond(.response(status: 204), endsStream: true)
            } _: { ends in
                let stream = try ends.request()
                #expect(try await stream.nextHead()?.status == 204)
                #expect(try await stream.readAll() == [])
            }
            #expect(ends.client.end == .finished)
            #expect(ends.server.end == .finished || ends.server.end == .peerClosed)
            #expect(ends.client.streamCount == 0 && ends.server.streamCount == 0)
            #expect(notes.lines.contains("settings 128"))
            #expect(notes.lines.filter { $0 == "server quiet" }.count == 1)
            #expect(notes.lines.contains("server going away"))
            #expect(ends.client.request(.response(status: 200), endsStream: true) == nil)
        }
    }

    @Test func manyStreamsAtOnce() async throws {
        try await withLoop { loop in
            let ends = try HTTP2Ends(loop)
            try await ends.run { stream in
                stream.respond(.response(status: 200), endsStream: false)
                stream.answer([UInt8](stream.head?.path ?? []))
            } _: { ends in
                var streams: [(Int, HTTP2Stream)] = []
                for index in 0..<300 {
                    streams.append((index, try ends.request("GET /\(index) HTTP/1.1")))
                }
                for (index, stream) in streams {
                    #expect(try await stream.nextHead()?.status == 200)
                    #expect(try await stream.readAll().text == "/\(index)")
                }
            }
        }
    }

    @Test func drainingWaitsForOpenStreams() async throws {
        try await withLoop { loop in
            let ends = try HTTP2Ends(loop)
            try await ends.run { stream in
                ends.server.drain()
                _ = await stream.readFailure()
                stream.respond(.response(status: 200), endsStream: true)
            } _: { ends in
                let stream = try ends.request("POST / HTTP/1.1", endsStream: false)
                try await stream.send([1, 2, 3])
                while !ends.client.isGoingAway { await Task.yield() }
                #expect(ends.client.request(.response(status: 200), endsStream: true) == nil)
                stream.end()
                #expect(try await stream.nextHead()?.status == 200)
            }
            #expect(ends.server.end == .finished || ends.server.end == .peerClosed)
        }
    }

    @Test func cuttingEndsStreams() async throws {
        try await withLoop { loop in
            let ends = try HTTP2Ends(loop)
            try await ends.run { stream in
                let failure = await stream.readFailure()
                // A pair of sockets resets when something was not read.
                #expect(
                    failure == .connectionLost(.peerClosed)
                        || failure == .connectionLost(.failed(.reset)))
            } _: { ends in
                let stream = try ends.request("POST / HTTP/1.1", endsStream: false)
                try await stream.send([1])
                while ends.server.streamCount == 0 { await Task.yield() }
                ends.client.cut()
                #expect(await stream.headFailure() == .connectionLost(.failed(.closed)))
                #expect(stream.isGivenUp)
            }
            #expect(ends.client.end == .failed(.closed))
            #expect(ends.server.end == .peerClosed || ends.server.end == .failed(.reset))
        }
    }

    @Test func idleConnectionsEnd() async throws {
        try await withLoop { loop in
            let ends = try HTTP2Ends(loop, idle: 0)
            try await ends.run { stream in
                stream.respond(.response(status: 200), endsStream: true)
            } _: { ends in
                _ = try await ends.request().nextHead()
                let begun = loop.now
                while loop.now == begun { await Task.yield() }
                while ends.server.streamCount > 0 { await Task.yield() }
                ends.server.sweep()
                #expect(ends.server.end == nil || ends.server.end == .idle)
                while ends.server.end == nil {
                    ends.server.sweep()
                    await Task.yield()
                }
                #expect(ends.server.end == .idle)
            }
        }
    }

    // MARK: Peers that break the protocol

    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        let bytes: [UInt8]
        let code: String
        let goAway: UInt32
        var streams = 0
        var testDescription: String { name }
    }

    static let rows: [Row] = [
        .init(
            name: "no preface", bytes: Array("GET / HTTP/1.1\r\n\r\n".utf8), code: "h2-bad-preface",
            goAway: 1),
        .init(
            name: "content of no stream", bytes: Frame.preface + Frame.data(1, [1]).bytes,
            code: "h2-protocol-error", goAway: 1),
        .init(
            name: "a request and a broken frame",
            bytes: Frame.preface + Frame.headers(1, Frame.get()).bytes + Frame(6, [1]).bytes,
            code: "h2-protocol-error", goAway: 6, streams: 1),
        .init(
            name: "a request and a flood",
            bytes: Frame.preface + Frame.headers(1, Frame.get()).bytes
                + [Frame](repeating: .ping(), count: 600).flatMap(\.bytes),
            code: "h2-ping-flood", goAway: 11, streams: 1),
    ]

    @Test(arguments: rows)
    func violationsEndTheConnection(row: Row) async throws {
        try await withLoop { loop in
            let peer = try RawPeer(loop, .server)
            let notes = Notes()
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    await peer.connection.run { stream in
                        notes.note("stream \(stream.id)")
                        // Whatever it waits for, the end of the connection wakes it.
                        if await stream.writeFailure([UInt8](repeating: 0, count: 100)) == nil {
                            _ = await stream.readFailure()
                        }
                    }
                    peer.connection.stream.close()
                }
                group.addTask {
                    try await peer.say(row.bytes)
                    var goAway: UInt32?
                    while true {
                        let frames = try await peer.read()
                        if frames.isEmpty { break }
                        for frame in frames where frame.type == 7 {
                            goAway = frame.number(from: 4)
                        }
                    }
                    #expect(goAway == row.goAway)
                    peer.close()
                }
                try await group.waitForAll()
            }
            guard case .violation(let violation) = peer.connection.end else {
                Issue.record("\(String(describing: peer.connection.end))")
                return
            }
            #expect(violation.code == row.code)
            #expect(notes.lines.count == row.streams)
            #expect(peer.connection.streamCount == 0 || row.streams > 0)
        }
    }

    @Test func sideFramesAreTold() async throws {
        try await withLoop { loop in
            let peer = try RawPeer(loop, .server)
            let notes = Notes()
            peer.connection.onSideFrame = { notes.note($0.type.name) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await peer.connection.run() }
                group.addTask {
                    try await peer.say(
                        Frame.preface + Frame(16, [0, 0, 0, 1]).bytes + Frame(0x77).bytes)
                    while notes.lines.count < 2 { await Task.yield() }
                    peer.close()
                }
                try await group.waitForAll()
            }
            #expect(notes.lines == ["PRIORITY_UPDATE", "type 119"])
            #expect([.peerClosed, .failed(.reset)].contains(peer.connection.end))
            #expect(peer.connection.count(of: .settings) == 1)
        }
    }

    /// What acknowledges its settings finds the server gone, and its answer waits to be read.
    @Test func answersOfALeavingServerArrive() async throws {
        try await withLoop { loop in
            let peer = try RawPeer(loop, .client)
            let request = try HTTP2Ends.fields("GET / HTTP/1.1")
            let stream = try #require(peer.connection.request(request, endsStream: true))
            peer.connection.onSettings = { _ in
                peer.leave(saying: Frame.headers(1, [(":status", "200")]).bytes)
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await peer.connection.run() }
                group.addTask {
                    _ = try await peer.read()
                    try await peer.say(Frame.settings().bytes)
                }
                try await group.waitForAll()
            }
            #expect(await stream.headFailure() == nil)
            #expect(peer.connection.request(request, endsStream: true) == nil)
        }
    }
}
