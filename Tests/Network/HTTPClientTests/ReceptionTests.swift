import Base
import HTTPModel
import Testing
import Traffic
import Transport

@testable import HTTPClient

/// Answers that are taken while they come.
struct ReceptionTests {
    /// Takes what it gets, and stops where it was told to.
    private final class Reception: ClientReception, @unchecked Sendable {
        var takesContent = true
        var limit = Int.max
        var stop: ClientStop?
        private(set) var seen: [String] = []
        private var count = 0

        func takeInterim(_ head: ResponseHead) { seen.append("\(head.status)") }

        func take(_ head: ResponseHead) -> Bool {
            seen.append("\(head.status)")
            return takesContent
        }

        func take(_ piece: Span<UInt8>) { count += piece.count }

        func waitForRoom() async -> Bool {
            stop?.stop()
            return count < limit
        }

        var text: String { (seen + ["\(count)"]).joined(separator: " ") }
    }

    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        let origin: [[String]]
        var takesContent = true
        var limit = Int.max
        var stops = false
        var pins: [[UInt8]] = []
        /// What the reception saw, and the end, of each request.
        let outcomes: [String]
        var testDescription: String { name }
    }

    private static let answer = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
    private static let long =
        "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + String(repeating: "a", count: 500)
    private static let chunked =
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"

    @Test(arguments: [
        Row(
            name: "whole", origin: [[answer, "HTTP/1.1 103 Early\r\n\r\n" + answer]],
            outcomes: ["200 5 whole", "103 200 5 whole"]),
        Row(
            name: "a short content that nobody wants is read", origin: [[answer, answer]],
            takesContent: false, outcomes: ["200 0 declined", "200 0 declined"]),
        Row(
            name: "a long one ends the connection", origin: [[long], [answer]],
            takesContent: false, outcomes: ["200 0 declined", "200 0 declined"]),
        Row(
            name: "no more in the middle", origin: [[chunked], [answer]], limit: 3,
            outcomes: ["200 5 declined", "200 5 declined"]),
        Row(
            name: "broken off", origin: [["HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello"]],
            outcomes: ["200 5 origin-closed"]),
        Row(
            name: "stopped", origin: [[chunked], [answer]], stops: true,
            outcomes: ["200 5 stopped"]),
        Row(
            name: "no TLS, and a pin", origin: [[answer]], pins: [[1]],
            outcomes: ["0 pin-mismatch"]),
    ])
    func takes(_ row: Row) async throws {
        let outcome = try await withClient { number, stream in
            await play(row.origin[min(number, row.origin.count - 1)], on: stream)
        } _: { client, target in
            var outcomes: [String] = []
            for _ in row.outcomes {
                let reception = Reception()
                reception.takesContent = row.takesContent
                reception.limit = row.limit
                var request = ClientRequest(
                    target: target, method: .get, isSafe: true,
                    head: Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8), content: .bytes([]),
                    isChunked: false)
                request.reception = reception
                request.pins = row.pins
                if row.stops {
                    request.stop = ClientStop()
                    reception.stop = request.stop
                }
                let end: String
                do throws(Failure) {
                    let answer = try await client.send(request)
                    #expect(answer.content.isEmpty)
                    end = answer.isDeclined ? "declined" : "whole"
                } catch {
                    end = error.code
                }
                outcomes.append("\(reception.text) \(end)")
            }
            return outcomes
        }
        #expect(outcome.result == row.outcomes)
    }

    /// Answers each request with the next text, and ends behind the last once the client does.
    private func play(_ answers: [String], on stream: PlainStream) async {
        let buffer = ByteBuffer(capacity: 4096)
        do throws(StreamFailure) {
            for (index, answer) in answers.enumerated() {
                guard try await stream.read(into: buffer) > 0 else { return }
                buffer.removeAll()
                buffer.append([UInt8](answer.utf8))
                try await stream.write(buffer)
                let isCut = answer.contains("Length: 9\r\n")
                guard index == answers.count - 1, !isCut else { continue }
                _ = try await stream.read(into: buffer)
            }
        } catch {
            // The client has gone, which is what some rows are about.
            return
        }
    }
}
