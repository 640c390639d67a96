import Base
import HTTP2
import HTTPServer
import Synchronization
import TLS
import Testing
import Transport

struct WakeTests {
    /// What waits in one exchange is woken by another; it is woken as well if that was faster.
    @Test(arguments: Wire.allCases.filter { !$0.isSecure })
    func wakesWhoWaits(_ wire: Wire) async throws {
        let bell = Bell()
        let answer: Answer = { request, body in
            if request.path.raw.elementsEqual("/ring".utf8) {
                return ServerResponse(bell.ring() ? 200 : 404)
            }
            bell.hang(body.waker)
            let isWoken = await body.waitForWake(milliseconds: nil)
            return ServerResponse(200, type: "text/plain", "\(isWoken)")
        }
        try await withServer(answer) { laboratory in
            try await withThrowingTaskGroup(of: String.self) { group in
                group.addTask(executorPreference: laboratory.loop) {
                    guard wire == .http2 else {
                        let client = try await laboratory.connect()
                        defer { client.stream.close() }
                        try await client.send("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n")
                        return try await client.receive(through: "true")
                    }
                    return try await laboratory.overHTTP2 {
                        try await $0.fetch("GET /wait").content
                    }
                }
                group.addTask(executorPreference: laboratory.loop) {
                    try await laboratory.overHTTP2 { connection in
                        while try await connection.fetch("GET /ring").status != 200 {}
                    }
                    return "true"
                }
                for try await text in group { #expect(text.hasSuffix("true")) }
            }
        }
    }

    /// Over TLS on which no protocol was agreed, either version is understood.
    @Test func understandsEitherVersionWithoutALPN() async throws {
        let authority = try testAuthority()
        try await withServer(HTTP2ServerTests.answer, security: .tls(authority)) { laboratory in
            let facts = try await laboratory.overHTTP2(trusting: authority, protocols: []) {
                try await $0.fetch("GET /facts").content
            }
            #expect(facts.hasPrefix("1 HTTP/2 origin.test - TLSv1.3"), "\(facts)")
            let client = try await laboratory.connectSecurely(
                to: "origin.test", trusting: authority, protocols: [])
            defer { client.stream.close() }
            try await client.send("GET /facts HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try await client.receive(through: "TLSv1.3").contains("2 HTTP/1.1"))
        }
    }
}

/// Wakes who has hung it up.
private final class Bell: Sendable {
    private let waker = Mutex<(@Sendable () -> Void)?>(nil)

    func hang(_ waker: @escaping @Sendable () -> Void) { self.waker.withLock { $0 = waker } }

    /// - Returns: whether there was anybody to wake.
    func ring() -> Bool {
        let waker = waker.withLock { $0 }
        waker?()
        return waker != nil
    }
}
