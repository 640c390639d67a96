import Base
import Dispatch
import Synchronization
import TLS
import Testing
import Traffic

@testable import Proxy

extension ProxyTests {
    /// A slow side slows the other one down, and nothing is held or lost.
    @Suite struct Backpressure {
        private static let total = 200_000_000
        /// What may be under way in the kernel's buffers and the proxy's, in bytes.
        private static let heldLimit = 24_000_000
        private static let piece = sampleBytes(1 << 20, seed: 9)

        /// How much the origin got rid of until it was stuck.
        final class Taken: Sendable {
            private let state = Mutex<Int?>(nil)
            private let known = DispatchSemaphore(value: 0)

            func note(_ count: Int) {
                state.withLock { $0 = count }
                known.signal()
            }

            func wait() -> Int? {
                _ = known.wait(timeout: .now() + .seconds(Wire.patience))
                return state.withLock { $0 }
            }
        }

        private func drain(_ wire: Wire, _ count: Int) throws -> Int {
            var received = 0
            while received < count {
                let bytes = try wire.read()
                if bytes.isEmpty { break }
                received += bytes.count
            }
            return received
        }

        @Test func slowClientStopsTheOrigin() throws {
            let traffic = TrafficCollector(keepsChunks: false)
            try withProxy(traffic: traffic) { proxy in
                let taken = Taken()
                let origin = try proxy.origin { wire, _ in
                    _ = try wire.readHead()
                    try wire.send("HTTP/1.1 200 OK\r\nContent-Length: \(Self.total)\r\n\r\n")
                    let sent = try wire.fill(Self.piece, upTo: Self.total, patience: 500)
                    taken.note(sent)
                    var rest = Self.total - sent
                    while rest > 0 {
                        let count = min(rest, Self.piece.count)
                        try wire.send(Array(Self.piece.prefix(count)))
                        rest -= count
                    }
                    try wire.expectEnd()
                }
                let client = try proxy.connect(receiveBuffer: 65536)
                try client.send("GET http://\(origin.authority)/ HTTP/1.1\r\nHost: x\r\n\r\n")
                _ = try client.readHead()
                let stuck = try #require(taken.wait())
                #expect(stuck < Self.heldLimit)
                #expect(traffic.content.chunkBytes < Self.heldLimit)
                #expect(try drain(client, Self.total) == Self.total)
                let exchange = try traffic.exchange()
                #expect(exchange.responseBody.size == Int64(Self.total))
                #expect(exchange.error == nil)
            }
        }

        @Test func slowOriginStopsTheClient() throws {
            let traffic = TrafficCollector(keepsChunks: false)
            try withProxy(traffic: traffic) { proxy in
                let stuck = DispatchSemaphore(value: 0)
                let origin = try proxy.origin { wire, _ in
                    let head = try wire.readHead()
                    try check(head.contains("Content-Length"), head)
                    stuck.wait()
                    var received = 0
                    while received < Self.total {
                        let bytes = try wire.read()
                        if bytes.isEmpty { break }
                        received += bytes.count
                    }
                    try check(received == Self.total, "\(received)")
                    try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
                    try wire.expectEnd()
                }
                let client = try proxy.connect()
                try client.send(
                    "PUT http://\(origin.authority)/ HTTP/1.1\r\nHost: x\r\n"
                        + "Content-Length: \(Self.total)\r\n\r\n")
                let sent = try client.fill(Self.piece, upTo: Self.total, patience: 500)
                #expect(sent < Self.heldLimit)
                stuck.signal()
                var rest = Self.total - sent
                while rest > 0 {
                    let count = min(rest, Self.piece.count)
                    try client.send(Array(Self.piece.prefix(count)))
                    rest -= count
                }
                #expect(try client.readResponse().status == 200)
                #expect(try traffic.exchange().requestBody.size == Int64(Self.total))
            }
        }

        /// Whoever stores the records is behind: the proxy waits, and drops nothing.
        @Test(arguments: Way.allCases)
        func congestedSinkStopsTheOrigin(_ way: Way) throws {
            let size = 40_000_000
            let traffic = TrafficCollector(keepsChunks: false)
            try withProxy(traffic: traffic) { proxy in
                let taken = Taken()
                let origin = try proxy.origin(way.kind) { wire, _ in
                    _ = try wire.readHead()
                    try wire.send("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n")
                    var sent = 0
                    if !way.isSecure {
                        sent = try wire.fill(Self.piece, upTo: size, patience: 500)
                        taken.note(sent)
                    }
                    while sent < size {
                        let count = min(size - sent, Self.piece.count)
                        try wire.send(Array(Self.piece.prefix(count)))
                        sent += count
                    }
                    try wire.expectEnd()
                }
                let client = try way.open(proxy, origin)
                traffic.setCongested(true)
                defer { traffic.setCongested(false) }
                try client.send(
                    "GET \(way.target("/", origin)) HTTP/1.1\r\nHost: localhost\r\n\r\n")
                if way.isSecure {
                    pause(milliseconds: 300)
                } else {
                    #expect(try #require(taken.wait()) < Self.heldLimit)
                }
                #expect(traffic.content.chunkBytes < 1_000_000)
                traffic.setCongested(false)
                _ = try client.readHead()
                #expect(try drain(client, size) == size)
                let exchange = try traffic.exchange()
                #expect(exchange.responseBody.size == Int64(size))
                #expect(traffic.content.chunkBytes + exchange.responseBody.bytes.count == size)
            }
        }
    }
}
