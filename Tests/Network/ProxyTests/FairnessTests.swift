import Base
import Dispatch
import Sockets
import Synchronization
import Testing

@testable import Proxy

extension ProxyTests {
    /// A peer that sends faster than it is read keeps nobody else of its loop waiting.
    @Suite struct Fairness {
        enum Flood: String, CaseIterable, CustomTestStringConvertible, Sendable {
            case uploadInChunksOfOneByte
            case downloadInChunksOfOneByte
            case tunnel
            var testDescription: String { rawValue }
        }

        /// Others are served while the flood goes on: it only ends once they were.
        @Test(arguments: Flood.allCases)
        func keepsNobodyWaiting(_ flood: Flood) throws {
            // What the kernel holds of an upload may take longer than the end waits, or not.
            let endsInOrder: Bool? = flood == .uploadInChunksOfOneByte ? nil : true
            try withProxy(endsInOrder: endsInOrder, grace: 500) { proxy in
                let isOver = Flag()
                let greeter = try proxy.greeter()
                let threads = DispatchGroup()
                let wire = try start(flood, on: proxy, isOver, threads)
                defer {
                    isOver.set()
                    threads.wait()
                    wire.close()
                }
                for _ in 0..<5 {
                    let other = try proxy.connect()
                    let response = try other.get("http://\(greeter.authority)/")
                    #expect(response.status == 200)
                    other.close()
                }
                #expect(!isOver.isSet)
            }
        }

        private func start(
            _ flood: Flood, on proxy: ProxyUnderTest, _ isOver: Flag, _ threads: DispatchGroup
        ) throws -> Wire {
            let chunks = [UInt8](String(repeating: "1\r\na\r\n", count: 20_000).utf8)
            let noise = [UInt8](repeating: 7, count: 1 << 17)
            let sink = try proxy.origin { wire, _ in
                if flood != .tunnel { _ = try wire.readHead() }
                if flood == .downloadInChunksOfOneByte {
                    try wire.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
                    while !isOver.isSet { try wire.sendIfTaken(chunks) }
                } else {
                    while try !wire.read().isEmpty {}
                }
            }
            let chunked = "Host: a\r\nTransfer-Encoding: chunked\r\n\r\n"
            let wire: Wire
            let piece: [UInt8]?
            switch flood {
            case .uploadInChunksOfOneByte:
                wire = try proxy.connect()
                try wire.send("POST http://\(sink.authority)/ HTTP/1.1\r\n\(chunked)")
                piece = chunks
            case .downloadInChunksOfOneByte:
                wire = try proxy.connect()
                try wire.send("GET http://\(sink.authority)/ HTTP/1.1\r\nHost: a\r\n\r\n")
                piece = nil
            case .tunnel:
                wire = try proxy.tunnel(to: sink.authority)
                piece = noise
            }
            threads.enter()
            startThread(named: "flood") {
                defer { threads.leave() }
                do {
                    while !isOver.isSet {
                        if let piece { try wire.transmit(piece) } else { _ = try wire.receive() }
                    }
                } catch {
                    // The proxy has ended it; the test sees that nobody was kept waiting.
                }
            }
            return wire
        }

        private final class Flag: Sendable {
            private let value = Mutex(false)
            func set() { value.withLock { $0 = true } }
            var isSet: Bool { value.withLock { $0 } }
        }
    }
}
